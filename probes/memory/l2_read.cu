// SPDX-License-Identifier: Apache-2.0
// Bandwidth of L2, all SMs at once: loads that are coherent over the GPU, which no L1 may serve
// (memory/l2_near/latency chases 32 KiB per SM with the same ones, at L2's latency).
//
// Each SM reads a part of the array of its own, over and over. If several SMs read one place at
// about the same time, their requests are merged on the way to L2, and what the SMs receive is more
// than L2 gave: that is the case "same_lines", where all read all of the array in step.
//
// How evenly the addresses fall on the slices of L2 is a matter of the physical pages: one array
// differs from another by 1%. So launches take turns with several, each reading its part once
// before the clock starts.
#include <algorithm>

#include "harness/device.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/state.hpp"
#include "probes/memory/vector_sum.hpp"

namespace {

constexpr int kThreads = 1024;
constexpr int kLoads = 8;  // by each thread in one iteration
constexpr std::uint32_t kTile = kThreads * sizeof(uint4);
constexpr int kArrays = 8;
constexpr std::size_t kApart = std::size_t{512} << 20;  // bytes from one array to the next

// CTA b reads `tiles` tiles, the first of which is tile b * apart, one a load.
__global__ void __launch_bounds__(kThreads)
    read_l2(std::int64_t iterations, const char* data, std::uint32_t tiles, std::uint32_t apart,
            std::uint32_t* sums, assay::StopwatchRecord* records) {
  const char* mine = data + std::size_t{blockIdx.x} * apart * kTile + threadIdx.x * sizeof(uint4);
  const std::uint32_t bytes = tiles * kTile;
  std::uint32_t sum = 0, offset = 0;
#pragma unroll 1
  for (std::uint32_t tile = 0; tile < tiles; ++tile)
    sum += assay::vector_sum(
        assay::ptx::load_v4_l2(reinterpret_cast<const uint4*>(mine + tile * kTile)));
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
    uint4 v[kLoads];
#pragma unroll
    for (uint4& vector : v) {
      vector = assay::ptx::load_v4_l2(reinterpret_cast<const uint4*>(mine + offset));
      offset += kTile;
      offset = offset == bytes ? 0 : offset;
    }
#pragma unroll
    for (const uint4& vector : v) sum += assay::vector_sum(vector);
  }
  stopwatch.stop(records);
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

void run(assay::State& s) {
  const auto ctas = static_cast<std::uint32_t>(s.device().sm_count);
  // So that it also fits where each of two partitions keeps a copy of what lies in the other.
  const std::uint64_t wanted = s.device().l2_bytes / 4;
  const bool own = s.text("lines") == "own";
  // Tiles of an SM, to the nearest.
  const auto part = static_cast<std::uint32_t>((wanted + ctas * kTile / 2) / (ctas * kTile));
  const std::uint32_t apart = own ? std::max(part, 1u) : 0;
  const std::uint32_t total = own ? ctas * apart : static_cast<std::uint32_t>(wanted / kTile);
  const std::uint32_t tiles = own ? apart : total;
  const std::size_t bytes = std::size_t{total} * kTile;
  auto* data = s.allocate<char>(kArrays * kApart);
  auto* sums = s.allocate<std::uint32_t>(ctas * kThreads);
  for (int i = 0; i < kArrays; ++i) s.fill_random_bits(data + i * kApart, bytes, i);
  s.set_param("footprint_bytes", static_cast<std::int64_t>(bytes));
  s.set_param("bytes_per_sm", std::int64_t{tiles} * kTile);
  std::int64_t iterations = 0;
  std::size_t array = 0;
  s.cycles({.bytes = double{kLoads} * kTile}, [&](const assay::Launch& l) {
    if (l.iterations != 2 * iterations) array = (array + 1) % kArrays;  // n and 2n share one
    iterations = l.iterations;
    read_l2<<<ctas, kThreads, 0, l.stream>>>(l.iterations, data + array * kApart, tiles, apart,
                                             sums, l.records);
  });

  const std::uint64_t loads = static_cast<std::uint64_t>(iterations) * kLoads;
  const auto host = assay::download(reinterpret_cast<const uint4*>(data + array * kApart),
                                    bytes / sizeof(uint4), s.stream());
  const auto found = assay::download(sums, ctas * kThreads, s.stream());
  const std::uint32_t parts = own ? ctas : 1;
  std::vector<std::uint32_t> expected(std::size_t{parts} * kThreads);
  for (std::uint32_t tile = 0; tile < total; ++tile) {
    const auto times =
        static_cast<std::uint32_t>(1 + loads / tiles + (tile % tiles < loads % tiles ? 1 : 0));
    for (int thread = 0; thread < kThreads; ++thread)
      expected[std::size_t{tile / tiles} * kThreads + thread] +=
          times * assay::vector_sum(host[std::size_t{tile} * kThreads + thread]);
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    s.require(found[i] == expected[i % expected.size()],
              "a thread's sum is not that of what it should have read");
}

const assay::Registration registration{{
    .name = "memory/l2/read",
    .question = "How many bytes per SM and cycle does L2 give when all SMs read parts of their own "
                "of an array that fits in L2?",
    .cases = {{.params = {{"lines", "own"}}},
              {.name = "same_lines", .params = {{"lines", "all"}}, .suite = assay::Suite::full}},
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "read_l2",
               .sass = {{"LDG.E.128.STRONG.GPU", kLoads, kLoads}, {"LDG", kLoads, kLoads}}}};
        },
    .run = run,
}};

}  // namespace
