// SPDX-License-Identifier: Apache-2.0
// The barrier of a cluster, by its size, its threads and what it orders: with release and acquire,
// as cluster.sync() of cooperative groups has it, and relaxed, which only keeps CTAs in step. The
// release is a fence of the whole GPU (MEMBAR.ALL.GPU, ptxas 13.0), the acquire empties L1: the
// difference between the two is what sync/fence/acq_rel/gpu shows.
//
// CTAs are counted outside the SM even where a cluster has only one. The spread of that one over
// the SMs (49 to 74 cycles on an H200) is how far they are from there; a larger cluster waits for
// its farthest SM, so that sizes beyond some point cost the same. latency_ns is the slowest SM's.
#include <cmath>
#include <string>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/state.hpp"
#include "probes/sync/cluster_launch.hpp"

namespace {

constexpr int kBarriers = 16;  // in one iteration
[[maybe_unused]] constexpr int kLatenessCycles = 2000;

template <bool kRelaxed>
__device__ void cluster_barrier() {
  if constexpr (kRelaxed)
    assay::ptx::cluster_arrive_relaxed();
  else
    assay::ptx::cluster_arrive();
  assay::ptx::cluster_wait();
}

// The size is fixed: else ptxas asks before each barrier whether there is a cluster at all.
template <int kCluster, bool kRelaxed>
__global__ void __launch_bounds__(1024)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __cluster_dims__(kCluster, 1, 1)
#endif
        cluster_meet(std::int64_t iterations, std::uint32_t* early,
                     assay::StopwatchRecord* records) {
#if __CUDA_ARCH__ >= 900
  __shared__ volatile std::uint32_t arrived;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int barrier = 0; barrier < kBarriers; ++barrier) cluster_barrier<kRelaxed>();
  }
  stopwatch.stop(records);
  // Each CTA in turn comes late; who passes before it has arrived sees that in its shared memory,
  // where it counts the rounds: they are written and read over the cluster's window, so that no
  // cache stands between.
  const std::uint32_t rank = assay::ptx::cluster_cta_rank();
  if (threadIdx.x == 0) arrived = 0;
  assay::ptx::cluster_sync();
  const std::uint32_t mine = assay::ptx::shared_address(const_cast<std::uint32_t*>(&arrived));
  for (std::uint32_t round = 0; round < kCluster; ++round) {
    if (rank == round)
      for (const auto begin = assay::ptx::clock64();
           assay::ptx::clock64() - begin < kLatenessCycles;) {
      }
    if (threadIdx.x == 0) arrived = round + 1;
    __syncthreads();
    cluster_barrier<kRelaxed>();
    if (threadIdx.x < kCluster) {
      const std::uint32_t there =
          assay::ptx::cluster_load_u32(assay::ptx::map_shared_address(mine, threadIdx.x));
      if (there < round + 1) atomicAdd(early, 1);
    }
  }
  assay::ptx::cluster_sync();  // nobody leaves while others read
#endif
}

using Kernel = void (*)(std::int64_t, std::uint32_t*, assay::StopwatchRecord*);
struct Size {
  int ctas;
  Kernel ordered, relaxed;
};
constexpr Size kSizes[] = {
    {1, cluster_meet<1, false>, cluster_meet<1, true>},
    {2, cluster_meet<2, false>, cluster_meet<2, true>},
    {4, cluster_meet<4, false>, cluster_meet<4, true>},
    {8, cluster_meet<8, false>, cluster_meet<8, true>},
    {16, cluster_meet<16, false>, cluster_meet<16, true>},
};
constexpr int kThreads[] = {32, 128, 256, 512, 1024};

bool relaxed(const assay::Case& c) { return c.text("order") == "relaxed"; }

void run(assay::State& s) {
  const Size* size = kSizes;
  while (size->ctas != s.i64("cluster")) ++size;
  const auto* kernel =
      reinterpret_cast<const void*>(relaxed(s.which()) ? size->relaxed : size->ordered);
  auto* early = s.allocate<std::uint32_t>(1);
  assay::check(cudaMemsetAsync(early, 0, sizeof *early, s.stream()));
  const auto with = [&](const assay::ClusterLaunch& launch) {
    return [&launch, early](const assay::Launch& l) { launch(l.iterations, early, l.records); };
  };
  const assay::ClusterLaunch of_128(s, kernel, 128, size->ctas);
  if (of_128.clusters() == 0)
    s.skip("this GPU has no clusters of " + std::to_string(size->ctas) + " CTAs");
  s.cycles({.steps = kBarriers}, with(of_128));
  assay::Series by_threads{"latency_cycles_by_threads", "cycle", {{"threads", {}}}, {}};
  for (const int threads : kThreads) {
    by_threads.axes[0].points.emplace_back(std::int64_t{threads});
    const assay::ClusterLaunch launch(s, kernel, threads, size->ctas);
    by_threads.add(launch.clusters() > 0 ? s.cycles_once(with(launch)) / kBarriers
                                         : assay::Estimate(NAN));
  }
  s.add_series(std::move(by_threads));
  s.add_exact("clusters", "", assay::Better::higher, of_128.clusters());
  s.require(assay::download(early, 1, s.stream()).front() == 0,
            "a CTA left the barrier before all of its cluster had arrived");
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const char* order : {"release_acquire", "relaxed"})
    for (const Size& size : kSizes)
      all.push_back({.name = std::string(order) + "/" + std::to_string(size.ctas),
                     .params = {{"order", order}, {"cluster", size.ctas}, {"threads", 128}},
                     .suite = size.ctas == 2 ? assay::Suite::quick : assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "sync/cluster",
    .question = "How many cycles does a cluster's barrier cost, by its CTAs?",
    .metrics = {{"latency_cycles",
                 "Cycles of one barrier of the cluster, with CTAs of 128 threads."},
                {"latency_cycles_by_threads",
                 "Cycles of one barrier of the cluster, by the threads of a CTA."},
                {"clusters", "Clusters that run at once."}},
    .cases = cases(),
    .targets = assay::targets_with(assay::Feature::clusters),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const std::int64_t size = c.i64("cluster");
          const bool light = relaxed(c);
          assay::KernelUse use{.kernel = "cluster_meet<" + std::to_string(size) + ", " +
                                         (light ? "true" : "false") + ">",
                               .sass = {{"UCGABAR_WAIT", kBarriers, kBarriers},
                                        {"UCGABAR_ARV", kBarriers, kBarriers}}};
          if (light)
            use.sass.push_back({"MEMBAR", 0, 0});
          else
            use.sass.push_back({"MEMBAR.ALL.GPU", kBarriers, kBarriers});
          return std::vector<assay::KernelUse>{use};
        },
    .run = run,
}};

}  // namespace
