// SPDX-License-Identifier: Apache-2.0
// The tile of a block-scaled product on Hopper, and where its parts lie in shared memory.
#pragma once
#include "kernels/gemm_block_scaled/sm90/store_sm90.cuh"

namespace assay::kernels {

// Everything about a variant that is fixed when it is compiled.
template <int kTileM_, int kTileN_, int kStages_, int kClusterM_, int kClusterN_>
struct BlockScaledTileSm90 {
  static constexpr int kTileM = kTileM_;
  static constexpr int kTileN = kTileN_;
  static constexpr int kTileK = 128;  // elements and bytes: one swizzle row, one block of scales
  static constexpr int kStages = kStages_;
  static constexpr int kClusterM = kClusterM_;  // CTAs along m: they share B
  static constexpr int kClusterN = kClusterN_;  // CTAs along n: they share A
  static constexpr int kConsumers = 2;
  static constexpr int kClusterSize = kClusterM * kClusterN;
  static constexpr int kThreads = 128 * (1 + kConsumers);
  // Consumers share a tile's rows, 64 by 64 in turns; of a tile of 64 rows, its columns.
  static constexpr int kConsumersM = kTileM == 64 ? 1 : kConsumers;
  static constexpr int kColumns = kTileN / (kConsumers / kConsumersM);  // of a consumer
  static constexpr int kWidth = kColumns <= 192 ? kColumns : 128;       // of one MMA
  // What a consumer multiplies at once: 64 rows by kWidth columns.
  static constexpr int kGroupsM = kTileM / (64 * kConsumersM), kGroupsN = kColumns / kWidth;
  static constexpr int kBlocksN = (kTileN + 127) / 128;  // blocks of scale_b that a tile lies in
  // Two tiles of 192 columns are three blocks of B wide: every other tile begins within a block.
  static constexpr bool kOddBlocks = kTileN > 128 && kTileN % 128 != 0;
  static constexpr int kUnrolled = 4;                                // stages
  static constexpr int kMmas = kGroupsM * kGroupsN * 4 * kUnrolled;  // in the main loop's body
  // Registers: 40 * 128 + 232 * 256 = 64512 of the SM's 65536.
  static constexpr int kProducerRegisters = 40;
  static constexpr int kConsumerRegisters = 232;

  static constexpr int kBytesA = kTileM * kTileK;
  static constexpr int kBytesB = kTileN * kTileK;
  // Of a stage: the scales of the tile's rows of A, then for each block of B four along k, of which
  // one is used. TMA moves no less than 16 bytes, begins on a multiple of 16 of global memory (so
  // that up to three rows before the tile's first one come along) and on 128 of shared memory.
  static constexpr int kScaleRows = kTileM < 256 ? kTileM + 4 : 256;  // the most of a box
  static constexpr int kScalesB = (kScaleRows * 4 + 127) / 128 * 128;
  static constexpr int kBytesScales = kScalesB + 128;
  static constexpr int kBytesStage =
      kBytesA + kBytesB + kScaleRows * 4 + kBlocksN * 16;  // that land
  // Where things are in shared memory. What is swizzled comes first, each on 1024 bytes.
  static constexpr int kStagesB = kStages * kBytesA;
  static constexpr int kStores = kStagesB + kStages * kBytesB;
  // A warp stores a tile by boxes of 64 columns, through as many buffers as there is room for: all
  // of a tile's, so that it does not wait for a store before the next tile; or two in turns.
  static constexpr int kBoxes = kGroupsM * kColumns / 64;
  static constexpr bool fits(int buffers) {
    return kStores + kConsumers * 4 * buffers * kBytesStoreSm90 + kStages * kBytesScales <= 232448;
  }
  static constexpr int kBuffers = fits(kBoxes) ? kBoxes : kBoxes % 2 == 0 && fits(2) ? 2 : 1;
  static constexpr int kBytesStores = kConsumers * 4 * kBuffers * kBytesStoreSm90;
  static constexpr int kScales = kStores + kBytesStores;
  // Barriers lie in the gap behind the first stage's scales of B.
  static constexpr int kBarriers = kScales + kScalesB + kBlocksN * 16;
  static constexpr int kSharedBytes = kScales + kStages * kBytesScales;

  static_assert(kTileN == 64 || kTileN == 128 || kTileN == 192 || kTileN == 256);
  static_assert(kColumns % 64 == 0 && kGroupsM * kColumns <= 256, "registers for the sums");
  static_assert(kConsumersM > 1 || kTileN <= 128, "both consumers' columns lie in one block of B");
  static_assert(kTileM / kClusterN % 8 == 0 && kTileN / kClusterM % 8 == 0,
                "a share of a box must be whole swizzle atoms");
  static_assert(kBlocksN * 16 + 2 * kStages * 8 <= 128, "the gap behind the scales of B");
  static_assert(kSharedBytes <= 232448, "227 KiB of shared memory per CTA");
};

}  // namespace assay::kernels
