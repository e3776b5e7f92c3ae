// SPDX-License-Identifier: Apache-2.0
// What fetching a tensor map costs: the latency of a small box load whose map was just used, was
// prefetched, comes from L2, comes from DRAM, or was fenced as one that was written on the GPU is.
//
// All maps describe the same few bytes, which stay in L2, so that what differs is the map. A second
// sweep goes round a number of maps: where its latency rises, a cache of maps is full.
#include <span>

#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/stopwatch.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/memory/plateaus.hpp"

namespace {

using namespace assay;

constexpr int kMaps = 4096;   // 512 KiB of maps
constexpr int kEach = 100;    // loads of one kind, each through a map of its own
constexpr int kColumns = 64;  // bf16: one box of 128 bytes

enum : int { kUsed, kPrefetched, kFresh, kFenced };

// Loads through maps 0, 1, .. count - 1, `rounds` times over, by one thread, and leaves how long
// each load took. What it brings must be the tensor's.
__global__ void load_through(const CUtensorMap* maps, int count, int rounds, int how,
                             const std::uint32_t* tensor, std::uint32_t* cycles,
                             std::uint32_t* wrong) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) std::uint32_t box[kColumns / 2];
  __shared__ ptx::Mbarrier barrier;
  if (!ptx::elect_one()) return;
  ptx::mbarrier_init(&barrier, 1);
  ptx::fence_mbarrier_init();
  std::uint32_t parity = 0;
  const auto load = [&](const CUtensorMap* map) {
    ptx::mbarrier_arrive_expect_tx(&barrier, sizeof box);
    ptx::tma_load_2d(box, map, &barrier, 0, 0);
    ptx::mbarrier_wait_parity(&barrier, parity);
    parity ^= 1;
  };
#pragma unroll 1
  for (int i = 0; i < rounds * count; ++i) {
    const CUtensorMap* map = &maps[i % count];
    box[0] = ~tensor[0];
    ptx::fence_proxy_async_shared();
    if (how == kUsed) load(map);
    if (how == kPrefetched) ptx::tma_prefetch_map(map);
    // Until whatever was asked for has come.
    for (const std::uint64_t begin = ptx::clock64(); ptx::clock64() - begin < 4000;) {
    }
    const std::uint64_t begin = ptx::clock64();
    if (how == kFenced) ptx::fence_tensor_map(map);
    load(map);
    cycles[i] = static_cast<std::uint32_t>(ptx::clock64() - begin);
    if (box[0] != tensor[0]) atomicAdd(wrong, 1);
  }
#endif
}

class Maps {
 public:
  explicit Maps(State& s)
      : s_(s),
        tensor_(s.allocate<std::uint32_t>(kColumns / 2)),
        maps_(s.allocate<CUtensorMap>(kMaps)),
        cycles_(s.allocate<std::uint32_t>(kMaps * kRounds)),
        wrong_(s.allocate<std::uint32_t>(1)),
        flush_(s.allocate<char>(2 * s.device().l2_bytes)) {
    s.fill_random_bits(tensor_, kColumns * 2);
    const std::vector<CUtensorMap> maps(
        kMaps, ptx::encode_bf16_matrix(tensor_, 1, kColumns, kColumns * 2, 1, kColumns,
                                       ptx::Swizzle::none));
    check(cudaMemcpy(maps_, maps.data(), maps.size() * sizeof maps[0], cudaMemcpyHostToDevice));
  }
  static constexpr int kRounds = 2;

  // Cycles of each load through `count` maps from `first` on.
  std::vector<double> load(int first, int count, int rounds, int how, bool cold) {
    if (cold) overwrite(flush_, 2 * s_.device().l2_bytes, s_.stream());
    check(cudaMemsetAsync(wrong_, 0, sizeof(*wrong_), s_.stream()));
    load_through<<<1, 32, 0, s_.stream()>>>(maps_ + first, count, rounds, how, tensor_, cycles_,
                                            wrong_);
    check(cudaGetLastError());
    s_.require(download(wrong_, 1, s_.stream()).front() == 0,
               "a box loaded through a map in global memory is not the tensor's");
    const auto all = download(
        cycles_, static_cast<std::size_t>(count) * static_cast<unsigned>(rounds), s_.stream());
    return {all.begin(), all.end()};
  }

 private:
  State& s_;
  std::uint32_t* tensor_;
  CUtensorMap* maps_;
  std::uint32_t *cycles_, *wrong_;
  char* flush_;
};

void run(State& s) {
  Maps maps(s);
  maps.load(0, kMaps, 1, kUsed, false);  // brings all maps to L2
  // Maps that no load before went through, but for that: should an SM keep them from launch to
  // launch, it has none of these.
  int first = 0;
  const auto of = [&](const char* name, int how, bool cold) {
    std::vector<double> cycles = maps.load(first, kEach, 1, how, cold);
    cycles.erase(cycles.begin());  // brought the tensor to L2
    s.add_metric(std::string("latency_cycles_") + name, "cycle", Better::lower, cycles);
    first += kEach;
    return median(cycles);
  };
  const double used = of("map_used", kUsed, false);
  const double prefetched = of("map_prefetched", kPrefetched, false);
  const double in_l2 = of("map_in_l2", kFresh, false);
  of("map_fenced", kFenced, false);
  const double in_dram = of("map_in_dram", kFresh, true);
  s.add_exact("fetch_cycles_from_l2", "cycle", Better::lower, in_l2 - used);
  s.add_exact("fetch_cycles_from_dram", "cycle", Better::lower, in_dram - used);
  s.add_exact("prefetch_saves_cycles", "cycle", Better::higher, in_l2 - prefetched);

  // The last round of two over so many maps. The end of each level but the last, which the sweep
  // does not see the end of, is how many maps the cache behind it holds.
  Series series{"latency_cycles", "cycle", {{"maps", {}}}, {}};
  std::vector<int> counts{1, 2, 3, 4, 5, 6, 7, 8};
  for (int step = 2; counts.back() < kMaps; step *= 2)
    for (int i = 0; i < 4; ++i) counts.push_back(counts.back() + step);
  for (const int count : counts) {
    const std::vector<double> cycles = maps.load(0, count, Maps::kRounds, kFresh, false);
    series.axes[0].points.emplace_back(std::int64_t{count});
    series.add(estimate(std::span(cycles).subspan(static_cast<std::size_t>(count))));
  }
  const std::vector<Plateau> levels = plateaus(series.values);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string level = "level_" + std::to_string(i + 1);
    s.add_exact("latency_cycles_" + level, "cycle", Better::lower, levels[i].level);
    if (levels[i].last + 1 < counts.size())
      s.add_exact("maps_held_" + level, "map", Better::higher, counts[levels[i].last]);
  }
  s.add_series(std::move(series));
}

const Registration registration{{
    .name = "tma/descriptor",
    .question = "What does it cost to fetch a tensor map, from L2 or DRAM, what does prefetching "
                "it save, and how many are held close by?",
    .metrics =
        {{"latency_cycles", "Cycles of a box load in the last of two rounds over so many maps."},
         {"latency_cycles_map_used", "Cycles of a box load whose map was just used."},
         {"latency_cycles_map_prefetched", "Cycles of a box load whose map was prefetched."},
         {"latency_cycles_map_in_l2", "Cycles of a box load whose map must be fetched from L2."},
         {"latency_cycles_map_fenced",
          "Cycles of a box load whose map was fenced, as one that was written on the GPU is."},
         {"latency_cycles_map_in_dram",
          "Cycles of a box load whose map must be fetched from DRAM."},
         {"fetch_cycles_from_*", "Cycles that fetching the map from * adds to a load."},
         {"prefetch_saves_cycles", "Cycles that prefetching the map from L2 saves."},
         {"latency_cycles_level_*",
          "Cycles of a box load on plateau * of the sweep over the number of maps."},
         {"maps_held_level_*",
          "Maps up to which the latency stays on plateau *: what that cache holds."}},
    .cases = {{.suite = Suite::full}},
    .targets = targets_with(Feature::tma),
    .kernels =
        [](const Case&, Target) {
          return std::vector<KernelUse>{
              {.kernel = "load_through",
               .sass = {{"UTMALDG.2D", 2, 2}, {"UTMACCTL", 1, INT_MAX, SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
