// SPDX-License-Identifier: Apache-2.0
// Shared-memory latency: one warp per SM chases 32-bit shared addresses, all lanes on one word (a
// broadcast, no bank conflict). The loaded value is the next address: only LDS is on the chain.
#include "harness/device.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/state.hpp"
#include "probes/memory/cycle.hpp"

namespace {

constexpr int kSteps = 64;   // loads in one iteration
constexpr int kWords = 256;  // of the ring

__global__ void chase_shared(std::int64_t iterations, std::uint32_t* places,
                             assay::StopwatchRecord* records) {
  __shared__ std::uint32_t ring[kWords];
#pragma unroll
  for (int first = 0; first < kWords; first += 32) {
    const std::uint32_t place = first + threadIdx.x;
    ring[place] = assay::ptx::shared_address(&ring[assay::successor(place, kWords)]);
  }
  std::uint32_t address = assay::ptx::shared_address(&ring[places[blockIdx.x]]);
  const assay::Stopwatch stopwatch;  // begins with the barrier that publishes the ring
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) address = assay::ptx::load_shared_u32(address);
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0)
    places[blockIdx.x] = (address - assay::ptx::shared_address(ring)) / sizeof(std::uint32_t);
}

void run(assay::State& s) {
  const int ctas = s.device().sm_count;
  auto* places = s.allocate<std::uint32_t>(ctas);
  assay::check(cudaMemsetAsync(places, 0, ctas * sizeof(*places), s.stream()));
  std::uint64_t steps = 0;
  s.cycles({.steps = kSteps}, [&](const assay::Launch& l) {
    chase_shared<<<ctas, 32, 0, l.stream>>>(l.iterations, places, l.records);
    steps += static_cast<std::uint64_t>(l.iterations) * kSteps;
  });
  for (const std::uint32_t place : assay::download(places, ctas, s.stream()))
    s.require(place == assay::place_after(0, steps, kWords),
              "a chase ended on another word than its steps lead to");
}

const assay::Registration registration{{
    .name = "memory/shared/latency",
    .question = "How many cycles does a dependent load from shared memory take?",
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "chase_shared", .sass = {{"LDS", kSteps, kSteps}}}};
        },
    .run = run,
}};

}  // namespace
