// SPDX-License-Identifier: Apache-2.0
// Barriers of a whole grid, by its CTAs:
//   cooperative  grid.sync() of cooperative groups
//   counter      one thread of each CTA adds to a counter in L2 and waits until it has grown by as
//                many as there are CTAs; it never goes back, so that nothing is reset
//   clusters     the same with one addition for each cluster of two CTAs, which meet first
// One CTA alone costs two thirds of what all do, or more: a fence, an addition in L2 and a load
// from there follow one another, and the last CTA's addition has to be seen. Meeting in clusters
// first saves additions but costs two of their barriers, each with a fence of the whole GPU. All
// CTAs must be resident at once: the driver checks that of cooperative launches, and says how many
// clusters are.
#include <cooperative_groups.h>

#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/state.hpp"

namespace {

constexpr int kBarriers = 4, kThreads = 128;  // in one iteration; of a CTA
[[maybe_unused]] constexpr int kLatenessCycles = 5000;
constexpr std::uint32_t kProofs = 8;  // CTAs that come late, one after another
enum Form : int { kCooperative, kCounter, kClusters };

struct Grid {
  std::uint32_t* counter;  // 0 at first
  volatile std::uint32_t* arrived;
  std::uint32_t* early;
};

// One of `members` that add to the counter; `full` is what it has come to when all have.
__device__ void count_and_wait(std::uint32_t* counter, std::uint32_t members, std::uint32_t& full) {
  full += members;
  assay::ptx::increment_release(counter);
  while (static_cast<std::int32_t>(assay::ptx::load_acquire(counter) - full) < 0) {
  }
}

template <int kForm>
__device__ void meet([[maybe_unused]] std::uint32_t* counter,
                     [[maybe_unused]] std::uint32_t& full) {
  if constexpr (kForm == kCooperative) {
    cooperative_groups::this_grid().sync();
  } else if constexpr (kForm == kCounter) {
    __syncthreads();
    if (threadIdx.x == 0) count_and_wait(counter, gridDim.x, full);
    __syncthreads();
  } else {
#if __CUDA_ARCH__ >= 900
    assay::ptx::cluster_sync();
    if (threadIdx.x == 0 && assay::ptx::cluster_cta_rank() == 0)
      count_and_wait(counter, gridDim.x / assay::ptx::cluster_cta_count(), full);
    assay::ptx::cluster_sync();
#endif
  }
}

template <int kForm>
__global__ void __launch_bounds__(kThreads)
    grid_meet(std::int64_t iterations, Grid grid, assay::StopwatchRecord* records) {
  std::uint32_t full = 0;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int barrier = 0; barrier < kBarriers; ++barrier) meet<kForm>(grid.counter, full);
  }
  stopwatch.stop(records);
  // A few CTAs in turn come late; all see that they have arrived.
  const std::uint32_t step = max(gridDim.x / kProofs, 1u);
  for (std::uint32_t late = 0; late < gridDim.x; late += step) {
    if (blockIdx.x == late)
      for (const auto begin = assay::ptx::clock64();
           assay::ptx::clock64() - begin < kLatenessCycles;) {
      }
    if (threadIdx.x == 0) grid.arrived[blockIdx.x] = late + 1;
    meet<kForm>(grid.counter, full);
    if (threadIdx.x == 0 && grid.arrived[late] < late + 1) atomicAdd(grid.early, 1);
    meet<kForm>(grid.counter, full);
  }
}

using Kernel = void (*)(std::int64_t, Grid, assay::StopwatchRecord*);
struct Variant {
  const char *form, *name;
  Kernel kernel;
  int cluster;
};
constexpr Variant kVariants[] = {{"cooperative", "grid_meet<0>", grid_meet<kCooperative>, 1},
                                 {"counter", "grid_meet<1>", grid_meet<kCounter>, 1},
                                 {"clusters", "grid_meet<2>", grid_meet<kClusters>, 2}};

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find(kVariants, c.text("form"), [](const Variant& v) { return v.form; });
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  const int sms = s.device().sm_count;
  constexpr int kMostPerSm = 4;
  auto* words = s.allocate<std::uint32_t>(1 + static_cast<std::size_t>(kMostPerSm * sms));
  auto* early = s.allocate<std::uint32_t>(1);
  assay::check(cudaMemsetAsync(early, 0, sizeof *early, s.stream()));
  const Grid grid{words, words + 1, early};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  if (v.cluster > 1) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(v.cluster), 1, 1};
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(v.cluster));
  config.blockDim = dim3(kThreads);
  config.stream = s.stream();
  config.attrs = &attribute;
  config.numAttrs = 1;
  int most = kMostPerSm * sms;  // CTAs at once
  if (v.cluster > 1) {
    assay::check(cudaOccupancyMaxActiveClusters(&most, v.kernel, &config));
    most *= v.cluster;
  }
  const auto with = [&](int ctas) {
    return [&, ctas](const assay::Launch& l) {
      // The counter begins at 0 in each launch.
      assay::check(cudaMemsetAsync(words, 0, (1 + static_cast<std::size_t>(ctas)) * sizeof *words,
                                   l.stream));
      config.gridDim = dim3(static_cast<unsigned>(ctas));
      assay::check(cudaLaunchKernelEx(&config, v.kernel, l.iterations, grid, l.records));
    };
  };
  const auto require_met = [&](int ctas) {
    s.require(assay::download(grid.early, 1, s.stream()).front() == 0,
              "of " + std::to_string(ctas) + " CTAs, some left the barrier before all had arrived");
  };
  const int whole = std::min(sms / v.cluster * v.cluster, most);
  s.cycles({.steps = kBarriers}, with(whole));
  require_met(whole);
  assay::Series by_ctas{"latency_cycles_by_ctas", "cycle", {{"ctas", {}}}, {}};
  for (const int ctas : {1, 2, 4, 8, 16, 32, 64, whole, 2 * whole, kMostPerSm * whole}) {
    if (ctas < v.cluster || ctas > most) continue;
    by_ctas.axes[0].points.emplace_back(std::int64_t{ctas});
    by_ctas.add(s.cycles_once(with(ctas)) / kBarriers);
    require_met(ctas);
  }
  s.add_series(std::move(by_ctas));
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const Variant& v : kVariants) {
    assay::Case c{.name = v.form,
                  .params = {{"form", v.form}, {"threads", kThreads}},
                  .suite = v.cluster == 1 ? assay::Suite::quick : assay::Suite::full};
    if (v.cluster > 1) c.targets = assay::targets_with(assay::Feature::clusters);
    all.push_back(std::move(c));
  }
  return all;
}

const assay::Registration registration{{
    .name = "sync/grid",
    .question = "How many cycles does a barrier of the whole grid cost, by its CTAs?",
    .metrics = {{"latency_cycles", "Cycles of one barrier of a grid of one CTA for each SM."},
                {"latency_cycles_by_ctas", "Cycles of one barrier of the grid, by its CTAs."}},
    .cases = cases(),
    .kernels =
        [](const assay::Case& c, assay::Target target) {
          const Variant& v = variant_of(c);
          // The compiler moves parts of grid.sync() out of the loop.
          const bool own = v.kernel != grid_meet<kCooperative>;
          assay::KernelUse use{.kernel = v.name,
                               .sass = {{"BAR.SYNC|UCGABAR_WAIT", 2 * kBarriers},
                                        {own ? "RED|REDG" : "ATOM|ATOMG", kBarriers, INT_MAX,
                                         own ? assay::SassWhere::loop : assay::SassWhere::kernel}}};
          // grid.sync() calls a routine there, should the warp have diverged.
          use.emulated = !own && assay::has(target, assay::Feature::divergence_routines);
          return std::vector<assay::KernelUse>{use};
        },
    .run = run,
}};

}  // namespace
