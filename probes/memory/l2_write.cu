// SPDX-License-Identifier: Apache-2.0
// How fast all SMs together write what stays in L2: each SM a part of its own of several arrays,
// over and over, as memory/l2/read reads them. (tma/store/l2 has the same by bulk copies.)
//
// A place is written with the number of the iteration, so that no store is like the one before it
// and the last can be told afterwards. A warp writes whole lines.
#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/ptx/stopwatch.cuh"
#include "harness/state.hpp"
#include "probes/memory/l2_arrays.hpp"

namespace {

constexpr int kThreads = assay::kL2Threads, kArrays = assay::kL2Arrays;
constexpr std::uint32_t kTile = assay::kL2Tile;
constexpr std::size_t kApart = assay::kL2Apart;

__device__ __host__ uint4 written(std::uint32_t iteration, std::uint32_t place) {
  return {iteration, ~iteration, place, iteration ^ place};
}

// CTA b writes `tiles` tiles of each array, from tile b * tiles on.
__global__ void __launch_bounds__(kThreads)
    write_l2(std::int64_t iterations, char* data, std::uint32_t tiles,
             assay::StopwatchRecord* records) {
  char* mine = data + std::size_t{blockIdx.x} * tiles * kTile + threadIdx.x * sizeof(uint4);
  const std::uint32_t bytes = tiles * kTile;
  std::uint32_t offset = 0;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
    const uint4 value = written(static_cast<std::uint32_t>(i), threadIdx.x);
#pragma unroll
    for (int array = 0; array < kArrays; ++array)
      *reinterpret_cast<uint4*>(mine + array * kApart + offset) = value;
    offset += kTile;
    offset = offset == bytes ? 0 : offset;
  }
  stopwatch.stop(records);
}

void run(assay::State& s) {
  const auto ctas = static_cast<std::uint32_t>(s.device().sm_count);
  const std::uint32_t tiles = assay::l2_tiles_of_sm(s.device().l2_bytes, ctas);
  const std::size_t bytes = std::size_t{ctas} * tiles * kTile;  // of each array
  auto* data = s.allocate<char>((kArrays - 1) * kApart + bytes);
  s.limit("B/clk/SM", assay::limits::l2_port());
  s.set_param("footprint_bytes", static_cast<std::int64_t>(bytes) * kArrays);
  s.set_param("bytes_per_sm", std::int64_t{tiles} * kTile * kArrays);
  std::uint64_t iterations = 0;
  s.cycles({.bytes = double{kArrays} * kTile}, [&](const assay::Launch& l) {
    iterations = static_cast<std::uint64_t>(l.iterations);
    write_l2<<<ctas, kThreads, 0, l.stream>>>(l.iterations, data, tiles, l.records);
  });

  for (int array = 0; array < kArrays; ++array) {
    const auto found = assay::download(reinterpret_cast<const uint4*>(data + array * kApart),
                                       bytes / sizeof(uint4), s.stream());
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::uint64_t tile = at / kThreads % tiles;
      if (tile >= iterations) continue;
      // The last of 0, 1, ... below `iterations` that is of this tile.
      const std::uint64_t last = iterations - 1 - (iterations - 1 - tile) % tiles;
      const uint4 expected =
          written(static_cast<std::uint32_t>(last), static_cast<std::uint32_t>(at % kThreads));
      const bool same = found[at].x == expected.x && found[at].y == expected.y &&
                        found[at].z == expected.z && found[at].w == expected.w;
      s.require(same, "a place does not hold what was written to it last");
      if (!same) return;
    }
  }
}

const assay::Registration registration{{
    .name = "memory/l2/write",
    .question = "How many bytes per SM and cycle does L2 take when all SMs write parts of their "
                "own of an array that fits in L2?",
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "write_l2",
               .sass = {{"STG.E.128", kArrays, kArrays}, {"STG", kArrays, kArrays}}}};
        },
    .run = run,
}};

}  // namespace
