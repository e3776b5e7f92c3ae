// SPDX-License-Identifier: Apache-2.0
// The grouped bf16 product on Hopper: f32 accumulation.
//
// The same persistent, warp-specialized pipeline as the dense one (kernels/gemm/sm90): a loader
// that fills a ring of stages, 64 elements along k, with boxes of A and B that the CTAs of a
// cluster share by multicast, and two consumer warpgroups, each with 64 rows of the tile. Which
// tiles there are, each role reads from the groups' sizes for itself.
#pragma once

#include <cstdint>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/wgmma.cuh"
#include "kernels/grouped/sm90/tiles_sm90.cuh"

namespace assay::kernels {

template <int kTileN_, int kStages_, int kClusterM_, int kClusterN_>
struct GroupedTileBf16Sm90 {
  static constexpr int kTileM = 128;
  static constexpr int kTileN = kTileN_;
  static constexpr int kTileK = 64;  // 128 bytes: one swizzle row
  static constexpr int kStages = kStages_;
  static constexpr int kClusterM = kClusterM_;  // CTAs along m: they share B
  static constexpr int kClusterN = kClusterN_;  // CTAs along n: they share A
  static constexpr int kClusterSize = kClusterM * kClusterN;
  static constexpr int kConsumers = 2;
  static constexpr int kThreads = 128 * (1 + kConsumers);
  // Registers: 40 * 128 + 232 * 256 = 64512 of the SM's 65536.
  static constexpr int kProducerRegisters = 40;
  static constexpr int kConsumerRegisters = 232;
  static constexpr int kBytesA = kTileM * 128;
  static constexpr int kBytesB = kTileN * 128;
  static constexpr int kStagesB = kStages * kBytesA;
  static constexpr int kStores = kStagesB + kStages * kBytesB;
  static constexpr int kBarriers = kStores + kConsumers * 4 * 2 * kBytesStoreSm90;
  static constexpr int kSharedBytes =
      kBarriers + 2 * kStages * static_cast<int>(sizeof(ptx::Mbarrier));
  static_assert(kTileN % 128 == 0, "an even number of stores");
  static_assert(kTileM / kClusterN % 8 == 0 && kTileN / kClusterM % 8 == 0,
                "a share of a box must be whole swizzle atoms");
  static_assert(kSharedBytes <= 232448, "227 KiB of shared memory per CTA");
};

template <class Tile>
__device__ __forceinline__ void load_grouped_bf16(const GroupedMapsSm90& maps,
                                                  GroupedTilesSm90<Tile> tiles, int k_steps,
                                                  std::uint8_t* shared, ptx::Mbarrier* full,
                                                  ptx::Mbarrier* empty, int rank_m, int rank_n) {
  // My share of the shared boxes, and who gets it: bit r of a mask is CTA r.
  constexpr int kShareA = Tile::kTileM / Tile::kClusterN;
  constexpr int kShareB = Tile::kTileN / Tile::kClusterM;
  constexpr std::uint32_t kRowMask = (1u << Tile::kClusterN) - 1;
  std::uint32_t column_mask = 0;
  for (int r = 0; r < Tile::kClusterM; ++r) column_mask |= 1u << (r * Tile::kClusterN);
  const auto mask_a = static_cast<std::uint16_t>(kRowMask << (rank_m * Tile::kClusterN));
  const auto mask_b = static_cast<std::uint16_t>(column_mask << rank_n);
  int stage = 0;
  std::uint32_t parity = 1;
  TilePlaceSm90 at;
  while (tiles.next(at)) {
    const int row_a = at.row + rank_n * kShareA, row_b = at.row_b + rank_m * kShareB;
    for (int ks = 0; ks < k_steps; ++ks) {
      std::uint8_t* const a = shared + stage * Tile::kBytesA + rank_n * kShareA * 128;
      std::uint8_t* const b =
          shared + Tile::kStagesB + stage * Tile::kBytesB + rank_m * kShareB * 128;
      ptx::mbarrier_wait_parity(&empty[stage], parity);
      ptx::mbarrier_arrive_expect_tx(&full[stage], Tile::kBytesA + Tile::kBytesB);
      if constexpr (Tile::kClusterN > 1) {
        ptx::tma_load_2d_multicast(a, &maps.a, &full[stage], mask_a, ks * Tile::kTileK, row_a);
      } else {
        ptx::tma_load_2d(a, &maps.a, &full[stage], ks * Tile::kTileK, row_a);
      }
      if constexpr (Tile::kClusterM > 1) {
        ptx::tma_load_2d_multicast(b, &maps.b, &full[stage], mask_b, ks * Tile::kTileK, row_b);
      } else {
        ptx::tma_load_2d(b, &maps.b, &full[stage], ks * Tile::kTileK, row_b);
      }
      if (++stage == Tile::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
  }
}

// A consumer's 64 rows of all tiles.
template <class Tile>
__device__ __forceinline__ void multiply_grouped_bf16(const GroupedMapsSm90& maps,
                                                      GroupedTilesSm90<Tile> tiles, int k_steps,
                                                      std::uint8_t* shared, ptx::Mbarrier* full,
                                                      ptx::Mbarrier* empty, int rank_m, int rank_n,
                                                      int consumer) {
  const int thread = threadIdx.x % 128, warp = thread / 32;
  std::uint8_t* const stores = shared + Tile::kStores + (consumer * 4 + warp) * 2 * kBytesStoreSm90;
  const std::uint32_t origin = ptx::shared_address(shared);
  const std::uint64_t origin_a = ptx::encode_k_major_128b(origin + consumer * 64 * 128);
  const std::uint64_t origin_b = ptx::encode_k_major_128b(origin + Tile::kStagesB);
  // Thread r of each consumer tells CTA r, if that CTA sends boxes here.
  const bool tells = thread < Tile::kClusterSize &&
                     (thread / Tile::kClusterN == rank_m || thread % Tile::kClusterN == rank_n);
  const auto release = [&](int released) {
    if (!tells) return;
    if constexpr (Tile::kClusterSize > 1) {
      ptx::mbarrier_arrive_remote(&empty[released], thread);
    } else {
      ptx::mbarrier_arrive(&empty[released]);
    }
  };
  int stage = 0;
  std::uint32_t parity = 0;
  TilePlaceSm90 at;
  while (tiles.next(at)) {
    float d[Tile::kTileN / 2];
    int previous = 0;
    for (int ks = 0; ks < k_steps; ++ks) {
      ptx::mbarrier_wait_parity(&full[stage], parity);
      const std::uint64_t a = ptx::advance(origin_a, stage * Tile::kBytesA);
      const std::uint64_t b = ptx::advance(origin_b, stage * Tile::kBytesB);
      ptx::wgmma_fence();
#pragma unroll
      for (int k = 0; k < 4; ++k)
        ptx::wgmma<ptx::WgmmaTypes::bf16>(d, ptx::advance(a, k * 32), ptx::advance(b, k * 32),
                                          ks != 0 || k != 0);
      ptx::wgmma_commit();
      ptx::wgmma_wait<1>();
      if (ks != 0) release(previous);
      previous = stage;
      if (++stage == Tile::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
    ptx::wgmma_wait<0>();
    release(previous);
    ptx::wgmma_pin(d);
#pragma unroll
    for (int c = 0; c < Tile::kTileN / 64; ++c)
      store_64_columns_sm90<2>(&maps.d, d + c * 32, stores + c % 2 * kBytesStoreSm90,
                               at.row + consumer * 64 + warp * 16, at.column + c * 64,
                               tiles.edge(at));
  }
  if (thread % 32 == 0) ptx::bulk_wait_read<0>();
}

// Template arguments are GroupedTileBf16Sm90's.
template <int kTileN, int kStages, int kClusterM, int kClusterN>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    grouped_bf16_sm90(const __grid_constant__ GroupedMapsSm90 maps,
                      const __grid_constant__ GroupsSm90 groups, const int k_steps) {
  using Tile = GroupedTileBf16Sm90<kTileN, kStages, kClusterM, kClusterN>;
  static_assert(Tile::kThreads == 384);
  extern __shared__ __align__(1024) std::uint8_t shared[];
  auto* const full = reinterpret_cast<ptx::Mbarrier*>(shared + Tile::kBarriers);
  ptx::Mbarrier* const empty = full + Tile::kStages;
  const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = static_cast<int>(ptx::cluster_cta_rank());
  const int rank_m = Tile::kClusterM == 1 ? 0 : rank / Tile::kClusterN;
  const int rank_n = Tile::kClusterN == 1 ? 0 : rank % Tile::kClusterN;
  if (threadIdx.x == 0) {
    ptx::tma_prefetch_map(&maps.a);
    ptx::tma_prefetch_map(&maps.b);
    ptx::tma_prefetch_map(&maps.d);
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], (Tile::kClusterM + Tile::kClusterN - 1) * Tile::kConsumers);
    }
    ptx::fence_mbarrier_init();
  }
  if constexpr (Tile::kClusterSize > 1) {
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }
  const GroupedTilesSm90<Tile> tiles(groups);
  if (warpgroup == 0) {
    ptx::setmaxnreg_decrease<Tile::kProducerRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one())
      load_grouped_bf16<Tile>(maps, tiles, k_steps, shared, full, empty, rank_m, rank_n);
  } else {
    ptx::setmaxnreg_increase<Tile::kConsumerRegisters>();
    multiply_grouped_bf16<Tile>(maps, tiles, k_steps, shared, full, empty, rank_m, rank_n,
                                warpgroup - 1);
  }
  // Nobody may leave while a neighbour can still signal its barriers.
  if constexpr (Tile::kClusterSize > 1) {
    __syncwarp();
    ptx::cluster_arrive_relaxed();
    ptx::cluster_wait();
  }
}

}  // namespace assay::kernels
