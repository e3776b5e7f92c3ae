// SPDX-License-Identifier: Apache-2.0
// Latency of fused multiply-add: each takes the result of the one before it.
#include "harness/device.hpp"
#include "harness/state.hpp"

namespace {

constexpr int kSteps = 64;  // in one iteration

__global__ void fma_chain(std::int64_t iterations, float factor, float term, float* result,
                          assay::StopwatchRecord* records) {
  float value = term;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) value = fmaf(value, factor, term);
  }
  stopwatch.stop(records);
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = value;
}

void run(assay::State& s) {
  auto* result = s.allocate<float>(1);
  s.cycles({.steps = kSteps}, [&](const assay::Launch& l) {
    fma_chain<<<s.device().sm_count, 32, 0, l.stream>>>(l.iterations, 0.5f, 1.0f, result,
                                                        l.records);
  });
  float value = 0;
  assay::check(cudaMemcpy(&value, result, sizeof value, cudaMemcpyDeviceToHost));
  s.require(value == 2.0f, "x <- x / 2 + 1 must end at its fixed point, 2");
}

const assay::Registration registration{{
    .name = "own/fma",
    .question = "How many cycles until the result of an FFMA can be used?",
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "fma_chain", .sass = {{"FFMA", kSteps, kSteps}}}};
        },
    .run = run,
}};

}  // namespace
