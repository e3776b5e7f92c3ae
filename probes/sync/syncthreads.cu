// SPDX-License-Identifier: Apache-2.0
// __syncthreads() by the number of threads that meet at it: nothing lies between the barriers, so
// the figure is the barrier itself, from the last warp's arrival to the next one's.
#include "harness/device.hpp"
#include "harness/state.hpp"
#include "probes/sync/passage.cuh"

namespace {

constexpr int kBarriers = 64;  // in one iteration

__global__ void __launch_bounds__(1024)
    syncthreads(std::int64_t iterations, std::uint32_t* early, assay::StopwatchRecord* records) {
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int barrier = 0; barrier < kBarriers; ++barrier) __syncthreads();
  }
  stopwatch.stop(records);
  assay::prove_barrier(early, [](int) { __syncthreads(); });
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const int threads : {32, 64, 128, 256, 512, 1024})
    all.push_back({.name = std::to_string(threads),
                   .params = {{"threads", threads}, {"warps", threads / 32}}});
  return all;
}

void run(assay::State& s) {
  const int warps = static_cast<int>(s.i64("warps"));
  const int ctas = s.device().sm_count;
  auto* early = assay::early_counter(s);
  s.cycles({.steps = kBarriers}, [&](const assay::Launch& l) {
    syncthreads<<<ctas, warps * 32, 0, l.stream>>>(l.iterations, early, l.records);
  });
  assay::require_barrier(s, early);
}

const assay::Registration registration{{
    .name = "sync/syncthreads",
    .question = "How many cycles does __syncthreads() cost, by the number of threads?",
    .metrics = {{"latency_cycles",
                 "Cycles from the last warp's arrival at one barrier to that at the next."}},
    .cases = cases(),
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{{.kernel = "syncthreads",
                                                .sass = {{"BAR.SYNC", kBarriers, kBarriers}},
                                                .role = assay::Role::latency}};
        },
    .run = run,
}};

}  // namespace
