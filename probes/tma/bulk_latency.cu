// SPDX-License-Identifier: Apache-2.0
// Latency of a bulk copy: each one brings the 16 bytes that hold the address of the next, so a step
// is issue, flight, mbarrier completion, and the load of the address from shared memory. The wait
// lets the hardware suspend the thread (try_wait, as kernels do). Asking again and again instead
// (test_wait, the case "polled") sees the data some cycles sooner, but by how many depends on how
// the loop falls in step with the copies: from one launch to the next it differs by some percent.
// Arming a second barrier while a copy is in flight was tried: 404 cycles on an H200 against 396.
#include "harness/device.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/state.hpp"
#include "probes/memory/ring.hpp"

namespace {

constexpr int kSteps = 16;     // copies in one iteration; even, so that each starts at parity 0
constexpr int kSpacing = 128;  // bytes from node to node: one L2 line each
constexpr int kBytes = 16;     // the smallest bulk copy

struct alignas(kBytes) Node {
  const char* next;
  std::uint64_t step;
};

__device__ char* place(char* ring, std::uint32_t step, int bits) {
  return ring + std::uint64_t{assay::shuffle(step, bits)} * kSpacing;
}

__global__ void lay_ring(char* ring, int bits) {
  const std::uint32_t step = blockIdx.x * blockDim.x + threadIdx.x;
  *reinterpret_cast<Node*>(place(ring, step, bits)) = {place(ring, step + 1, bits), step};
}

template <int kPolled>
__device__ void wait(assay::ptx::Mbarrier* barrier, std::uint32_t parity) {
  if constexpr (kPolled) {
    while (!assay::ptx::mbarrier_test_wait_parity(barrier, parity)) {
    }
  } else {
    assay::ptx::mbarrier_wait_parity(barrier, parity);
  }
}

// Each CTA leaves the number of the step it ends at.
template <int kPolled>
__global__ void bulk_chase(char* ring, int bits, assay::Start start, std::int64_t iterations,
                           std::uint64_t* ends, assay::StopwatchRecord* records) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __shared__ Node arrived;
  __shared__ assay::ptx::Mbarrier barrier;
  const bool elected = assay::ptx::elect_one();
  if (elected) {
    assay::ptx::mbarrier_init(&barrier, 1);
    assay::ptx::fence_mbarrier_init();
  }
  const char* next = place(ring, start.offset + blockIdx.x * start.apart, bits);
  const assay::Stopwatch stopwatch;
  if (elected) {
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        assay::ptx::mbarrier_arrive_expect_tx(&barrier, kBytes);
        assay::ptx::bulk_load(&arrived, next, kBytes, &barrier);
        wait<kPolled>(&barrier, step % 2);
        next = arrived.next;
      }
    }
  }
  stopwatch.stop(records);
  if (elected) ends[blockIdx.x] = reinterpret_cast<const Node*>(next)->step;
#endif
}

assay::Case ring_of(std::string name, int bits, int polled = 0) {
  return {.name = std::move(name),
          .params = {{"bytes", kBytes},
                     {"polled", polled},
                     {"spacing_bytes", kSpacing},
                     {"ring_bits", bits},
                     {"footprint_bytes", std::int64_t{kSpacing} << bits}},
          .suite = polled ? assay::Suite::full : assay::Suite::quick};
}

void run(assay::State& s) {
  const int bits = static_cast<int>(s.i64("ring_bits"));
  const int ctas = s.device().sm_count;
  char* ring = s.allocate<char>(s.i64("footprint_bytes"));
  auto* ends = s.allocate<std::uint64_t>(ctas);
  lay_ring<<<(1 << bits) / 256, 256, 0, s.stream()>>>(ring, bits);
  const auto kernel = s.i64("polled") ? bulk_chase<1> : bulk_chase<0>;
  assay::RingWalk walk(ctas, bits);
  s.cycles({.steps = kSteps}, [&](const assay::Launch& l) {
    const assay::Start start = walk.set_out(l.iterations * kSteps);
    kernel<<<ctas, 32, 0, l.stream>>>(ring, bits, start, l.iterations, ends, l.records);
  });
  const auto ended = assay::download(ends, ctas, s.stream());
  for (int cta = 0; cta < ctas; ++cta)
    s.require(ended[cta] == walk.end(cta), "a chase ended at the wrong node");
}

const assay::Registration registration{{
    .name = "tma/bulk_16b/latency",
    .question = "How many cycles until a 16-byte bulk copy has arrived and can be read?",
    .metrics = {{"latency_cycles",
                 "Cycles of one step: issue, flight, completion, and the load of the next address "
                 "from shared memory."}},
    .cases = {ring_of("", 13), ring_of("dram", 23), ring_of("polled", 13, 1)},
    .targets = assay::targets_with(assay::Feature::tma),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = c.i64("polled") ? "bulk_chase<1>" : "bulk_chase<0>",
               .sass = {{"UBLKCP", kSteps, kSteps}}}};
        },
    .run = run,
}};

}  // namespace
