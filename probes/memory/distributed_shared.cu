// SPDX-License-Identifier: Apache-2.0
// Distributed shared memory: latency and bandwidth of another CTA's shared memory by the size of
// the cluster and how many ranks away that CTA is. Distance 0 goes to the own memory through the
// cluster's window.
//
// For latency, the first CTA of each cluster chases round a ring of addresses in the other's memory
// (or sends a chain of atomics there that change nothing); for bandwidth all CTAs read, write or
// send atomics at once, each thread to words of its own.
//
// The mean over distances is of all ways through a cluster. A ring, in which each CTA reads from
// the next rank, is distance 1 alone; fewer threads than all of a CTA may read more there, since
// fewer requests stand in each other's way. The best of that is the ring's figure.
#include <algorithm>
#include <cmath>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/state.hpp"
#include "probes/memory/cluster_sweep.hpp"
#include "probes/memory/ring.hpp"

namespace {

constexpr int kThreads = 512, kSteps = 16, kRingBits = 10;
// Vectors of a thread: each of a loop is another, or ptxas makes one load of two.
constexpr int kAccesses = 4;
[[maybe_unused]] constexpr int kWords = 1 << kRingBits,
                               kVectors = kAccesses * kThreads;  // of the two buffers
enum Operation : int { kLoad, kStore, kOr, kAdd, kMin, kMax, kCas };

[[maybe_unused]] constexpr bool is_atomic(int operation) { return operation >= kOr; }
constexpr int unroll(bool chain) { return chain ? kSteps : kAccesses; }

struct Request {
  std::uint32_t distance;
  std::uint32_t zero;
  std::uint32_t* wrong;
};

#if __CUDA_ARCH__ >= 900
// What was at `at`, which becomes old | operand, old + operand, ..., or, if it is 0, the operand.
template <int kOperation>
__device__ std::uint32_t atomic(std::uint32_t at, std::uint32_t operand) {
  if constexpr (kOperation == kOr)
    return assay::ptx::cluster_fetch_or(at, operand);
  else if constexpr (kOperation == kAdd)
    return assay::ptx::cluster_fetch_add(at, operand);
  else if constexpr (kOperation == kMin)
    return assay::ptx::cluster_fetch_min(at, operand);
  else if constexpr (kOperation == kMax)
    return assay::ptx::cluster_fetch_max(at, operand);
  else
    return assay::ptx::cluster_compare_and_swap(at, 0, operand);
}
#endif

// An operand that leaves every address as it is.
template <int kOperation>
[[maybe_unused]] constexpr std::uint32_t kKeeps = kOperation == kMin ? ~0u : 0u;

// What vector word x holds after `times` atomics with operand 3 on 5.
template <int kOperation>
__host__ __device__ constexpr std::uint32_t after(std::uint32_t times) {
  return kOperation == kOr    ? 7
         : kOperation == kAdd ? 5 + 3 * times
         : kOperation == kMin ? 3
                              : 5;  // max; and compare-and-swap, which finds no 0
}

// Of the ring (chain) or the vectors of this thread, `there` or beyond.
template <int kOperation, bool kChain>
__device__ void step(std::uint32_t& at, std::uint32_t there, std::uint32_t& sum, int i) {
#if __CUDA_ARCH__ >= 900
  const std::uint32_t vector = there + i * kThreads * 16;
  if constexpr (is_atomic(kOperation)) {
    if constexpr (kChain)
      at = atomic<kOperation>(at, kKeeps<kOperation>);
    else
      sum += atomic<kOperation>(vector, 3);
  } else if constexpr (kChain) {
    at = assay::ptx::cluster_load_weak_u32(at);
  } else if constexpr (kOperation == kLoad) {
    const uint4 v = assay::ptx::cluster_load_v4(vector);
    sum += v.x + v.y + v.z + v.w;
  } else {
    assay::ptx::cluster_store_v4(vector, {sum, sum, sum, sum});
  }
#endif
}

template <int kOperation, bool kChain>
__global__ void __launch_bounds__(kThreads)
    reach(std::int64_t iterations, Request request, assay::StopwatchRecord* records) {
#if __CUDA_ARCH__ >= 900
  __shared__ std::uint32_t words[kWords];
  __shared__ uint4 vectors[kVectors];
  const std::uint32_t rank = assay::ptx::cluster_cta_rank();
  const std::uint32_t size = assay::ptx::cluster_cta_count();
  const std::uint32_t mine = assay::ptx::shared_address(words);
  // Words name their successor as the CTA that walks here will see it.
  for (std::uint32_t t = threadIdx.x; t < kWords; t += kThreads)
    words[assay::shuffle(t, kRingBits)] =
        assay::ptx::map_shared_address(mine, rank) + assay::shuffle(t + 1, kRingBits) * 4;
  const std::uint32_t at_first = is_atomic(kOperation) ? 5 : rank + 1;
  for (std::uint32_t t = threadIdx.x; t < kVectors; t += kThreads)
    vectors[t] = {at_first, at_first, at_first, at_first};
  assay::ptx::cluster_sync();

  const std::uint32_t target = (rank + request.distance) % size;
  const std::uint32_t ring = assay::ptx::map_shared_address(mine, target);
  std::uint32_t at = ring + assay::shuffle(0, kRingBits) * 4;
  std::uint32_t there =
      assay::ptx::map_shared_address(assay::ptx::shared_address(&vectors[threadIdx.x]), target);
  std::uint32_t sum = kOperation == kStore ? size + target : 0;
  // Of a chain, the first thread of each cluster: the others wait at the end.
  if (!kChain || (rank == 0 && threadIdx.x < 32)) {
    const std::uint64_t start_ns = assay::ptx::globaltimer();
    const std::uint64_t start = assay::ptx::clock64();
#pragma unroll 1
    for (std::int64_t n = 0; n < iterations; ++n) {
#pragma unroll
      for (int i = 0; i < unroll(kChain); ++i) step<kOperation, kChain>(at, there, sum, i);
      there += request.zero;
    }
    // Stores are done when they can be seen.
    if constexpr (kOperation == kStore)
      assay::ptx::fence_acq_rel<assay::ptx::FenceScope::cluster>();
    const std::uint64_t stop = assay::ptx::clock64();
    const std::uint64_t stop_ns = assay::ptx::globaltimer();
    if (threadIdx.x % 32 == 0) {
      assay::StopwatchRecord& record = records[blockIdx.x];
      atomicMax(reinterpret_cast<unsigned long long*>(&record.stop_clock), stop);
      atomicMax(reinterpret_cast<unsigned long long*>(&record.stop_ns), stop_ns);
      if (threadIdx.x == 0) {
        record.start_clock = start;
        record.start_ns = start_ns;
        record.sm = assay::ptx::smid();
      }
    }
  }
  assay::ptx::cluster_sync();
  const auto steps = static_cast<std::uint32_t>(iterations * unroll(kChain));
  const uint4 &first = vectors[threadIdx.x], &last = vectors[kVectors - 1 - threadIdx.x];
  bool right = true;
  if constexpr (kChain)
    right = rank != 0 || threadIdx.x >= 32 || at == ring + assay::shuffle(steps, kRingBits) * 4;
  else if constexpr (is_atomic(kOperation))
    right = first.x == after<kOperation>(steps / kAccesses) && last.x == first.x && last.w == 5;
  else if constexpr (kOperation == kLoad)
    right = sum == steps * 4 * (target + 1);
  else
    right = first.x == size + rank && last.w == size + rank;
  if (is_atomic(kOperation) && sum == ~0u) right = false;  // what they returned is wanted
  if (!right) atomicAdd(request.wrong, 1);
#endif
}

using Kernel = void (*)(std::int64_t, Request, assay::StopwatchRecord*);
struct Variant {
  const char *operation, *name;
  Kernel kernel;
  const char* sass;
  bool chain, atomic;
};
constexpr Variant kVariants[] = {
    {"load_latency", "reach<0, true>", reach<kLoad, true>, "LD.E", true, false},
    {"atomic_latency", "reach<2, true>", reach<kOr, true>, "ATOM.E.OR", true, true},
    {"add_latency", "reach<3, true>", reach<kAdd, true>, "ATOM.E.ADD", true, true},
    {"min_latency", "reach<4, true>", reach<kMin, true>, "ATOM.E.MIN", true, true},
    {"max_latency", "reach<5, true>", reach<kMax, true>, "ATOM.E.MAX", true, true},
    {"cas_latency", "reach<6, true>", reach<kCas, true>, "ATOM.E.CAS", true, true},
    {"read", "reach<0, false>", reach<kLoad, false>, "LD.E.128", false, false},
    {"write", "reach<1, false>", reach<kStore, false>, "ST.E.128", false, false},
    {"add", "reach<3, false>", reach<kAdd, false>, "ATOM.E.ADD", false, true},
    {"min", "reach<4, false>", reach<kMin, false>, "ATOM.E.MIN", false, true},
    {"max", "reach<5, false>", reach<kMax, false>, "ATOM.E.MAX", false, true},
    {"cas", "reach<6, false>", reach<kCas, false>, "ATOM.E.CAS", false, true}};

constexpr int kRingThreads[] = {64, 128, 256, 512};

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find(kVariants, c.text("operation"),
                            [](const Variant& v) { return v.operation; });
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  auto* wrong = s.allocate<std::uint32_t>(1);
  const auto cycles_of = [&](const cudaLaunchConfig_t& config, std::uint32_t distance) {
    assay::check(cudaMemsetAsync(wrong, 0, sizeof(*wrong), s.stream()));
    const assay::Estimate cycles = s.cycles_once([&](const assay::Launch& l) {
      assay::check(cudaLaunchKernelEx(&config, v.kernel, l.iterations, Request{distance, 0, wrong},
                                      l.records));
    });
    s.require(assay::download(wrong, 1, s.stream()).front() == 0,
              std::to_string(distance) + " ranks away, in clusters of " +
                  std::to_string(config.attrs->val.clusterDim.x) +
                  ", values are not what that CTA holds");
    return cycles / unroll(v.chain);
  };
  const assay::ClusterKernel kernel{reinterpret_cast<const void*>(v.kernel), kThreads};
  if (v.chain)
    assay::sweep_clusters(s, kernel, "latency_cycles", "cycle", assay::Better::lower, 0, cycles_of);
  else
    assay::sweep_clusters(s, kernel, v.atomic ? "ops_per_clock_per_sm" : "bytes_per_clock_per_sm",
                          v.atomic ? "op/clk/SM" : "B/clk/SM", assay::Better::higher, 0,
                          [&](const cudaLaunchConfig_t& config, std::uint32_t distance) {
                            return kThreads * (v.atomic ? 1 : 16) / cycles_of(config, distance);
                          });
  if (v.operation != std::string("read")) return;
  // Every thread reads what the one of its number wrote, so that fewer are right too.
  assay::Series rings{.name = "ring_bytes_per_clock_per_sm",
                      .unit = "B/clk/SM",
                      .axes = {{"cluster", {}}, {"threads", {}}}};
  for (const int threads : kRingThreads) rings.axes[1].points.emplace_back(std::int64_t{threads});
  for (const int size : assay::kClusterSizes) {
    rings.axes[0].points.emplace_back(std::int64_t{size});
    double best = 0;
    for (const int threads : kRingThreads) {
      assay::Estimate ring = NAN;
      assay::with_clusters(s, {kernel.kernel, threads}, size,
                           [&](const cudaLaunchConfig_t& config) {
                             ring = threads * 16 / cycles_of(config, 1);
                             best = std::max(best, ring.value);
                           });
      rings.add(ring);
    }
    if (best > 0)
      s.add_exact("ring_bytes_per_clock_per_sm_of_" + std::to_string(size), "B/clk/SM",
                  assay::Better::higher, best);
  }
  s.add_series(std::move(rings));
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const Variant& v : kVariants)
    all.push_back(
        {.name = v.operation, .params = {{"operation", v.operation}}, .suite = assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "memory/distributed_shared",
    .question = "What are the latency and bandwidth of another CTA's shared memory, by cluster "
                "size and distance?",
    .metrics = {{"latency_cycles",
                 "Cycles of a dependent access to another CTA's shared memory, by cluster size and "
                 "distance."},
                {"bytes_per_clock_per_sm",
                 "Bytes that each CTA moves in a cycle, by cluster size and distance."},
                {"ops_per_clock_per_sm",
                 "Atomics that each CTA sends in a cycle, by cluster size and distance."},
                {"latency_cycles_of_*",
                 "Cycles of a dependent access to another CTA's shared memory, the mean over "
                 "distances in clusters of *."},
                {"bytes_per_clock_per_sm_of_*",
                 "Bytes that each CTA moves in a cycle, the mean over all distances but 0 in "
                 "clusters of * CTAs."},
                {"ring_bytes_per_clock_per_sm",
                 "Bytes that each CTA reads in a cycle from the next rank, by cluster size and the "
                 "threads of a CTA that read."},
                {"ring_bytes_per_clock_per_sm_of_*",
                 "Bytes that each CTA reads in a cycle from the next rank in clusters of * CTAs, "
                 "with as many threads as is best."},
                {"ops_per_clock_per_sm_of_*",
                 "Atomics that each CTA sends in a cycle, the mean over all distances but 0 in "
                 "clusters of * CTAs."}},
    .cases = cases(),
    .targets = assay::targets_with(assay::Feature::clusters),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const Variant& v = variant_of(c);
          return std::vector<assay::KernelUse>{
              {.kernel = v.name, .sass = {{v.sass, unroll(v.chain), unroll(v.chain)}}}};
        },
    .run = run,
}};

}  // namespace
