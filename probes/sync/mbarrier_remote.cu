// SPDX-License-Identifier: Apache-2.0
// mbarriers across the CTAs of a cluster, by its size:
//   hand_over   a warp of CTA 0 arrives at a barrier in another CTA, by one lane, and waits for the
//               answer: the time of one way, for each CTA of the cluster
//   ordered     the same with release and acquire at cluster scope. The release becomes a fence of
//               the whole GPU (MEMBAR.ALL.GPU, ptxas 13.0)
//   all_to_all  a barrier of the cluster made of them: of each CTA, one lane arrives at one CTA's
//               barrier, and all its threads wait for their own
#include <algorithm>
#include <cmath>
#include <string>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/state.hpp"
#include "probes/sync/cluster_launch.hpp"

namespace {

constexpr int kRounds = 16;  // in one iteration; even, so that each starts at parity 0
constexpr int kThreads = 128;
[[maybe_unused]] constexpr int kLatenessCycles = 2000;
constexpr int kSizes[] = {2, 4, 8, 16};

#if __CUDA_ARCH__ >= 900
template <bool kOrder>
__device__ void arrive_at(assay::ptx::Mbarrier* barrier, std::uint32_t rank) {
  if constexpr (kOrder)
    assay::ptx::mbarrier_arrive_remote_release(barrier, rank);
  else
    assay::ptx::mbarrier_arrive_remote(barrier, rank);
}
template <bool kOrder>
__device__ void wait(assay::ptx::Mbarrier* barrier, std::uint32_t parity) {
  if constexpr (kOrder)
    while (!assay::ptx::mbarrier_try_wait_parity_cluster(barrier, parity)) {
    }
  else
    assay::ptx::mbarrier_wait_parity(barrier, parity);
}
template <bool kOrder>
__device__ void arrive_warp_at(assay::ptx::Mbarrier* barrier, std::uint32_t rank) {
  __syncwarp();
  if (threadIdx.x == 0) arrive_at<kOrder>(barrier, rank);
}
template <bool kOrder>
__device__ void all_to_all(assay::ptx::Mbarrier* barrier, std::uint32_t size,
                           std::uint32_t parity) {
  __syncthreads();  // all of the CTA have come
  if (threadIdx.x < size) arrive_at<kOrder>(barrier, threadIdx.x);
  wait<kOrder>(barrier, parity);
}
#endif

// CTAs 0 and `partner` of each cluster take turns, a warp of each. One lane arrives, when all have
// seen what the warp waited for.
template <bool kOrder>
__global__ void __launch_bounds__(kThreads)
    hand_over(std::int64_t iterations, std::uint32_t partner, std::uint32_t* wrong,
              assay::StopwatchRecord* records) {
#if __CUDA_ARCH__ >= 900
  __shared__ assay::ptx::Mbarrier barrier;
  const std::uint32_t rank = assay::ptx::cluster_cta_rank();
  if (threadIdx.x == 0) assay::ptx::mbarrier_init(&barrier, 1);
  assay::ptx::fence_mbarrier_init();
  assay::ptx::cluster_sync();
  const assay::Stopwatch stopwatch;
  const bool first_warp = threadIdx.x < 32;
  if (first_warp && rank == 0) {
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        arrive_warp_at<kOrder>(&barrier, partner);
        wait<kOrder>(&barrier, round % 2);
      }
    }
  } else if (first_warp && rank == partner) {
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        wait<kOrder>(&barrier, round % 2);
        arrive_warp_at<kOrder>(&barrier, 0);
      }
    }
  }
  if (rank == 0) stopwatch.stop(records);
  assay::ptx::cluster_sync();
  // An even number of phases has ended at the two, none elsewhere, and the next one has not.
  if (threadIdx.x == 0 && (!assay::ptx::mbarrier_test_wait_parity(&barrier, 1) ||
                           assay::ptx::mbarrier_test_wait_parity(&barrier, 0)))
    atomicAdd(wrong, 1);
#endif
}

template <bool kOrder>
__global__ void __launch_bounds__(kThreads)
    meet_all(std::int64_t iterations, std::uint32_t, std::uint32_t* wrong,
             assay::StopwatchRecord* records) {
#if __CUDA_ARCH__ >= 900
  __shared__ assay::ptx::Mbarrier barrier;
  __shared__ volatile std::uint32_t arrived;
  const std::uint32_t rank = assay::ptx::cluster_cta_rank();
  const std::uint32_t size = assay::ptx::cluster_cta_count();
  if (threadIdx.x == 0) {
    assay::ptx::mbarrier_init(&barrier, size);
    arrived = 0;
  }
  assay::ptx::fence_mbarrier_init();
  assay::ptx::cluster_sync();
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) all_to_all<kOrder>(&barrier, size, round % 2);
  }
  stopwatch.stop(records);
  // Each CTA in turn comes late, and all the others see that it has arrived when they go on.
  const std::uint32_t mine = assay::ptx::shared_address(const_cast<std::uint32_t*>(&arrived));
  for (std::uint32_t round = 0; round < size; ++round) {
    if (rank == round)
      for (const auto begin = assay::ptx::clock64();
           assay::ptx::clock64() - begin < kLatenessCycles;) {
      }
    if (threadIdx.x == 0) arrived = round + 1;
    all_to_all<true>(&barrier, size, round % 2);
    if (threadIdx.x < size) {
      const std::uint32_t there =
          assay::ptx::cluster_load_u32(assay::ptx::map_shared_address(mine, threadIdx.x));
      if (there < round + 1) atomicAdd(wrong, 1);
    }
  }
  assay::ptx::cluster_sync();  // nobody leaves while others read
#endif
}

using Kernel = void (*)(std::int64_t, std::uint32_t, std::uint32_t*, assay::StopwatchRecord*);
struct Variant {
  const char *form, *name;
  Kernel kernel;
  bool each_partner, ordered;
};
constexpr Variant kVariants[] = {
    {"hand_over", "hand_over<false>", hand_over<false>, true, false},
    {"hand_over_ordered", "hand_over<true>", hand_over<true>, true, true},
    {"all_to_all", "meet_all<false>", meet_all<false>, false, false},
    {"all_to_all_ordered", "meet_all<true>", meet_all<true>, false, true}};

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find(kVariants, c.text("form"), [](const Variant& v) { return v.form; });
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  auto* wrong = s.allocate<std::uint32_t>(1);
  assay::check(cudaMemsetAsync(wrong, 0, sizeof *wrong, s.stream()));
  const int most = v.each_partner ? 16 : 2;  // ranks up to it, exclusive
  const int steps = kRounds * (v.each_partner ? 2 : 1);
  const auto with = [&](const assay::ClusterLaunch& launch, std::uint32_t rank) {
    return [&launch, rank, wrong](const assay::Launch& l) {
      launch(l.iterations, rank, wrong, l.records);
    };
  };
  {
    const assay::ClusterLaunch pairs(s, reinterpret_cast<const void*>(v.kernel), kThreads, 2);
    if (pairs.clusters() == 0) s.skip("this GPU has no clusters of CTAs");
    s.cycles({.steps = static_cast<double>(steps)}, with(pairs, 1));
  }
  assay::Series series{"latency_cycles", "cycle", {{"cluster", {}}, {"rank", {}}}, {}};
  for (int rank = 1; rank < most; ++rank) series.axes[1].points.emplace_back(std::int64_t{rank});
  for (const int size : kSizes) {
    const assay::ClusterLaunch launch(s, reinterpret_cast<const void*>(v.kernel), kThreads, size);
    series.axes[0].points.emplace_back(std::int64_t{size});
    double sum = 0;
    int points = 0;
    for (std::uint32_t rank = 1; rank < static_cast<std::uint32_t>(most); ++rank) {
      assay::Estimate cycles = NAN;
      if (launch.clusters() > 0 && rank < static_cast<std::uint32_t>(size)) {
        cycles = s.cycles_once(with(launch, rank)) / steps;
        sum += cycles;
        ++points;
      }
      series.add(cycles);
    }
    s.require(assay::download(wrong, 1, s.stream()).front() == 0,
              "in a cluster of " + std::to_string(size) +
                  ": a barrier let threads through that should have waited");
    if (points > 0)
      s.add_exact("latency_cycles_of_" + std::to_string(size), "cycle", assay::Better::lower,
                  sum / points);
  }
  s.add_series(std::move(series));
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const Variant& v : kVariants)
    all.push_back(
        {.name = v.form,
         .params = {{"form", v.form}, {"threads", v.each_partner ? 32 : kThreads}, {"cluster", 2}},
         .suite = assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "sync/mbarrier_remote",
    .question = "How many cycles does it take to arrive at another CTA's mbarrier, by the size of "
                "the cluster?",
    .metrics =
        {{"latency_cycles",
          "Cycles of one hand-over, or of one barrier of the cluster, by its size and the other "
          "CTA's rank."},
         {"latency_cycles_of_*",
          "Cycles of one hand-over or barrier in a cluster of * CTAs, the mean over the ranks."}},
    .cases = cases(),
    .targets = assay::targets_with(assay::Feature::clusters),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const Variant& v = variant_of(c);
          assay::KernelUse use{
              .kernel = v.name,
              .sass = {{"SYNCS.ARRIVE.TRANS64.RED", kRounds}, {"SYNCS.PHASECHK", kRounds}}};
          if (v.ordered)
            use.sass.push_back({"MEMBAR.ALL.GPU", kRounds});
          else
            use.sass.push_back({"MEMBAR", 0, 0});
          return std::vector<assay::KernelUse>{use};
        },
    .run = run,
}};

}  // namespace
