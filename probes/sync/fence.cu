// SPDX-License-Identifier: Apache-2.0
// Memory fences by what they order and for whom, by the warps that fence at once, and by what is
// still under way: nothing, a store to shared memory or one to global memory from each thread
// before each fence. membar.cta, .gl and .sys are the sc ones.
//
// A fence at cluster or GPU scope is MEMBAR.ALL.GPU, ERRBAR and CCTL.IVALL, which empties L1, and
// the warp waits for all that came before. One at CTA scope only keeps the order of what goes
// through the SM's own memory pipe: a warp issues it and goes on.
//
// So it does behind fence.proxy.async (FENCE.VIEW.ASYNC), which only asynchronous copies and
// barriers wait for. Its figure is of the fence and the __syncthreads() that every use has before
// one thread starts the copy; the same loop without the fence is beside it. With .shared or .global
// alone, stores to the other kind of memory need not wait either.
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/state.hpp"

namespace {

constexpr int kFences = 8, kThreads = 1024, kWarp = 32;
constexpr int kWarps[] = {1, 4, 16, 32};
constexpr std::uint32_t kRounds = 200;  // of the check
enum Fence : int {
  kAcqRelCta,
  kAcqRelCluster,
  kAcqRelGpu,
  kAcqRelSys,
  kScCta,
  kScCluster,
  kScGpu,
  kScSys,
  kAsync,
  kAsyncGlobal,
  kAsyncShared,
  kBarrierOnly  // no fence
};
enum Stores : int { kNone, kToShared, kToGlobal };

template <int kFence>
__device__ void fence() {
  using assay::ptx::FenceScope;
  if constexpr (kFence <= kAcqRelSys) assay::ptx::fence_acq_rel<FenceScope{kFence}>();
  if constexpr (kFence >= kScCta && kFence <= kScSys)
    assay::ptx::fence_sc<FenceScope{kFence - kScCta}>();
  if constexpr (kFence == kAsync) assay::ptx::fence_proxy_async();
  if constexpr (kFence == kAsyncGlobal) assay::ptx::fence_proxy_async_global();
  if constexpr (kFence == kAsyncShared) assay::ptx::fence_proxy_async_shared();
}
template <int kFence>
constexpr bool exists() {
#if __CUDA_ARCH__ >= 900
  return true;
#else
  return kFence != kAcqRelCluster && kFence != kScCluster && kFence < kAsync;
#endif
}

template <int kFence, int kStores>
__global__ void __launch_bounds__(kThreads)
    fences(std::int64_t iterations, volatile std::uint32_t* words,
           assay::StopwatchRecord* records) {
  if constexpr (exists<kFence>()) {
    __shared__ volatile std::uint32_t shared[kThreads];
    [[maybe_unused]] volatile std::uint32_t& word = words[blockIdx.x * kThreads + threadIdx.x];
    const assay::Stopwatch stopwatch;
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int n = 0; n < kFences; ++n) {
        if constexpr (kStores == kToShared) shared[threadIdx.x] = static_cast<std::uint32_t>(i);
        if constexpr (kStores == kToGlobal) word = static_cast<std::uint32_t>(i);
        fence<kFence>();
        if constexpr (kFence >= kAsync) __syncthreads();
      }
    }
    stopwatch.stop(records);
  }
}

// One warp writes and tells another, which looks: once each way in a round. The message is written
// by ordinary stores, and only the fences on both sides put it before the flag.
template <int kFence>
__global__ void message(std::uint32_t* data, volatile std::uint32_t* flags, std::uint32_t* wrong) {
  if constexpr (exists<kFence>() && kFence < kAsync) {
    const unsigned lane = threadIdx.x % kWarp;
    const unsigned self = blockIdx.x + threadIdx.x / kWarp;  // two CTAs, or two warps of one
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      for (unsigned writer = 0; writer < 2; ++writer) {
        if (writer == self) {
          data[writer * kWarp + lane] = round * kWarp + lane;
          fence<kFence>();
          __syncwarp();
          if (lane == 0) flags[writer] = round;
        } else {
          while (flags[writer] < round) {
          }
          fence<kFence>();
          if (data[writer * kWarp + lane] != round * kWarp + lane) atomicAdd(wrong, 1);
        }
        __syncwarp();
      }
    }
  }
}

// A warp writes to shared memory or to global memory; an asynchronous copy takes it to the other.
template <int kFence>
__global__ void copied([[maybe_unused]] std::uint32_t* data,
                       [[maybe_unused]] std::uint32_t* wrong) {
#if __CUDA_ARCH__ >= 900
  __shared__ __align__(128) volatile std::uint32_t there[kWarp];
  __shared__ assay::ptx::Mbarrier barrier;
  const unsigned lane = threadIdx.x;
  volatile std::uint32_t* here = data;
  auto* buffer = const_cast<std::uint32_t*>(there);
  constexpr std::uint32_t kBytes = kWarp * sizeof(std::uint32_t);
  if (lane == 0) assay::ptx::mbarrier_init(&barrier, 1);
  assay::ptx::fence_mbarrier_init();
  __syncwarp();
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint32_t value = round * kWarp + lane + 1;
    if constexpr (kFence != kAsyncGlobal) {
      there[lane] = value;
      fence<kFence>();
      __syncwarp();
      if (lane == 0) {
        assay::ptx::bulk_store(data, buffer, kBytes);
        assay::ptx::bulk_commit();
        assay::ptx::bulk_wait<0>();
      }
      __syncwarp();
      if (here[lane] != value) atomicAdd(wrong, 1);
    }
    if constexpr (kFence != kAsyncShared) {
      here[lane] = ~value;
      fence<kFence>();
      __syncwarp();
      if (lane == 0) {
        assay::ptx::mbarrier_arrive_expect_tx(&barrier, kBytes);
        assay::ptx::bulk_load(buffer, data, kBytes, &barrier);
      }
      assay::ptx::mbarrier_wait_parity(&barrier, round % 2);
      if (there[lane] != ~value) atomicAdd(wrong, 1);
    }
    __syncwarp();
  }
#endif
}

using Kernel = void (*)(std::int64_t, volatile std::uint32_t*, assay::StopwatchRecord*);
using Message = void (*)(std::uint32_t*, volatile std::uint32_t*, std::uint32_t*);
using Copied = void (*)(std::uint32_t*, std::uint32_t*);
struct Variant {
  const char* name;
  Kernel kernels[3];  // by Stores
  Message message;
  Copied copied;
  const char* sass;
};
template <int kFence>
constexpr Variant variant(const char* name, const char* sass) {
  Variant v{name,
            {fences<kFence, kNone>, fences<kFence, kToShared>, fences<kFence, kToGlobal>},
            nullptr,
            nullptr,
            sass};
  if constexpr (kFence < kAsync)
    v.message = message<kFence>;
  else
    v.copied = copied<kFence>;
  return v;
}
constexpr Kernel kBarriers[] = {fences<kBarrierOnly, kNone>, fences<kBarrierOnly, kToShared>,
                                fences<kBarrierOnly, kToGlobal>};
constexpr Variant kVariants[] = {variant<kAcqRelCta>("acq_rel/cta", "MEMBAR.ALL.CTA"),
                                 variant<kAcqRelCluster>("acq_rel/cluster", "MEMBAR.ALL.GPU"),
                                 variant<kAcqRelGpu>("acq_rel/gpu", "MEMBAR.ALL.GPU"),
                                 variant<kAcqRelSys>("acq_rel/sys", "MEMBAR.ALL.SYS"),
                                 variant<kScCta>("sc/cta", "MEMBAR.SC.CTA"),
                                 variant<kScCluster>("sc/cluster", "MEMBAR.SC.GPU"),
                                 variant<kScGpu>("sc/gpu", "MEMBAR.SC.GPU"),
                                 variant<kScSys>("sc/sys", "MEMBAR.SC.SYS"),
                                 variant<kAsync>("proxy_async/all", "FENCE.VIEW.ASYNC"),
                                 variant<kAsyncGlobal>("proxy_async/global", "FENCE.VIEW.ASYNC"),
                                 variant<kAsyncShared>("proxy_async/shared", "FENCE.VIEW.ASYNC")};

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find(kVariants, c.name, [](const Variant& v) { return v.name; });
}

void require_order(assay::State& s, const Variant& v) {
  auto* words = s.allocate<std::uint32_t>(1024);
  assay::check(cudaMemsetAsync(words, 0, 1024 * sizeof *words, s.stream()));
  std::uint32_t *data = words, *flags = words + 256, *wrong = words + 512;
  if (v.copied) {
    v.copied<<<1, kWarp, 0, s.stream()>>>(data, wrong);
    assay::check(cudaGetLastError());
  } else {
    const bool one_cta = s.which().name.ends_with("/cta");
    const bool cluster = s.which().name.ends_with("/cluster");
    cudaLaunchAttribute pair = {};
    pair.id = cudaLaunchAttributeClusterDimension;
    pair.val.clusterDim = {2, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(one_cta ? 1 : 2);
    config.blockDim = dim3(one_cta ? 2 * kWarp : kWarp);
    config.stream = s.stream();
    config.attrs = &pair;
    config.numAttrs = cluster ? 1 : 0;
    assay::check(cudaLaunchKernelEx(&config, v.message, data, flags, wrong));
  }
  const std::uint32_t found = assay::download(wrong, 1, s.stream()).front();
  s.require(found == 0, "behind the fence, " + std::to_string(found) +
                            " words were not those that had been written before it");
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  const int ctas = s.device().sm_count;
  require_order(s, v);
  auto* words = s.allocate<std::uint32_t>(static_cast<std::size_t>(ctas) * kThreads);
  const auto with = [&](Kernel kernel, int warps) {
    return [=](const assay::Launch& l) {
      kernel<<<ctas, warps * kWarp, 0, l.stream>>>(l.iterations, words, l.records);
    };
  };
  s.cycles({.steps = kFences}, with(v.kernels[kNone], 1));
  const auto sweep = [&](const char* name, const Kernel(&kernels)[3]) {
    assay::Series series{
        name,
        "cycle",
        {{"stores", {std::string("none"), std::string("shared"), std::string("global")}},
         {"warps", {}}},
        {}};
    for (const int warps : kWarps) series.axes[1].points.emplace_back(std::int64_t{warps});
    for (const Kernel kernel : kernels)
      for (const int warps : kWarps) series.add(s.cycles_once(with(kernel, warps)) / kFences);
    return series;
  };
  assay::Series series = sweep("latency_cycles_by_warps", v.kernels);
  s.add_exact("latency_cycles_after_shared_store", "cycle", assay::Better::lower,
              series.values[std::size(kWarps)]);
  s.add_exact("latency_cycles_after_global_store", "cycle", assay::Better::lower,
              series.values[2 * std::size(kWarps)]);
  s.add_series(std::move(series));
  if (!v.copied) return;
  assay::Series without = sweep("latency_cycles_without_fence", kBarriers);
  s.add_exact("latency_cycles_of_barrier_alone", "cycle", assay::Better::lower, without.values[0]);
  s.add_series(std::move(without));
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const Variant& v : kVariants) {
    const std::string name = v.name;
    assay::Case c{.name = name,
                  .params = {{"order", name.substr(0, name.find('/'))},
                             {"scope", name.substr(name.find('/') + 1)},
                             {"threads", kWarp}},
                  .suite = name == "acq_rel/gpu" ? assay::Suite::quick : assay::Suite::full};
    if (v.copied) c.targets = assay::targets_with(assay::Feature::tma);
    if (name.ends_with("/cluster")) c.targets = assay::targets_with(assay::Feature::clusters);
    all.push_back(std::move(c));
  }
  return all;
}

const assay::Registration registration{{
    .name = "sync/fence",
    .question = "How many cycles does a fence cost, by its scope and by what is still under way, "
                "and proxy.async with the barrier behind it?",
    .metrics =
        {{"latency_cycles",
          "Cycles of one fence of one warp with nothing under way; of proxy_async, with the "
          "barrier behind it."},
         {"latency_cycles_by_warps",
          "Cycles of one fence, by the warps that fence at once and the store that is under way."},
         {"latency_cycles_after_shared_store",
          "Cycles of one fence behind a store to shared memory, of one warp."},
         {"latency_cycles_after_global_store",
          "Cycles of one fence behind a store to global memory, of one warp."},
         {"latency_cycles_of_barrier_alone",
          "Cycles of the barrier without the fence, of one warp with nothing under way."},
         {"latency_cycles_without_fence",
          "Cycles of the barrier without the fence, by warps and the store that is under way."}},
    .cases = cases(),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const Variant& v = variant_of(c);
          const std::string index = std::to_string(&v - kVariants);
          std::vector<assay::KernelUse> uses;
          for (const int stores : {kNone, kToShared, kToGlobal}) {
            assay::KernelUse use{.kernel = "fences<" + index + ", " + std::to_string(stores) + ">",
                                 .sass = {{v.sass, kFences, kFences}}};
            if (v.copied) use.sass.push_back({"BAR.SYNC", kFences, kFences});
            if (stores == kToShared) use.sass.push_back({"STS", kFences, kFences});
            if (stores == kToGlobal) use.sass.push_back({"STG", kFences, kFences});
            uses.push_back(std::move(use));
          }
          return uses;
        },
    .run = run,
}};

}  // namespace
