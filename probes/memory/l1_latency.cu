// SPDX-License-Identifier: Apache-2.0
// L1 hit latency: a chase round 8 KiB, 64 lines. The first round misses (a kernel starts with an
// empty L1) at the same cost in the short and the long launch, so it cancels.
//
// Published figures run from 32 to 41 cycles on Hopper. They differ by what is on the chain beside
// the load: here nothing is, the loaded value is the next address.
#include "harness/ptx/load_store.cuh"
#include "probes/memory/chase.hpp"

namespace {

using assay::Line;

constexpr int kRingBits = 6;

__global__ void chase_l1(std::int64_t iterations, Line** cursors, assay::StopwatchRecord* records) {
  Line* line = cursors[blockIdx.x];
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < assay::kChaseSteps; ++step)
      line = assay::ptx::load_pointer(&line->next);
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0) cursors[blockIdx.x] = line;
}

const assay::Registration registration{{
    .name = "memory/l1/latency",
    .question = "How many cycles does a dependent load take that hits in L1?",
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "chase_l1",
               .sass = {{"LDG.E.64", assay::kChaseSteps, assay::kChaseSteps},
                        {"LDG.E.64.STRONG", 0, 0}}}};  // those would not be served by L1
        },
    .run = [](assay::State& s) { assay::measure_chase(s, 1, kRingBits, chase_l1); },
}};

}  // namespace
