// SPDX-License-Identifier: Apache-2.0
// Shared-memory latency: one warp per SM chases round a ring in shared memory, all lanes on one
// word (a broadcast, no bank conflict).
//
// Published figures, 29 to 30 cycles on Hopper, are of `i = table[i]`: the next address is computed
// from the loaded index, by one LEA on the chain beside the LDS (sm_89's LDS scales by itself).
// That is memory/shared/latency. In memory/shared/latency/address the loaded value is itself the
// next address, and only LDS is on the chain (23 cycles on A100: Abdelkhalik et al.,
// arXiv:2208.11174).
#include "harness/device.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/state.hpp"
#include "probes/memory/ring.hpp"

namespace {

constexpr int kSteps = 64;  // loads in one iteration
constexpr int kRingBits = 8;
constexpr int kWords = 1 << kRingBits;

// How a word names its successor: by its index in the ring, or by its shared address.
struct ByIndex {
  __device__ static std::uint32_t name(std::uint32_t, std::uint32_t place) { return place; }
  __device__ static std::uint32_t address(std::uint32_t ring, std::uint32_t name) {
    return ring + name * sizeof(std::uint32_t);
  }
};
struct ByAddress {
  __device__ static std::uint32_t name(std::uint32_t ring, std::uint32_t place) {
    return ByIndex::address(ring, place);
  }
  __device__ static std::uint32_t address(std::uint32_t, std::uint32_t name) { return name; }
};

template <class By>
__device__ void chase(std::int64_t iterations, std::uint32_t* places,
                      assay::StopwatchRecord* records) {
  __shared__ std::uint32_t words[kWords];
  const std::uint32_t ring = assay::ptx::shared_address(words);
#pragma unroll
  for (int first = 0; first < kWords; first += 32) {
    const std::uint32_t step = first + threadIdx.x;
    words[assay::shuffle(step, kRingBits)] = By::name(ring, assay::shuffle(step + 1, kRingBits));
  }
  std::uint32_t next = By::name(ring, places[blockIdx.x]);
  const assay::Stopwatch stopwatch;  // begins with the barrier that publishes the ring
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      next = assay::ptx::load_shared_u32(By::address(ring, next));
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0)
    places[blockIdx.x] = (By::address(ring, next) - ring) / sizeof(std::uint32_t);
}
__global__ void chase_index(std::int64_t iterations, std::uint32_t* places,
                            assay::StopwatchRecord* records) {
  chase<ByIndex>(iterations, places, records);
}
__global__ void chase_address(std::int64_t iterations, std::uint32_t* places,
                              assay::StopwatchRecord* records) {
  chase<ByAddress>(iterations, places, records);
}

void run(assay::State& s) {
  const int ctas = s.device().sm_count;
  auto* places = s.allocate<std::uint32_t>(ctas);
  assay::check(cudaMemsetAsync(places, 0, ctas * sizeof(*places), s.stream()));
  const auto kernel = s.text("chain") == "index" ? chase_index : chase_address;
  std::uint32_t steps = 0;  // wraps at a multiple of the ring's length
  s.cycles({.steps = kSteps}, [&](const assay::Launch& l) {
    kernel<<<ctas, 32, 0, l.stream>>>(l.iterations, places, l.records);
    steps += static_cast<std::uint32_t>(l.iterations) * kSteps;
  });
  for (const std::uint32_t place : assay::download(places, ctas, s.stream()))
    s.require(place == assay::shuffle(steps, kRingBits),
              "a chase ended on another word than its steps lead to");
}

const assay::Registration registration{{
    .name = "memory/shared/latency",
    .question = "How many cycles does a step of i = table[i] in shared memory take, and how many "
                "of them the load alone?",
    .cases = {{.params = {{"chain", "index"}}},
              {.name = "address", .params = {{"chain", "address"}}}},
    .kernels =
        [](const assay::Case& c, assay::Target target) {
          const bool index = c.text("chain") == "index";
          const int computed =
              index && !assay::has(target, assay::Feature::lds_scales_index) ? kSteps : 0;
          return std::vector<assay::KernelUse>{
              {.kernel = index ? "chase_index" : "chase_address",
               .sass = {{"LDS", kSteps, kSteps}, {"LEA", computed, computed}},
               .role = computed ? assay::Role::none : assay::Role::latency}};
        },
    .run = run,
}};

}  // namespace
