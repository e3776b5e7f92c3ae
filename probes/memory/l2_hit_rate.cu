// SPDX-License-Identifier: Apache-2.0
// Read bandwidth by how much of it L2 serves: of every 16 tiles, `hits` come from an array that
// stays in L2 and the others from one far larger, past it. What is streamed is marked evict_first
// (memory/l2_residency shows that the array then stays). CTAs take 16 tiles each and end, so that
// nobody waits for the slowest SM.
//
// Were L2 and the memory behind it wholly apart, the bandwidth would be what their times add up to
// at worst, 1 / (h / L2 + (1 - h) / memory), and at best that of the busier of the two alone:
// min(L2, memory / (1 - h)). The series has both beside what was measured.
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/ptx/cache_policy.cuh"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/memory/hbm.cuh"

namespace {

constexpr int kThreads = 512, kLoads = 4, kTiles = 16, kSamples = 6;
constexpr std::size_t kTile = std::size_t{kThreads} * kLoads;  // vectors

struct Arrays {
  const uint4 *hot, *cold;
  std::uint32_t hot_tiles, hits;  // of each 16 tiles
  std::uint32_t* sums;
};

// Tile t of a CTA is a hit where t * hits wraps around 16: spread as evenly as can be.
__host__ __device__ constexpr bool is_hit(std::uint32_t tile, std::uint32_t hits) {
  return tile * hits % kTiles < hits;
}

// The CTA's n-th hit or miss among all: they go through their arrays in order.
__global__ void __launch_bounds__(kThreads) read_mixed(Arrays a) {
  const auto normal = assay::ptx::create_policy<assay::ptx::Eviction::normal>();
  const auto first = assay::ptx::create_policy<assay::ptx::Eviction::first>();
  std::uint32_t bits = 0;
  std::uint32_t hot = static_cast<std::uint32_t>(std::uint64_t{blockIdx.x} * a.hits % a.hot_tiles);
  std::size_t cold = std::size_t{blockIdx.x} * (kTiles - a.hits);
#pragma unroll 1
  for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
    const bool hit = is_hit(tile, a.hits);
    const uint4* from = (hit ? a.hot + hot * kTile : a.cold + cold * kTile) + threadIdx.x;
    const std::uint64_t policy = hit ? normal : first;
    hot = hit ? (hot + 1 < a.hot_tiles ? hot + 1 : 0) : hot;
    cold += hit ? 0 : 1;
    uint4 v[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) v[i] = assay::ptx::load_v4_hinted(from + i * kThreads, policy);
#pragma unroll
    for (const uint4& vector : v) bits += vector.x + vector.y + vector.z + vector.w;
  }
  bits = __reduce_add_sync(~0u, bits);
  if (threadIdx.x % 32 == 0)
    atomicAdd(&a.sums[(blockIdx.x * 16 + threadIdx.x / 32) % assay::kHbmSums], bits);
}

// Adds up the words of the tiles that `ctas` CTAs must have read, from the other end.
__global__ void add_tiles(const uint4* data, std::uint32_t tiles, std::uint64_t visits,
                          std::uint32_t* sum) {
  std::uint32_t mine = 0;
  for (std::uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const auto times = static_cast<std::uint32_t>(visits / tiles + (tile < visits % tiles ? 1 : 0));
    for (std::size_t i = threadIdx.x; i < kTile; i += blockDim.x) {
      const uint4 v = data[tile * kTile + i];
      mine += times * (v.x + v.y + v.z + v.w);
    }
  }
  atomicAdd(sum, mine);
}

class Bench {
 public:
  explicit Bench(assay::State& s) : s_(s) {
    const std::size_t tile_bytes = kTile * sizeof(uint4);
    hot_tiles_ =
        static_cast<std::uint32_t>(std::max<std::size_t>(s.device().l2_bytes / 4 / tile_bytes, 1));
    const std::size_t wanted =
        std::min<std::size_t>(s.device().memory_bytes / 16, std::size_t{2} << 30);
    ctas_ = static_cast<std::uint32_t>(wanted / tile_bytes / kTiles);
    hot_ = s.allocate<uint4>(hot_tiles_ * kTile);
    cold_ = s.allocate<uint4>(std::size_t{ctas_} * kTiles * kTile);
    sums_ = s.allocate<std::uint32_t>(assay::kHbmSums);
    expected_ = s.allocate<std::uint32_t>(1);
    s.fill_random_bits(hot_, hot_tiles_ * tile_bytes, 1);
    s.fill_random_bits(cold_, std::size_t{ctas_} * kTiles * tile_bytes, 2);
    s.set_param("array_bytes", static_cast<std::int64_t>(hot_tiles_ * tile_bytes));
    s.set_param("streamed_bytes",
                static_cast<std::int64_t>(std::size_t{ctas_} * kTiles * tile_bytes));
  }

  assay::Estimate gb_per_s(std::uint32_t hits) {
    std::vector<double> rates;
    for (int i = 0; i < kSamples; ++i) {
      launch(hot_tiles_ / kTiles + 1, kTiles);  // the array is in L2
      assay::check(cudaMemsetAsync(sums_, 0, assay::kHbmSums * sizeof(*sums_), s_.stream()));
      assay::delay(20'000, s_.stream());
      begin_.record(s_.stream());
      launch(ctas_, hits);
      end_.record(s_.stream());
      rates.push_back(static_cast<double>(ctas_) * kTiles * kTile * sizeof(uint4) /
                      assay::elapsed_ns(begin_, end_));
    }
    std::uint32_t found = 0;
    for (const std::uint32_t sum : assay::download(sums_, assay::kHbmSums, s_.stream()))
      found += sum;
    assay::check(cudaMemsetAsync(expected_, 0, sizeof(*expected_), s_.stream()));
    const std::uint64_t visits = std::uint64_t{ctas_} * hits;
    add_tiles<<<256, 256, 0, s_.stream()>>>(hot_, hot_tiles_, visits, expected_);
    const auto missed = static_cast<std::uint32_t>(ctas_ * (kTiles - hits));
    if (missed > 0) add_tiles<<<1024, 256, 0, s_.stream()>>>(cold_, missed, missed, expected_);
    const std::uint32_t right = assay::download(expected_, 1, s_.stream()).front();
    s_.require(found == right, "with " + std::to_string(hits) +
                                   " hits of 16, what was read adds up to " +
                                   std::to_string(found) + ", not " + std::to_string(right));
    return assay::estimate(rates);
  }

 private:
  void launch(std::uint32_t ctas, std::uint32_t hits) {
    read_mixed<<<ctas, kThreads, 0, s_.stream()>>>({hot_, cold_, hot_tiles_, hits, sums_});
    assay::check(cudaGetLastError());
  }

  assay::State& s_;
  std::uint32_t hot_tiles_ = 0, ctas_ = 0;
  uint4 *hot_ = nullptr, *cold_ = nullptr;
  std::uint32_t *sums_ = nullptr, *expected_ = nullptr;
  assay::Event begin_, end_;
};

void run(assay::State& s) {
  Bench bench(s);
  assay::Series series{"bandwidth_gb_per_s", "GB/s", {{"hit_percent", {}}}, {}};
  for (std::uint32_t hits = 0; hits <= kTiles; ++hits) series.add(bench.gb_per_s(hits));
  const double memory = series.values.front(), l2 = series.values.back();
  assay::Series apart{"at_most_gb_per_s", "GB/s", {{"hit_percent", {}}}, {}};
  assay::Series in_turn{"one_after_the_other_gb_per_s", "GB/s", {{"hit_percent", {}}}, {}};
  for (int hits = 0; hits <= kTiles; ++hits) {
    const double share = static_cast<double>(hits) / kTiles;
    for (assay::Series* one : {&series, &apart, &in_turn})
      one->axes[0].points.emplace_back(std::int64_t{hits * 100 / kTiles});
    apart.values.push_back(hits < kTiles ? std::min(l2, memory / (1 - share)) : l2);
    in_turn.values.push_back(1 / (share / l2 + (1 - share) / memory));
  }
  s.limit("no_hits_gb_per_s", assay::dram_limit(s.device()));
  s.add_exact("no_hits_gb_per_s", "GB/s", assay::Better::higher, memory);
  s.add_exact("half_hits_gb_per_s", "GB/s", assay::Better::higher, series.values[kTiles / 2]);
  s.add_exact("all_hits_gb_per_s", "GB/s", assay::Better::higher, l2);
  for (assay::Series* one : {&series, &apart, &in_turn}) s.add_series(std::move(*one));
}

const assay::Registration registration{{
    .name = "memory/l2/hit_rate",
    .question = "What read bandwidth do all SMs get when L2 serves a part of it and the memory "
                "behind it the rest?",
    .metrics = {{"bandwidth_gb_per_s",
                 "Bandwidth measured, by the share of the reads that hit in L2."},
                {"at_most_gb_per_s",
                 "Bandwidth if L2 and memory worked side by side, each at its best."},
                {"one_after_the_other_gb_per_s", "Bandwidth if L2 and memory took turns."},
                {"no_hits_gb_per_s", "Bandwidth when no read hits in L2."},
                {"half_hits_gb_per_s", "Bandwidth when half of the reads hit in L2."},
                {"all_hits_gb_per_s", "Bandwidth when all reads hit in L2."}},
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "read_mixed", .sass = {{"LDG.E", kLoads, kLoads}}}};
        },
    .run = run,
}};

}  // namespace
