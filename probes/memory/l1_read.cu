// SPDX-License-Identifier: Apache-2.0
// Bandwidth of L1: 32 warps read the same 64 KiB over and over, 16 bytes per lane, whole lines per
// quarter of a warp. The first round misses alike in the short and the long launch and cancels.
#include "harness/device.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/state.hpp"
#include "probes/memory/vector_sum.hpp"

namespace {

constexpr int kThreads = 1024;
// Vectors that a thread reads in one iteration. They differ, and from one iteration to the next the
// address changes by `step`, which is 0 but only at run time: else ptxas makes one load of two from
// one place, and takes those that stay the same out of the loop.
constexpr int kLoads = 4;

__global__ void __launch_bounds__(kThreads)
    read_l1(std::int64_t iterations, const uint4* data, int step, std::uint32_t* sums,
            assay::StopwatchRecord* records) {
  const uint4* mine = data + threadIdx.x;
  std::uint32_t sum = 0;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int load = 0; load < kLoads; ++load)
      sum += assay::vector_sum(assay::ptx::load_v4(mine + load % kLoads * kThreads));
    mine += step;
  }
  stopwatch.stop(records);
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

void run(assay::State& s) {
  const int ctas = s.device().sm_count;
  auto* data = s.allocate<uint4>(kLoads * kThreads);
  auto* sums = s.allocate<std::uint32_t>(ctas * kThreads);
  s.fill_random_bits(data, kLoads * kThreads * sizeof(uint4));
  std::int64_t iterations = 0;
  s.cycles(
      {.bytes = kLoads * kThreads * sizeof(uint4), .limit = {128, "one 128-byte line a cycle"}},
      [&](const assay::Launch& l) {
        read_l1<<<ctas, kThreads, 0, l.stream>>>(l.iterations, data, 0, sums, l.records);
        iterations = l.iterations;
      });
  const auto host = assay::download(data, kLoads * kThreads, s.stream());
  const auto found = assay::download(sums, ctas * kThreads, s.stream());
  for (int i = 0; i < ctas * kThreads; ++i) {
    std::uint32_t once = 0;
    for (int load = 0; load < kLoads; ++load)
      once += assay::vector_sum(host[load * kThreads + i % kThreads]);
    s.require(found[i] == once * static_cast<std::uint32_t>(iterations),
              "a thread's sum is not that of what it should have read");
  }
}

const assay::Registration registration{{
    .name = "memory/l1/read",
    .question = "How many bytes does an SM read from its L1 in a cycle?",
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "read_l1",
               .sass = {{"LDG.E.128", kLoads, kLoads}, {"LDG.E.128.STRONG", 0, 0}},
               .role = assay::Role::bandwidth}};
        },
    .run = run,
}};

}  // namespace
