// SPDX-License-Identifier: Apache-2.0
// Bandwidth of L2, all SMs at once: loads that are coherent over the GPU, which no L1 may serve
// (memory/l2_near/latency chases 32 KiB per SM with the same ones, at L2's latency).
//
// Each SM reads a part of the array of its own, over and over. If several SMs read one place at
// about the same time, their requests are merged on the way to L2, and what the SMs receive is more
// than L2 gave: that is the case "same_lines", where all read all of the array in step.
//
// What is read lies in several arrays far apart, which even out how addresses fall on the slices of
// L2 (l2_arrays.hpp), and stays there from launch to launch.
#include "harness/device.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/state.hpp"
#include "probes/memory/l2_arrays.hpp"
#include "probes/memory/vector_sum.hpp"

namespace {

constexpr int kThreads = assay::kL2Threads, kArrays = assay::kL2Arrays;
constexpr std::uint32_t kTile = assay::kL2Tile;
constexpr std::size_t kApart = assay::kL2Apart;

// CTA b reads `tiles` tiles of each array, the first of which is tile b * apart, one a load.
__global__ void __launch_bounds__(kThreads)
    read_l2(std::int64_t iterations, const char* data, std::uint32_t tiles, std::uint32_t apart,
            std::uint32_t* sums, assay::StopwatchRecord* records) {
  const char* mine = data + std::size_t{blockIdx.x} * apart * kTile + threadIdx.x * sizeof(uint4);
  const std::uint32_t bytes = tiles * kTile;
  std::uint32_t sum = 0, offset = 0;
#pragma unroll 1
  for (std::uint32_t tile = 0; tile < tiles; ++tile)
    for (int array = 0; array < kArrays; ++array)
      sum += assay::vector_sum(assay::ptx::load_v4_l2(
          reinterpret_cast<const uint4*>(mine + array * kApart + tile * kTile)));
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
    uint4 v[kArrays];
#pragma unroll
    for (int array = 0; array < kArrays; ++array)
      v[array] =
          assay::ptx::load_v4_l2(reinterpret_cast<const uint4*>(mine + array * kApart + offset));
    offset += kTile;
    offset = offset == bytes ? 0 : offset;
#pragma unroll
    for (const uint4& vector : v) sum += assay::vector_sum(vector);
  }
  stopwatch.stop(records);
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

void run(assay::State& s) {
  const auto ctas = static_cast<std::uint32_t>(s.device().sm_count);
  const std::uint64_t l2_bytes = s.device().l2_bytes;
  const bool own = s.text("lines") == "own";
  const std::uint32_t apart = own ? assay::l2_tiles_of_sm(l2_bytes, ctas) : 0;
  const std::uint32_t total =
      own ? ctas * apart
          : static_cast<std::uint32_t>(assay::l2_footprint(l2_bytes) / assay::kL2Round);
  const std::uint32_t tiles = own ? apart : total;
  const std::size_t bytes = std::size_t{total} * kTile;  // of each array
  auto* data = s.allocate<char>(kArrays * kApart);
  auto* sums = s.allocate<std::uint32_t>(ctas * kThreads);
  for (int i = 0; i < kArrays; ++i) s.fill_random_bits(data + i * kApart, bytes, i);
  s.limit("B/clk/SM", assay::limits::l2_port());
  s.set_param("footprint_bytes", static_cast<std::int64_t>(bytes) * kArrays);
  s.set_param("bytes_per_sm", std::int64_t{tiles} * kTile * kArrays);
  std::uint64_t iterations = 0;
  s.cycles({.bytes = double{kArrays} * kTile}, [&](const assay::Launch& l) {
    iterations = static_cast<std::uint64_t>(l.iterations);
    read_l2<<<ctas, kThreads, 0, l.stream>>>(l.iterations, data, tiles, apart, sums, l.records);
  });

  const auto found = assay::download(sums, ctas * kThreads, s.stream());
  const std::uint32_t parts = own ? ctas : 1;
  std::vector<std::uint32_t> expected(std::size_t{parts} * kThreads);
  for (int array = 0; array < kArrays; ++array) {
    const auto host = assay::download(reinterpret_cast<const uint4*>(data + array * kApart),
                                      bytes / sizeof(uint4), s.stream());
    for (std::uint32_t tile = 0; tile < total; ++tile) {
      const auto times = static_cast<std::uint32_t>(1 + iterations / tiles +
                                                    (tile % tiles < iterations % tiles ? 1 : 0));
      for (int thread = 0; thread < kThreads; ++thread)
        expected[std::size_t{tile / tiles} * kThreads + thread] +=
            times * assay::vector_sum(host[std::size_t{tile} * kThreads + thread]);
    }
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
               .sass = {{"LDG.E.128.STRONG.GPU", kArrays, kArrays}, {"LDG", kArrays, kArrays}}}};
        },
    .run = run,
}};

}  // namespace
