// SPDX-License-Identifier: Apache-2.0
// Multicast: every CTA of a cluster loads a part of each tile and has it written to the shared
// memory of all, so that the SMs receive more than L2 sends.
//
// A tile is a stage of every CTA's ring. Its producer waits until all CTAs of the cluster have
// emptied the stage, announces the whole tile on its own barrier, and starts the copy of its own
// slice to all; its consumer tells all CTAs when it has seen the tile.
#include <algorithm>
#include <cmath>

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/tma/movers.hpp"

// Own PTX: nvcc wants .multicast compiled for one architecture or family.

namespace {

using namespace assay;

constexpr int kSizes[] = {1, 2, 4, 8, 16};                      // of clusters
constexpr std::uint32_t kRing = 128 << 10;                      // bytes of each CTA
constexpr std::uint32_t kTiles[] = {4096, 8192, 16384, 32768};  // bytes
[[maybe_unused]] constexpr int kMostStages =                    // not before sm_90
    kRing / kTiles[0];
constexpr std::size_t kSweeps = 7;

struct MulticastWork {
  const char* array;
  std::uint32_t tiles;  // of each cluster's part, one after another
  std::uint32_t passes;
  std::uint32_t tile_bytes;
  int stages;
  int consume;
  std::uint32_t* sum;  // over all that arrives at all CTAs
};

__global__ void receive_tiles(MulticastWork work) {
#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200
  extern __shared__ __align__(1024) char ring[];
  __shared__ ptx::Mbarrier full[kMostStages], empty[kMostStages];
  const std::uint32_t rank = ptx::cluster_cta_rank(), size = ptx::cluster_cta_count();
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (int stage = 0; stage < work.stages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);
      ptx::mbarrier_init(&empty[stage], size);
    }
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_sync();

  const std::uint32_t slice = work.tile_bytes / size;
  const auto everyone = static_cast<std::uint16_t>((1u << size) - 1);
  std::uint32_t tile = ptx::cluster_id_x() * work.tiles, left = work.tiles, sum = 0, parity = 0;
  const std::uint32_t end = ptx::cluster_count_x() * work.tiles;
  int stage = 0;
  // The next tile of the part; behind its end, the next cluster's part.
  const auto advance = [&] {
    if (++tile == end) tile = 0;
    if (++stage == work.stages) stage = 0, parity ^= 1;
  };
  const std::uint64_t count = std::uint64_t{left} * work.passes;
  if (threadIdx.x < 32) {
    if (ptx::elect_one()) {
#pragma unroll 1
      for (std::uint64_t i = 0; i < count; ++i, advance()) {
        ptx::mbarrier_wait_parity(&empty[stage], parity ^ 1);
        ptx::mbarrier_arrive_expect_tx(&full[stage], work.tile_bytes);
        ptx::bulk_load_multicast(ring + stage * work.tile_bytes + rank * slice,
                                 work.array + std::uint64_t{tile} * work.tile_bytes + rank * slice,
                                 slice, &full[stage], everyone);
      }
    }
  } else {
#pragma unroll 1
    for (std::uint64_t i = 0; i < count; ++i, advance()) {
      ptx::mbarrier_wait_parity(&full[stage], parity);
      if (work.consume) {
        const char* arrived = ring + stage * work.tile_bytes;
#pragma unroll 4
        for (std::uint32_t at = threadIdx.x % 32 * 16; at < work.tile_bytes; at += 512) {
          const uint4 v = *reinterpret_cast<const uint4*>(arrived + at);
          sum += v.x + v.y + v.z + v.w;
        }
      }
      __syncwarp();
      if (threadIdx.x % 32 < size) ptx::mbarrier_arrive_remote(&empty[stage], threadIdx.x % 32);
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(work.sum, sum);
  }
  __syncwarp();
  ptx::cluster_sync();  // nobody ends while others still arrive at its barriers
#endif
}

class Multicast {
 public:
  Multicast(State& s, std::uint64_t bytes, std::uint64_t moved)
      : s_(s), bytes_(bytes), moved_(moved), sums_(s.allocate<std::uint32_t>(2)) {
    char* array = s.allocate<char>(bytes);
    s.fill_random_bits(array, bytes);
    work_.array = array;
    check(cudaFuncSetAttribute(receive_tiles, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    check(cudaFuncSetAttribute(receive_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, kRing));
  }

  // False if no such cluster fits this GPU.
  bool prepare(int size, std::uint32_t tile_bytes) {
    cluster_.id = cudaLaunchAttributeClusterDimension;
    cluster_.val.clusterDim = {static_cast<unsigned>(size), 1, 1};
    config_ = {};
    config_.blockDim = dim3(64);
    config_.gridDim = dim3(static_cast<unsigned>(size));
    config_.dynamicSmemBytes = kRing;
    config_.attrs = &cluster_;
    config_.numAttrs = 1;
    int clusters = 0;
    const cudaError_t asked = cudaOccupancyMaxActiveClusters(&clusters, receive_tiles, &config_);
    if (asked != cudaSuccess || clusters == 0) {
      cudaGetLastError();  // the question is answered: not on this GPU
      return false;
    }
    config_.gridDim = dim3(static_cast<unsigned>(clusters * size));
    config_.stream = s_.stream();
    work_.tiles = static_cast<std::uint32_t>(bytes_ / tile_bytes / static_cast<unsigned>(clusters));
    work_.tile_bytes = tile_bytes;
    work_.stages = static_cast<int>(kRing / tile_bytes);
    covered_ = std::uint64_t{work_.tiles} * tile_bytes * static_cast<unsigned>(clusters);
    work_.passes = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, moved_ / static_cast<unsigned>(size) / covered_));
    size_ = size;
    return true;
  }

  int ctas() const { return static_cast<int>(config_.gridDim.x); }
  // What L2 sends, and what the SMs receive, in bytes of one launch.
  double sent() const { return static_cast<double>(covered_) * work_.passes; }
  double received() const { return sent() * size_; }

  void launch(bool consume, cudaStream_t stream) {
    MulticastWork work = work_;
    work.consume = consume;
    work.sum = sums_ + 1;
    config_.stream = stream;
    check(cudaLaunchKernelEx(&config_, receive_tiles, work));
  }

  void verify() {
    check(cudaMemsetAsync(sums_, 0, 2 * sizeof(*sums_), s_.stream()));
    sum_array(work_.array, covered_, sums_, s_.stream());
    launch(true, s_.stream());
    const auto sums = download(sums_, 2, s_.stream());
    s_.require(sums[1] == sums[0] * work_.passes * static_cast<unsigned>(size_),
               "in clusters of " + std::to_string(size_) +
                   ", what arrived at all CTAs does not add up to what was sent");
  }

  double ns() {
    delay(20'000, s_.stream());  // longer than it takes to enqueue the launch
    begin_.record(s_.stream());
    launch(false, s_.stream());
    end_.record(s_.stream());
    return elapsed_ns(begin_, end_);
  }

 private:
  State& s_;
  std::uint64_t bytes_, moved_, covered_ = 0;
  std::uint32_t* sums_;
  MulticastWork work_ = {};
  int size_ = 1;
  cudaLaunchAttribute cluster_ = {};
  cudaLaunchConfig_t config_ = {};
  Event begin_, end_;
};

void run(State& s) {
  constexpr std::uint64_t kMoved = std::uint64_t{1} << 30;  // received
  const bool dram = s.text("level") == "dram";
  const std::uint64_t in_l2 = std::min<std::uint64_t>(
      static_cast<unsigned>(s.device().sm_count) * (std::uint64_t{128} << 10),
      s.device().l2_bytes / 2 / kTiles[3] * kTiles[3]);
  Multicast multicast(s, dram ? kMoved : in_l2, kMoved);
  Series received{"received_gb_per_s", "GB/s", {{"cluster", {}}, {"tile_bytes", {}}}, {}};
  for (const std::uint32_t tile : kTiles) received.axes[1].points.emplace_back(std::int64_t{tile});
  Series sent = received;
  sent.name = "sent_gb_per_s";
  if (dram) s.limit(sent.name, dram_limit(s.device()));
  for (const int size : kSizes) {
    for (Series* series : {&received, &sent})
      series->axes[0].points.emplace_back(std::int64_t{size});
    std::vector<double> best_received, best_sent;
    int ctas = 0;
    for (const std::uint32_t tile : kTiles) {
      std::vector<double> all_received, all_sent;
      if (multicast.prepare(size, tile)) {
        multicast.verify();
        ctas = multicast.ctas();
        for (std::size_t i = 0; i < kSweeps; ++i) {
          const double ns = multicast.ns();
          all_received.push_back(multicast.received() / ns);
          all_sent.push_back(multicast.sent() / ns);
        }
      }
      received.add(all_received.empty() ? Estimate(NAN) : estimate(all_received));
      sent.add(all_sent.empty() ? Estimate(NAN) : estimate(all_sent));
      if (!all_received.empty() &&
          (best_received.empty() || median(all_received) > median(best_received))) {
        best_received = all_received;
        best_sent = all_sent;
      }
    }
    if (best_received.empty()) continue;
    const std::string of = "_of_" + std::to_string(size);
    if (dram) s.limit("sent_gb_per_s" + of, dram_limit(s.device()));
    s.add_metric("received_gb_per_s" + of, "GB/s", Better::higher, best_received);
    s.add_metric("sent_gb_per_s" + of, "GB/s", Better::higher, best_sent);
    s.add_exact("ctas" + of, "CTA", Better::higher, ctas);
  }
  s.add_series(std::move(received));
  s.add_series(std::move(sent));
}

const Registration registration{{
    .name = "tma/multicast",
    .question = "How much do the SMs receive by multicast, by cluster size, and how much does L2 "
                "send for that?",
    .metrics =
        {{"received_gb_per_s", "Bytes that all SMs receive in a second, by cluster size and tile."},
         {"sent_gb_per_s",
          "Bytes that L2 sends in a second for what the SMs receive, by cluster size and tile."},
         {"received_gb_per_s_of_*",
          "Bytes that all SMs receive in a second in clusters of *, with the best tile."},
         {"sent_gb_per_s_of_*",
          "Bytes that L2 sends in a second in clusters of *, with the tile that lets SMs receive "
          "most."},
         {"ctas_of_*", "CTAs that take part in clusters of *."}},
    .cases = {{.name = "l2", .params = {{"level", "l2"}}, .suite = Suite::full},
              {.name = "dram", .params = {{"level", "dram"}}, .suite = Suite::full}},
    // On sm_120a the assembler takes the instruction but warns that it is slow.
    .targets = targets_with(Feature::tma_multicast),
    .pace = Pace::l2,
    .kernels =
        [](const Case&, Target) {
          return std::vector<KernelUse>{
              {.kernel = "receive_tiles", .sass = {{"UBLKCP.S.G.MULTICAST", 1, 1}}}};
        },
    .run = run,
}};

}  // namespace
