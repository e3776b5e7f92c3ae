// SPDX-License-Identifier: Apache-2.0
// Bandwidth of L2, all SMs at once, past L1. The array is a quarter of L2, so that it also fits
// where each of two partitions keeps a copy of what lies in the other. CTAs start at places of
// their own and go through all of it, 128 KiB an iteration.
#include <algorithm>

#include "harness/device.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/state.hpp"
#include "probes/memory/vector_sum.hpp"

namespace {

constexpr int kThreads = 1024;
constexpr int kLoads = 8;  // by each thread in one iteration
constexpr int kBlock = kLoads * kThreads;

__host__ __device__ unsigned first_block(unsigned cta, unsigned ctas, unsigned blocks) {
  return cta * blocks / ctas;
}

__global__ void __launch_bounds__(kThreads)
    read_l2(std::int64_t iterations, const uint4* data, unsigned blocks, std::uint32_t* sums,
            assay::StopwatchRecord* records) {
  unsigned block = first_block(blockIdx.x, gridDim.x, blocks);
  std::uint32_t sum = 0;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
    const uint4* mine = data + std::size_t{block} * kBlock + threadIdx.x;
#pragma unroll
    for (int load = 0; load < kLoads; ++load)
      sum += assay::vector_sum(assay::ptx::load_v4_l2(mine + load * kThreads));
    block = block + 1 == blocks ? 0 : block + 1;
  }
  stopwatch.stop(records);
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

void run(assay::State& s) {
  const int ctas = s.device().sm_count;
  const auto blocks = static_cast<unsigned>(s.device().l2_bytes / 4 / (kBlock * sizeof(uint4)));
  const std::size_t vectors = std::size_t{blocks} * kBlock;
  auto* data = s.allocate<uint4>(vectors);
  auto* sums = s.allocate<std::uint32_t>(ctas * kThreads);
  s.fill_random_bits(data, vectors * sizeof(uint4));
  s.set_param("bytes", static_cast<std::int64_t>(vectors * sizeof(uint4)));
  std::int64_t iterations = 0;
  s.cycles({.bytes = kBlock * sizeof(uint4)}, [&](const assay::Launch& l) {
    read_l2<<<ctas, kThreads, 0, l.stream>>>(l.iterations, data, blocks, sums, l.records);
    iterations = l.iterations;
  });

  const auto host = assay::download(data, vectors, s.stream());
  const auto found = assay::download(sums, ctas * kThreads, s.stream());
  std::vector<std::uint32_t> of_block(std::size_t{blocks} * kThreads), of_all(kThreads);
  for (std::size_t i = 0; i < vectors; ++i)
    of_block[i / kBlock * kThreads + i % kThreads] += assay::vector_sum(host[i]);
  for (std::size_t i = 0; i < of_block.size(); ++i) of_all[i % kThreads] += of_block[i];
  for (int cta = 0; cta < ctas; ++cta)
    for (int thread = 0; thread < kThreads; ++thread) {
      auto sum = of_all[thread] * static_cast<std::uint32_t>(iterations / blocks);
      for (unsigned i = 0; i < iterations % blocks; ++i)
        sum += of_block[std::size_t{(first_block(cta, ctas, blocks) + i) % blocks} * kThreads +
                        thread];
      s.require(found[cta * kThreads + thread] == sum,
                "a thread's sum is not that of what it should have read");
    }
}

const assay::Registration registration{{
    .name = "memory/l2/read",
    .question = "How many bytes per SM and cycle does L2 give when all SMs read it?",
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "read_l2", .sass = {{"LDG.E.128.STRONG.GPU", kLoads, kLoads}}}};
        },
    .run = run,
}};

}  // namespace
