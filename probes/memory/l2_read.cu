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
#include "probes/memory/hbm.cuh"
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

// Tiles dealt to whichever SM is free, as in probes/memory/hbm_read.cu, here of an array that stays
// in L2: nobody waits for the SM that is farthest from its lines. CTA b reads tile b % tiles.
constexpr int kDealtThreads = 256;
constexpr std::size_t kDealtTile = kDealtThreads * kLoads;  // vectors
constexpr unsigned kDealtRounds = 101;  // odd: words read that often do not cancel in a xor

__global__ void __launch_bounds__(kDealtThreads)
    read_l2_dealt(const uint4* data, unsigned tiles, std::uint32_t* sums) {
  const uint4* source = data + blockIdx.x % tiles * kDealtTile + threadIdx.x;
  uint4 v[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) v[i] = assay::ptx::load_v4_l2(source + i * kDealtThreads);
  std::uint32_t bits = 0;
#pragma unroll
  for (const uint4& vector : v) bits ^= vector.x ^ vector.y ^ vector.z ^ vector.w;
  bits = __reduce_xor_sync(~0u, bits);
  const unsigned warp = (blockIdx.x * kDealtThreads + threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0) atomicXor(&sums[warp % assay::kHbmSums], bits);
}

void run_dealt(assay::State& s) {
  const auto bytes = static_cast<std::uint64_t>(s.i64("footprint_mib")) << 20;
  if (bytes > s.device().l2_bytes) s.skip("the array is larger than L2");
  const auto tiles = static_cast<unsigned>(bytes / (kDealtTile * sizeof(uint4)));
  auto* data = s.allocate<uint4>(bytes / sizeof(uint4));
  auto* sums = s.allocate<std::uint32_t>(assay::kHbmSums);
  s.fill_random_bits(data, bytes);
  s.set_param("footprint_bytes", static_cast<std::int64_t>(bytes));
  const auto launch = [&](cudaStream_t stream) {
    read_l2_dealt<<<tiles * kDealtRounds, kDealtThreads, 0, stream>>>(data, tiles, sums);
  };
  assay::check(cudaMemsetAsync(sums, 0, assay::kHbmSums * sizeof(*sums), s.stream()));
  launch(s.stream());
  assay::check(cudaGetLastError());
  s.require(assay::combined_bits(s, sums, assay::kHbmSums * sizeof(*sums)) ==
                assay::combined_bits(s, data, bytes),
            "what was read does not combine to the bits of the array");
  s.time({.bytes = static_cast<double>(bytes) * kDealtRounds}, launch);
}

void run(assay::State& s) {
  const auto ctas = static_cast<std::uint32_t>(s.device().sm_count);
  const std::int64_t mib = s.i64("footprint_mib");
  const std::uint64_t wanted = mib ? std::uint64_t{1} * mib << 20 : s.device().l2_bytes / 4;
  if (wanted > s.device().l2_bytes) s.skip("the array is larger than L2");
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

// Footprint 0: a quarter of L2, so that it also fits where each of two partitions keeps a copy of
// what lies in the other.
assay::Case array_of(std::string name, int mib, const char* lines) {
  return {.name = name,
          .params = {{"footprint_mib", mib}, {"lines", lines}},
          .suite = name.empty() ? assay::Suite::quick : assay::Suite::full};
}

const assay::Registration dealt{{
    .name = "memory/l2/read_dealt",
    .question = "How fast do all SMs together read an array that fits in L2 when its tiles go to "
                "whichever SM is free?",
    .cases = {{.name = "20mib", .params = {{"footprint_mib", 20}}, .suite = assay::Suite::full},
              {.name = "30mib", .params = {{"footprint_mib", 30}}, .suite = assay::Suite::full}},
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "read_l2_dealt",
               .sass = {{"LDG.E.128.STRONG.GPU", kLoads, kLoads, assay::SassWhere::kernel}}}};
        },
    .run = run_dealt,
}};

const assay::Registration registration{{
    .name = "memory/l2/read",
    .question = "How many bytes per SM and cycle does L2 give when all SMs read parts of their own "
                "of an array that fits in L2?",
    .cases = {array_of("", 0, "own"), array_of("8mib", 8, "own"), array_of("20mib", 20, "own"),
              array_of("30mib", 30, "own"), array_of("same_lines", 0, "all")},
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
