// SPDX-License-Identifier: Apache-2.0
// Distributed shared memory: latency and bandwidth of another CTA's shared memory by the size of
// the cluster and how many ranks away that CTA is. Distance 0 goes to the own memory through the
// cluster's window.
//
// For latency, the first CTA of each cluster chases round a ring of addresses in the other's memory
// (or sends a chain of atomics there); for bandwidth all CTAs read or write at once.
#include <algorithm>
#include <cmath>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/state.hpp"
#include "probes/memory/ring.hpp"

namespace {

constexpr int kThreads = 512, kSteps = 16, kRingBits = 10;
// Vectors of a thread: each of a loop is another, or ptxas makes one load of two.
constexpr int kAccesses = 4;
[[maybe_unused]] constexpr int kWords = 1 << kRingBits,
                               kVectors = kAccesses * kThreads;  // of the two buffers
constexpr int kSizes[] = {2, 4, 8, 16};
enum Operation : int { kLoadLatency, kAtomicLatency, kRead, kWrite };

constexpr bool is_chain(int operation) { return operation <= kAtomicLatency; }
constexpr int unroll(int operation) { return is_chain(operation) ? kSteps : kAccesses; }

struct Request {
  std::uint32_t distance;
  std::uint32_t zero;
  std::uint32_t* wrong;
};

#if __CUDA_ARCH__ >= 900
template <int kOperation>
__device__ void step(std::uint32_t& at, std::uint32_t vectors, std::uint32_t& sum, int i) {
  if constexpr (kOperation == kLoadLatency) {
    asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at)::"memory");
  } else if constexpr (kOperation == kAtomicLatency) {
    asm volatile("atom.relaxed.cluster.shared::cluster.or.b32 %0, [%0], 0;" : "+r"(at)::"memory");
  } else if constexpr (kOperation == kRead) {
    uint4 v;
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(vectors + i * kThreads * 16)
                 : "memory");
    sum += v.x + v.y + v.z + v.w;
  } else {
    asm volatile(
        "st.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(vectors + i * kThreads * 16),
        "r"(sum)
        : "memory");
  }
}
#endif

template <int kOperation>
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
  for (std::uint32_t t = threadIdx.x; t < kVectors; t += kThreads)
    vectors[t] = {rank + 1, rank + 1, rank + 1, rank + 1};
  assay::ptx::cluster_sync();

  const std::uint32_t target = (rank + request.distance) % size;
  const std::uint32_t ring = assay::ptx::map_shared_address(mine, target);
  std::uint32_t at = ring + assay::shuffle(0, kRingBits) * 4;
  std::uint32_t there =
      assay::ptx::map_shared_address(assay::ptx::shared_address(&vectors[threadIdx.x]), target);
  constexpr bool kChain = is_chain(kOperation);
  std::uint32_t sum = kOperation == kWrite ? size + target : 0;
  // Of a chain, the first thread of each cluster: the others wait at the end.
  if (!kChain || rank == 0) {
    if (!kChain || threadIdx.x < 32) {
      const std::uint64_t start_ns = assay::ptx::globaltimer();
      const std::uint64_t start = assay::ptx::clock64();
#pragma unroll 1
      for (std::int64_t n = 0; n < iterations; ++n) {
#pragma unroll
        for (int i = 0; i < unroll(kOperation); ++i) step<kOperation>(at, there, sum, i);
        there += request.zero;
      }
      // Stores are done when they can be seen.
      if constexpr (kOperation == kWrite) asm volatile("fence.acq_rel.cluster;" ::: "memory");
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
  }
  assay::ptx::cluster_sync();
  const auto steps = static_cast<std::uint32_t>(iterations * unroll(kOperation));
  bool right = true;
  if constexpr (kChain)
    right = rank != 0 || threadIdx.x >= 32 || at == ring + assay::shuffle(steps, kRingBits) * 4;
  else if constexpr (kOperation == kRead)
    right = sum == steps * 4 * (target + 1);
  else
    right = vectors[threadIdx.x].x == size + rank &&
            vectors[kVectors - 1 - threadIdx.x].w == size + rank;
  if (!right) atomicAdd(request.wrong, 1);
#endif
}

using Kernel = void (*)(std::int64_t, Request, assay::StopwatchRecord*);
struct Variant {
  const char *operation, *name;
  Kernel kernel;
  const char* sass;
  int unrolled;
};
constexpr Variant kVariants[] = {
    {"load_latency", "reach<0>", reach<kLoadLatency>, "LD.E", unroll(kLoadLatency)},
    {"atomic_latency", "reach<1>", reach<kAtomicLatency>, "ATOM.E.OR", unroll(kAtomicLatency)},
    {"read", "reach<2>", reach<kRead>, "LD.E.128", unroll(kRead)},
    {"write", "reach<3>", reach<kWrite>, "ST.E.128", unroll(kWrite)}};

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find(kVariants, c.text("operation"),
                            [](const Variant& v) { return v.operation; });
}

// Cycles of one access as the median SM saw them; NaN where no such cluster fits the GPU.
double measure(assay::State& s, const Variant& v, int size, std::uint32_t distance,
               std::uint32_t* wrong) {
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(size), 1, 1};
  cudaLaunchConfig_t config = {};
  config.blockDim = dim3(kThreads);
  config.gridDim = dim3(static_cast<unsigned>(size));
  config.attrs = &cluster;
  config.numAttrs = 1;
  config.stream = s.stream();
  int clusters = 0;
  const cudaError_t asked = cudaOccupancyMaxActiveClusters(&clusters, v.kernel, &config);
  if (asked != cudaSuccess || clusters == 0) {
    cudaGetLastError();  // the question is answered: not on this GPU
    return NAN;
  }
  // One CTA on each SM at most, so that nobody shares a port with another.
  clusters = std::min(clusters, s.device().sm_count / size);
  config.gridDim = dim3(static_cast<unsigned>(clusters * size));
  assay::check(cudaMemsetAsync(wrong, 0, sizeof(*wrong), s.stream()));
  const double cycles = s.cycles_once([&](const assay::Launch& l) {
    assay::check(cudaLaunchKernelEx(&config, v.kernel, l.iterations, Request{distance, 0, wrong},
                                    l.records));
  });
  s.require(assay::download(wrong, 1, s.stream()).front() == 0,
            "in a cluster of " + std::to_string(size) + ", rank " + std::to_string(distance) +
                " away: values are not what that CTA holds");
  return cycles / v.unrolled;
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  const bool latency = std::string(v.operation).ends_with("latency");
  assay::check(cudaFuncSetAttribute(v.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  auto* wrong = s.allocate<std::uint32_t>(1);
  assay::Series series{latency ? "latency_cycles" : "bytes_per_clock_per_sm",
                       latency ? "cycle" : "B/clk/SM",
                       {{"cluster", {}}, {"distance", {}}},
                       {}};
  for (std::int64_t distance = 0; distance < 16; ++distance)
    series.axes[1].points.emplace_back(distance);
  for (const int size : kSizes) {
    series.axes[0].points.emplace_back(std::int64_t{size});
    double sum = 0;
    int points = 0;
    for (int distance = 0; distance < 16; ++distance) {
      const double cycles =
          distance < size ? measure(s, v, size, static_cast<std::uint32_t>(distance), wrong) : NAN;
      const double value = latency ? cycles : kThreads * 16 / cycles;
      series.values.push_back(value);
      if (distance > 0 && std::isfinite(value)) {
        sum += value;
        ++points;
      }
    }
    if (points > 0)
      s.add_exact(
          (latency ? "latency_cycles_of_" : "bytes_per_clock_per_sm_of_") + std::to_string(size),
          series.unit, latency ? assay::Better::lower : assay::Better::higher, sum / points);
  }
  s.add_series(std::move(series));
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
    .question =
        "How far and how wide is another CTA's shared memory, by cluster size and distance?",
    .cases = cases(),
    .targets = assay::targets_from(assay::Target::sm_90a),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const Variant& v = variant_of(c);
          return std::vector<assay::KernelUse>{
              {.kernel = v.name, .sass = {{v.sass, v.unrolled, v.unrolled}}}};
        },
    .run = run,
}};

}  // namespace
