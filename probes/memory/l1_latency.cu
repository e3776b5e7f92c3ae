// SPDX-License-Identifier: Apache-2.0
// L1 hit latency: a chase round 8 KiB, 64 lines. The first round misses (a kernel starts with an
// empty L1) at the same cost in the short and the long launch, so it cancels.
//
// Published figures run from 32 to 41 cycles on Hopper. They differ by what is on the chain beside
// the load: in memory/l1/latency nothing is, the loaded value is the next address; in the case
// "index" it is the index in `i = table[i]`, and a 64-bit address is computed from it.
#include "harness/device.hpp"
#include "harness/ptx/load_store.cuh"
#include "probes/memory/chase.hpp"

namespace {

using assay::kChaseSteps;
using assay::Line;

constexpr int kRingBits = 6;    // of lines
constexpr int kTableBits = 11;  // of words, as many bytes

__global__ void chase_l1(std::int64_t iterations, Line** cursors, assay::StopwatchRecord* records) {
  Line* line = cursors[blockIdx.x];
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kChaseSteps; ++step) line = assay::ptx::load_pointer(&line->next);
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0) cursors[blockIdx.x] = line;
}

__global__ void lay_table(std::uint32_t* table) {
  const std::uint32_t step = blockIdx.x * blockDim.x + threadIdx.x;
  table[assay::shuffle(step, kTableBits)] = assay::shuffle(step + 1, kTableBits);
}

__global__ void chase_l1_index(std::int64_t iterations, const std::uint32_t* table,
                               std::uint32_t* places, assay::StopwatchRecord* records) {
  std::uint32_t place = places[blockIdx.x];
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kChaseSteps; ++step) place = assay::ptx::load_u32(table + place);
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0) places[blockIdx.x] = place;
}

void run_index(assay::State& s) {
  const int ctas = s.device().sm_count;
  auto* table = s.allocate<std::uint32_t>(1 << kTableBits);
  auto* places = s.allocate<std::uint32_t>(ctas);
  lay_table<<<(1 << kTableBits) / 256, 256, 0, s.stream()>>>(table);
  assay::check(cudaGetLastError());
  assay::check(cudaMemsetAsync(places, 0, ctas * sizeof(*places), s.stream()));
  std::uint32_t steps = 0;  // wraps at a multiple of the ring's length
  s.cycles({.steps = kChaseSteps}, [&](const assay::Launch& l) {
    chase_l1_index<<<ctas, 32, 0, l.stream>>>(l.iterations, table, places, l.records);
    steps += static_cast<std::uint32_t>(l.iterations) * kChaseSteps;
  });
  for (const std::uint32_t place : assay::download(places, ctas, s.stream()))
    s.require(place == assay::shuffle(steps, kTableBits),
              "a chase ended on another word than its steps lead to");
}

const assay::Registration registration{{
    .name = "memory/l1/latency",
    .question = "How many cycles does a dependent load take when it hits in L1?",
    .cases = {{.params = {{"chain", "address"}}},
              {.name = "index", .params = {{"chain", "index"}}, .suite = assay::Suite::full}},
    .kernels =
        [](const assay::Case& c, assay::Target) {
          // STRONG loads would not be served by L1.
          return c.text("chain") == "index"
                     ? std::vector<assay::KernelUse>{{.kernel = "chase_l1_index",
                                                      .sass = {{"LDG.E", kChaseSteps, kChaseSteps},
                                                               {"LDG.E.STRONG", 0, 0},
                                                               {"IMAD.WIDE", kChaseSteps,
                                                                kChaseSteps}}}}
                     : std::vector<assay::KernelUse>{
                           {.kernel = "chase_l1",
                            .sass = {{"LDG.E.64", kChaseSteps, kChaseSteps},
                                     {"LDG.E.64.STRONG", 0, 0}},
                            .role = assay::Role::latency}};
        },
    .run =
        [](assay::State& s) {
          if (s.text("chain") == "index") return run_index(s);
          assay::measure_chase(s, 1, kRingBits, chase_l1);
        },
}};

}  // namespace
