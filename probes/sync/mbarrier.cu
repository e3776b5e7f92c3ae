// SPDX-License-Identifier: Apache-2.0
// A barrier made of an mbarrier: every thread arrives, then waits for the phase to end. It is how
// warps of one CTA hand data to one another where __syncthreads() would stop too many of them.
#include "harness/device.hpp"
#include "harness/ptx/mbarrier.cuh"
#include "harness/state.hpp"
#include "probes/sync/passage.cuh"

namespace {

constexpr int kRounds = 16;  // in one iteration; even, so that each starts at parity 0

__device__ void arrive_and_wait(assay::ptx::Mbarrier* barrier, std::uint32_t parity) {
  assay::ptx::mbarrier_arrive(barrier);
#if __CUDA_ARCH__ >= 900
  assay::ptx::mbarrier_wait_parity(barrier, parity);
#else  // no try_wait
  while (!assay::ptx::mbarrier_test_wait_parity(barrier, parity)) {
  }
#endif
}

__global__ void __launch_bounds__(1024)
    arrive_wait(std::int64_t iterations, std::uint32_t* early, assay::StopwatchRecord* records) {
  __shared__ assay::ptx::Mbarrier barrier;
  if (threadIdx.x == 0) assay::ptx::mbarrier_init(&barrier, blockDim.x);
  const assay::Stopwatch stopwatch;  // begins with the __syncthreads() that publishes the barrier
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) arrive_and_wait(&barrier, round % 2);
  }
  stopwatch.stop(records);
  assay::prove_barrier(early, [&](int round) { arrive_and_wait(&barrier, round % 2); });
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const int threads : {1, 32, 128, 256, 1024})
    all.push_back({.name = std::to_string(threads), .params = {{"threads", threads}}});
  return all;
}

void run(assay::State& s) {
  const int threads = static_cast<int>(s.i64("threads"));
  const int ctas = s.device().sm_count;
  auto* early = assay::early_counter(s);
  s.cycles({.steps = kRounds}, [&](const assay::Launch& l) {
    arrive_wait<<<ctas, threads, 0, l.stream>>>(l.iterations, early, l.records);
  });
  assay::require_barrier(s, early);
}

const assay::Registration registration{{
    .name = "sync/mbarrier/arrive_wait",
    .question = "How many cycles does a barrier made of mbarrier arrive and wait cost?",
    .metrics = {{"latency_cycles", "Cycles of one barrier: all threads arrive and wait."}},
    .cases = cases(),
    .kernels =
        [](const assay::Case&, assay::Target target) {
          const char* arrive =
              assay::has(target, assay::Feature::mbarrier_unit) ? "SYNCS.ARRIVE" : "ATOMS.ARRIVE";
          return std::vector<assay::KernelUse>{
              {.kernel = "arrive_wait", .sass = {{arrive, kRounds, kRounds}}}};
        },
    .run = run,
}};

}  // namespace
