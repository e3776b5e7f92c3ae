// SPDX-License-Identifier: Apache-2.0
// Ways to give tiles to SMs that hold one CTA each:
//   one_cta_each    a CTA for each tile, as the hardware launches them
//   persistent      a CTA for each SM takes every n-th tile
//   counter         a CTA for each SM asks a counter in L2 for the next one when it has none
//   counter_ahead   likewise, but while it works on the last one: nobody waits for the answer, but
//                   who has a long tile may already have taken another
//   launch_control  a CTA for each tile, but those that run take over the work of those that wait,
//                   ahead as well (sm_100 and newer)
// Time is from the first CTA's begin to the last one's end; efficiency is the least that whole
// tiles can take on that many SMs over it.
#include <algorithm>
#include <cmath>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/launch_control.cuh"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/placement/tile_work.hpp"

namespace {

using assay::Better;
using assay::TileCosts;

constexpr int kThreads = 128;
constexpr int kTilesPerSm = 8, kRuns = 7;
enum Method : int { kOneCtaEach, kPersistent, kCounter, kCounterAhead, kLaunchControl };
constexpr const char* kMethods[] = {"one_cta_each", "persistent", "counter", "counter_ahead",
                                    "launch_control"};
constexpr std::uint32_t kMeanTurns[] = {256, 1024, 4096, 16384};
constexpr std::uint32_t kHeadline = 4096;  // of those

struct Span {
  unsigned long long begin_ns, end_ns;
};
struct Tiles {
  const std::uint32_t* turns;
  std::uint32_t count;
  std::uint32_t* results;
  std::uint32_t* visits;
  std::uint32_t* counter;
  Span* span;
};

__device__ void work_on(const Tiles& tiles, std::uint32_t tile) {
  std::uint32_t value = tile;
  const std::uint32_t turns = tiles.turns[tile];
#pragma unroll 1
  for (std::uint32_t i = 0; i < turns; ++i) value = value * assay::kTileFactor + assay::kTileTerm;
  if (threadIdx.x > 0) return;
  tiles.results[tile] = value;
  atomicAdd(&tiles.visits[tile], 1);
}

template <int kMethod>
__global__ void __launch_bounds__(kThreads) schedule(Tiles tiles) {
  if (threadIdx.x == 0) atomicMin(&tiles.span->begin_ns, assay::ptx::globaltimer());
  if constexpr (kMethod == kOneCtaEach) {
    work_on(tiles, blockIdx.x);
  } else if constexpr (kMethod == kPersistent) {
    for (std::uint32_t tile = blockIdx.x; tile < tiles.count; tile += gridDim.x)
      work_on(tiles, tile);
  } else if constexpr (kMethod == kCounter) {
    __shared__ volatile std::uint32_t next;
    for (std::uint32_t tile = blockIdx.x; tile < tiles.count; tile = next) {
      work_on(tiles, tile);
      __syncthreads();  // all have read the last one, too
      if (threadIdx.x == 0) next = gridDim.x + atomicAdd(tiles.counter, 1);
      __syncthreads();
    }
  } else if constexpr (kMethod == kCounterAhead) {
    __shared__ volatile std::uint32_t next[2];
    std::uint32_t tile = blockIdx.x;
    for (int turn = 0; tile < tiles.count; turn ^= 1) {
      if (threadIdx.x == 0) next[turn] = gridDim.x + atomicAdd(tiles.counter, 1);
      work_on(tiles, tile);
      __syncthreads();
      tile = next[turn];
    }
  } else {
#if __CUDA_ARCH__ >= 1000
    __shared__ __align__(16) uint4 answers[2];
    __shared__ assay::ptx::Mbarrier barrier;
    if (threadIdx.x == 0) assay::ptx::mbarrier_init(&barrier, 1);
    __syncthreads();
    std::uint32_t tile = blockIdx.x;
    bool more = true;
    for (std::uint32_t turn = 0; more; turn ^= 1) {
      if (threadIdx.x == 0) {
        assay::ptx::fence_proxy_async_shared();  // the place of the answer has been read
        assay::ptx::mbarrier_arrive_expect_tx(&barrier, sizeof(uint4));
        assay::ptx::try_cancel_launch(&answers[turn], &barrier);
      }
      work_on(tiles, tile);
      assay::ptx::mbarrier_wait_parity(&barrier, turn);
      more = assay::ptx::cancelled_cta(&answers[turn], tile);
      __syncthreads();  // all have read it before it is written again
    }
#endif
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&tiles.span->end_ns, assay::ptx::globaltimer());
}

using Kernel = void (*)(Tiles);
constexpr Kernel kKernels[] = {schedule<kOneCtaEach>, schedule<kPersistent>, schedule<kCounter>,
                               schedule<kCounterAhead>, schedule<kLaunchControl>};

TileCosts costs_of(const assay::Case& c) {
  const std::string& name = c.text("costs");
  return name == "equal"    ? TileCosts::equal
         : name == "uneven" ? TileCosts::uneven
                            : TileCosts::ramp;
}

class Bench {
 public:
  Bench(assay::State& s, const std::vector<std::uint32_t>& turns)
      : s_(s), turns_(turns), words_(s.allocate<std::uint32_t>(3 * turns.size() + 8)) {
    const std::size_t n = turns.size();
    assay::check(cudaMemcpyAsync(words_, turns.data(), n * sizeof *words_, cudaMemcpyHostToDevice,
                                 s.stream()));
    tiles_ = {words_,         static_cast<std::uint32_t>(n),
              words_ + n,     words_ + 2 * n,
              words_ + 3 * n, s.allocate<Span>(1)};
    shared_ = static_cast<int>(s.device().shared_bytes_per_block - 1024);
    for (const Kernel kernel : kKernels)
      assay::check(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_));
  }

  // Nanoseconds from the first CTA's begin to the last one's end, of a run in which each tile was
  // worked on once.
  double run(int method) const {
    const std::size_t n = turns_.size();
    const auto sms = static_cast<std::uint32_t>(s_.device().sm_count);
    const bool few = method != kOneCtaEach && method != kLaunchControl;
    assay::check(cudaMemsetAsync(words_ + n, 0, (2 * n + 1) * sizeof *words_, s_.stream()));
    const Span empty{~0ull, 0};
    assay::check(
        cudaMemcpyAsync(tiles_.span, &empty, sizeof empty, cudaMemcpyHostToDevice, s_.stream()));
    kKernels[method]<<<few ? std::min(sms, tiles_.count) : tiles_.count, kThreads,
                       static_cast<std::size_t>(shared_), s_.stream()>>>(tiles_);
    assay::check(cudaGetLastError());
    const Span span = assay::download(tiles_.span, 1, s_.stream()).front();
    require_done(method);
    return static_cast<double>(span.end_ns - span.begin_ns);
  }

 private:
  void require_done(int method) const {
    const std::size_t n = turns_.size();
    const auto found = assay::download(words_ + n, 2 * n, s_.stream());
    for (std::size_t tile = 0; tile < n; ++tile) {
      s_.require(found[n + tile] == 1, std::string(kMethods[method]) + ": tile " +
                                           std::to_string(tile) + " was worked on " +
                                           std::to_string(found[n + tile]) + " times");
      if (tile % 37 == 0)  // the CPU takes a while for each
        s_.require(
            found[tile] == assay::tile_result(static_cast<std::uint32_t>(tile), turns_[tile]),
            std::string(kMethods[method]) + ": tile " + std::to_string(tile) +
                " has another result than so many turns give");
    }
  }

  assay::State& s_;
  const std::vector<std::uint32_t>& turns_;
  std::uint32_t* words_;
  Tiles tiles_;
  int shared_;
};

// Which method is first and which last at the headline's size, from their times.
std::string finding(const assay::Series& time) {
  const std::size_t sizes = std::size(kMeanTurns);
  const auto at = static_cast<std::size_t>(std::ranges::find(kMeanTurns, kHeadline) - kMeanTurns);
  std::size_t best = 0, worst = 0;
  for (std::size_t method = 0; method * sizes < time.values.size(); ++method) {
    if (time.values[method * sizes + at] < time.values[best * sizes + at]) best = method;
    if (time.values[method * sizes + at] > time.values[worst * sizes + at]) worst = method;
  }
  const double longer = time.values[worst * sizes + at] / time.values[best * sizes + at] - 1;
  return std::string(kMethods[best]) + " is fastest, " + kMethods[worst] + " takes " +
         std::to_string(std::lround(100 * longer)) + "% longer";
}

void run(assay::State& s) {
  const TileCosts costs = costs_of(s.which());
  const int sms = s.device().sm_count;
  // One wave is begun that fills half of the SMs.
  const auto count = static_cast<std::size_t>(kTilesPerSm * sms + sms / 2);
  const int methods = s.device().major >= 10 ? kLaunchControl + 1 : kLaunchControl;
  assay::Series time{"time_us", "us", {{"method", {}}, {"turns_per_tile", {}}}, {}};
  for (int method = 0; method < methods; ++method)
    time.axes[0].points.emplace_back(std::string(kMethods[method]));
  for (const std::uint32_t mean : kMeanTurns) time.axes[1].points.emplace_back(std::int64_t{mean});
  assay::Series efficiency = time;
  efficiency.name = "efficiency";
  efficiency.unit = "";
  for (auto* series : {&time, &efficiency})
    for (auto* of : {&series->values, &series->low, &series->high})
      of->resize(static_cast<std::size_t>(methods) * std::size(kMeanTurns));
  std::size_t at = 0;
  for (const std::uint32_t mean : kMeanTurns) {
    const std::vector<std::uint32_t> turns = assay::tile_costs(costs, count, mean, s.seed());
    const Bench bench(s, turns);
    // How long a turn is: two grids of one equal tile on each SM.
    const std::vector<std::uint32_t> once(static_cast<std::size_t>(sms), mean),
        twice(static_cast<std::size_t>(sms), 2 * mean);
    const Bench single(s, once), pair(s, twice);
    std::vector<double> turn_ns;
    for (int i = 0; i < kRuns; ++i)
      turn_ns.push_back((pair.run(kPersistent) - single.run(kPersistent)) / mean);
    const double least_ns = assay::least_turns(turns, sms) * assay::median(turn_ns);
    for (int method = 0; method < methods; ++method) {
      bench.run(method);  // warms up
      std::vector<double> us, share;
      for (int i = 0; i < kRuns; ++i) {
        us.push_back(1e-3 * bench.run(method));
        share.push_back(1e-3 * least_ns / us.back());
      }
      const std::size_t place = static_cast<std::size_t>(method) * std::size(kMeanTurns) + at;
      time.set(place, assay::estimate(us));
      efficiency.set(place, assay::estimate(share));
      if (mean != kHeadline) continue;
      const std::string of = std::string("_") + kMethods[method];
      s.add_metric("efficiency" + of, "", Better::higher, share);
      s.add_metric("time_us" + of, "us", Better::lower, us);
    }
    if (mean == kHeadline)
      s.add_exact("tile_us", "us", Better::lower, 1e-3 * mean * assay::median(turn_ns));
    ++at;
  }
  s.set_param("finding", finding(time));
  s.add_series(std::move(time));
  s.add_series(std::move(efficiency));
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const char* costs : {"equal", "uneven", "ramp"})
    all.push_back({.name = costs, .params = {{"costs", costs}}, .suite = assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "placement/schedule",
    .question = "How well are SMs filled by a CTA for each tile, by persistent CTAs, a counter of "
                "tiles, or cluster launch control?",
    .metrics =
        {{"time_us",
          "Time from the first CTA's begin to the last one's end, by method and size of a tile."},
         {"efficiency",
          "Least time that whole tiles can take on that many SMs over the time taken, by method "
          "and size of a tile."},
         {"efficiency_*",
          "Least time that whole tiles can take over the time taken by the method *."},
         {"time_us_*", "Time from the first CTA's begin to the last one's end, by the method *."},
         {"tile_us", "Time of a tile of mean size."}},
    .cases = cases(),
    .kernels =
        [](const assay::Case&, assay::Target target) {
          std::vector<assay::KernelUse> uses;
          for (int method = 0; method < kLaunchControl; ++method)
            uses.push_back(
                {.kernel = "schedule<" + std::to_string(method) + ">", .sass = {{"IMAD", 1}}});
          if (assay::has(target, assay::Feature::cluster_launch_control))
            uses.push_back(
                {.kernel = "schedule<4>",
                 .sass = {{"IMAD", 1}, {"UGETNEXTWORKID", 1, 2, assay::SassWhere::kernel}}});
          return uses;
        },
    .run = run,
}};

}  // namespace
