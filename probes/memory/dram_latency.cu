// SPDX-License-Identifier: Apache-2.0
// DRAM latency: each SM chases round a ring of its own, in random order, 32 bytes of each 128-byte
// line. The rings together are 16 times L2 and are walked at one pace, so that a line is long gone
// from L2 when its turn comes again. An SM's ring is a few MiB, within reach of its TLBs: page
// walks are not in the figure, row misses are. All SMs load at once, one access each: light load.
#include <algorithm>
#include <bit>

#include "harness/device.hpp"
#include "harness/ptx/ordered_memory.cuh"
#include "probes/memory/chase.hpp"

namespace {

using assay::Line;

__global__ void chase_dram(std::int64_t iterations, Line** cursors,
                           assay::StopwatchRecord* records) {
  Line* line = cursors[blockIdx.x];
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < assay::kChaseSteps; ++step)
      line = assay::ptx::load_pointer_l2(&line->next);
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0) cursors[blockIdx.x] = line;
}

void run(assay::State& s) {
  const assay::Device& device = s.device();
  const auto lines = std::bit_ceil(16 * device.l2_bytes / sizeof(Line) / device.sm_count);
  s.set_param("bytes_per_sm", static_cast<std::int64_t>(lines * sizeof(Line)));
  assay::measure_chase(s, device.sm_count, std::countr_zero(lines), chase_dram);
}

const assay::Registration registration{{
    .name = "memory/dram/latency",
    .question = "How many cycles does a dependent load from DRAM take?",
    .pace = assay::Pace::dram,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "chase_dram",
               .sass = {{"LDG.E.64.STRONG.GPU", assay::kChaseSteps, assay::kChaseSteps}},
               .role = assay::Role::latency}};
        },
    .run = run,
}};

}  // namespace
