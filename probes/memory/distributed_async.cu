// SPDX-License-Identifier: Apache-2.0
// Asynchronous writes to another CTA's shared memory, by st.async and by bulk copies from shared to
// shared memory: both tell an mbarrier over there that so many bytes have arrived.
//
// Latency: the first CTA of a cluster and the one `distance` ranks on send one message to and fro;
// half a round is the time from its issue until the thread that waits for it goes on.
//
// Bandwidth: every CTA sends one part after another to the CTA `distance` ranks on and takes in as
// many from the other side, at most kAhead parts ahead of what has come. CTAs send in rings of up
// to 16; along one of them a CTA can get ahead of the next by kAhead parts for each of the others,
// so that each part has a barrier of its own among kBarriers, which nobody needs twice at a time.
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/state.hpp"
#include "probes/memory/cluster_sweep.hpp"

namespace {

constexpr int kThreads = 512, kSteps = 16;
constexpr std::uint32_t kPartBytes = 32 << 10;
constexpr int kPartVectors = kPartBytes / (kThreads * 16);  // of a thread
[[maybe_unused]] constexpr std::uint32_t kAhead = 4;
[[maybe_unused]] constexpr std::uint32_t kBarriers = kAhead * assay::kMostClusterCtas;
enum Operation : int { kStore, kBulk };

struct Request {
  std::uint32_t distance, bytes;  // of a message
  std::uint32_t* wrong;
};

struct alignas(128) Shared {
  uint4 out[kPartBytes / 16], in[kPartBytes / 16];
  std::uint64_t barriers[kAhead * assay::kMostClusterCtas];
};

#if __CUDA_ARCH__ >= 900
__device__ uint4 word_of(std::uint32_t rank, std::uint32_t place) {
  return {rank + 1, place, rank ^ place, 77};
}
__device__ bool same(const uint4& a, const uint4& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

// `out` holds what this CTA sends, `in` nothing, and each barrier waits for one announcement.
__device__ void prepare(Shared& shared, std::uint32_t rank) {
  for (std::uint32_t i = threadIdx.x; i < kPartBytes / 16; i += kThreads) {
    shared.out[i] = word_of(rank, i);
    shared.in[i] = {};
  }
  if (threadIdx.x < kBarriers) assay::ptx::mbarrier_init(&shared.barriers[threadIdx.x], 1);
  assay::ptx::fence_mbarrier_init();
  assay::ptx::fence_proxy_async_shared();
  assay::ptx::cluster_sync();
}

__device__ void record(assay::StopwatchRecord* records, std::uint64_t start,
                       std::uint64_t start_ns) {
  const std::uint64_t stop = assay::ptx::clock64();
  const std::uint64_t stop_ns = assay::ptx::globaltimer();
  records[blockIdx.x] = {start, stop, start_ns, stop_ns, assay::ptx::smid(), 0};
}
#endif

template <int kOperation>
__global__ void __launch_bounds__(kThreads)
    exchange(std::int64_t iterations, Request request, assay::StopwatchRecord* records) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ Shared shared[];
  const std::uint32_t rank = assay::ptx::cluster_cta_rank();
  prepare(*shared, rank);
  const bool leads = rank == 0;
  const std::uint32_t peer = leads ? request.distance : 0;
  const auto at_peer = [&](const void* mine) {
    return assay::ptx::map_shared_address(assay::ptx::shared_address(mine), peer);
  };
  const std::uint32_t to = at_peer(shared->in), barrier = at_peer(shared->barriers);
  const std::uint32_t from = assay::ptx::shared_address(shared->out);
  const uint4 message = word_of(rank, 0);
  if ((leads || rank == request.distance) && threadIdx.x < 32 && assay::ptx::elect_one()) {
    const std::uint64_t start_ns = assay::ptx::globaltimer();
    const std::uint64_t start = assay::ptx::clock64();
    std::uint32_t parity = 0;
    const auto send = [&] {
      if constexpr (kOperation == kStore)
        assay::ptx::cluster_store_async_v4(to, message, barrier);
      else
        assay::ptx::cluster_copy_bulk(to, from, request.bytes, barrier);
    };
    const auto receive = [&] {
      assay::ptx::mbarrier_wait_parity(shared->barriers, parity);
      parity ^= 1;
    };
#pragma unroll 1
    for (std::int64_t n = 0; n < iterations * kSteps; ++n) {
      // Announced before it can arrive.
      assay::ptx::mbarrier_arrive_expect_tx(shared->barriers, request.bytes);
      if (leads) send();
      receive();
      if (!leads) send();
    }
    if (leads) record(records, start, start_ns);
  }
  assay::ptx::cluster_sync();
  if (leads || rank == request.distance)
    for (std::uint32_t i = threadIdx.x; i < request.bytes / 16; i += kThreads)
      if (!same(shared->in[i], word_of(peer, i))) atomicAdd(request.wrong, 1);
#endif
}

template <int kOperation>
__global__ void __launch_bounds__(kThreads)
    stream(std::int64_t iterations, Request request, assay::StopwatchRecord* records) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ Shared shared[];
  const std::uint32_t rank = assay::ptx::cluster_cta_rank();
  const std::uint32_t size = assay::ptx::cluster_cta_count();
  prepare(*shared, rank);
  const std::uint32_t peer = (rank + request.distance) % size;
  const auto at_peer = [&](const void* mine) {
    return assay::ptx::map_shared_address(assay::ptx::shared_address(mine), peer);
  };
  const std::uint32_t to = at_peer(shared->in), barriers = at_peer(shared->barriers);
  const std::uint32_t from = assay::ptx::shared_address(shared->out);
  const std::uint64_t start_ns = assay::ptx::globaltimer();
  const std::uint64_t start = assay::ptx::clock64();
  const auto parts = static_cast<std::uint32_t>(iterations) * kSteps;
  const auto wait_for = [&](std::uint32_t part) {
    assay::ptx::mbarrier_wait_parity(&shared->barriers[part % kBarriers], part / kBarriers % 2);
  };
  // By bulk copies one thread does it all.
  const bool elected = threadIdx.x < 32 && assay::ptx::elect_one();
  if (kOperation == kStore || elected) {
#pragma unroll 1
    for (std::uint32_t part = 0; part < parts; ++part) {
      if (part >= kAhead) wait_for(part - kAhead);
      if (elected)
        assay::ptx::mbarrier_arrive_expect_tx(&shared->barriers[part % kBarriers], kPartBytes);
      const std::uint32_t barrier = barriers + part % kBarriers * 8;
      if constexpr (kOperation == kStore) {
#pragma unroll
        for (std::uint32_t i = 0; i < kPartVectors; ++i) {
          const std::uint32_t place = i * kThreads + threadIdx.x;
          assay::ptx::cluster_store_async_v4(to + place * 16, word_of(rank, place), barrier);
        }
      } else {
#pragma unroll 1
        for (std::uint32_t at = 0; at < kPartBytes; at += request.bytes)
          assay::ptx::cluster_copy_bulk(to + at, from + at, request.bytes, barrier);
      }
    }
    for (std::uint32_t part = parts > kAhead ? parts - kAhead : 0; part < parts; ++part)
      wait_for(part);
  }
  __syncthreads();
  if (elected) record(records, start, start_ns);
  assay::ptx::cluster_sync();
  const std::uint32_t source = (rank + size - request.distance) % size;
  for (std::uint32_t i = threadIdx.x; i < kPartBytes / 16; i += kThreads)
    if (!same(shared->in[i], word_of(source, i))) atomicAdd(request.wrong, 1);
#endif
}

using Kernel = void (*)(std::int64_t, Request, assay::StopwatchRecord*);
struct Variant {
  const char *way, *figure, *name;
  Kernel kernel;
  const char* sass;
  int of_loop;
};
constexpr Variant kVariants[] = {
    {"st_async", "latency", "exchange<0>", exchange<kStore>, "STAS", 2},
    {"bulk", "latency", "exchange<1>", exchange<kBulk>, "UBLKCP", 2},
    {"st_async", "bandwidth", "stream<0>", stream<kStore>, "STAS", kPartVectors},
    {"bulk", "bandwidth", "stream<1>", stream<kBulk>, "UBLKCP", 1}};

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find_if(kVariants, [&](const Variant& v) {
    return v.way == c.text("way") && v.figure == c.text("figure");
  });
}

class Bench {
 public:
  Bench(assay::State& s, const Variant& v) : s_(s), v_(v), wrong_(s.allocate<std::uint32_t>(1)) {}

  // Cycles of a message one way, or of a part.
  assay::Estimate cycles(const cudaLaunchConfig_t& config, std::uint32_t distance,
                         std::uint32_t bytes) {
    assay::check(cudaMemsetAsync(wrong_, 0, sizeof(*wrong_), s_.stream()));
    const assay::Estimate taken = s_.cycles_once([&](const assay::Launch& l) {
      assay::check(cudaLaunchKernelEx(&config, v_.kernel, l.iterations,
                                      Request{distance, bytes, wrong_}, l.records));
    });
    const std::uint32_t wrong = assay::download(wrong_, 1, s_.stream()).front();
    s_.require(wrong == 0, std::to_string(wrong) + " of the vectors from " +
                               std::to_string(distance) + " ranks away, in clusters of " +
                               std::to_string(config.attrs->val.clusterDim.x) +
                               ", are not what that CTA sent");
    return taken / kSteps / (latency() ? 2 : 1);
  }
  bool latency() const { return v_.figure == std::string("latency"); }

 private:
  assay::State& s_;
  const Variant& v_;
  std::uint32_t* wrong_;
};

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  const bool bulk = v.way == std::string("bulk");
  Bench bench(s, v);
  const assay::ClusterKernel kernel{reinterpret_cast<const void*>(v.kernel), kThreads,
                                    sizeof(Shared)};
  const char* name = bench.latency() ? "latency_cycles" : "bytes_per_clock_per_sm";
  const char* unit = bench.latency() ? "cycle" : "B/clk/SM";
  const auto better = bench.latency() ? assay::Better::lower : assay::Better::higher;
  const auto figure = [&](const cudaLaunchConfig_t& config, std::uint32_t distance,
                          std::uint32_t bytes) {
    const assay::Estimate cycles = bench.cycles(config, distance, bytes);
    return bench.latency() ? cycles : kPartBytes / cycles;
  };
  const std::uint32_t usual = bench.latency() ? 16 : bulk ? 4096 : 16;
  s.set_param("message_bytes", std::int64_t{usual});
  // Messages of several sizes between neighbours in clusters of two.
  assay::Series by_size{std::string(name) + "_by_message", unit, {{"message_bytes", {}}}, {}};
  assay::sweep_clusters(s, kernel, name, unit, better, 1,
                        [&](const cudaLaunchConfig_t& config, std::uint32_t distance) {
                          if (bulk && config.attrs->val.clusterDim.x == 2)
                            for (std::uint32_t bytes = 16; bytes <= kPartBytes; bytes *= 2) {
                              by_size.axes[0].points.emplace_back(std::int64_t{bytes});
                              by_size.add(figure(config, distance, bytes));
                            }
                          return figure(config, distance, usual);
                        });
  if (!by_size.values.empty()) s.add_series(std::move(by_size));
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const Variant& v : kVariants)
    all.push_back({.name = std::string(v.way) + "/" + v.figure,
                   .params = {{"way", v.way}, {"figure", v.figure}},
                   .suite = assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "memory/distributed_async",
    .question = "How fast do asynchronous stores and bulk copies reach another CTA's shared "
                "memory, by cluster size, distance and message?",
    .metrics =
        {{"latency_cycles",
          "Cycles from a message's issue until the thread that waits for it goes on, by cluster "
          "size and distance."},
         {"bytes_per_clock_per_sm",
          "Bytes that each CTA sends in a cycle, by cluster size and distance."},
         {"*_by_message",
          "How * depends on the size of a message, between neighbours in clusters of two CTAs."},
         {"latency_cycles_of_*",
          "Cycles of a message until the thread that waits for it goes on, the mean over distances "
          "in clusters of *."},
         {"bytes_per_clock_per_sm_of_*",
          "Bytes that each CTA sends in a cycle, the mean over all distances in clusters of * "
          "CTAs."}},
    .cases = cases(),
    .targets = assay::targets_with(assay::Feature::clusters),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const Variant& v = variant_of(c);
          return std::vector<assay::KernelUse>{
              {.kernel = v.name, .sass = {{v.sass, v.of_loop, v.of_loop}}}};
        },
    .run = run,
}};

}  // namespace
