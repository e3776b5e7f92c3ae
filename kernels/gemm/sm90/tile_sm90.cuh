// SPDX-License-Identifier: Apache-2.0
// What is fixed when a variant of the Hopper matrix product is compiled.
//
// "Rows" and "columns" are those of the product that the kernel computes, R[row, column] = sum over
// k of P[row, k] * Q[column, k]. As a rule that is D, of P = A and Q = B^T. A swapped variant
// computes D's transpose, of P = B^T and Q = A: wgmma's 64 rows then lie along n, so that few rows
// of D do not leave them empty.
#pragma once

#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/wgmma.cuh"

namespace assay::kernels {

constexpr int columns_loaded_sm90(int tile_n, int major_q) {
  return major_q == 0 ? tile_n : (tile_n + 63) / 64 * 64;
}

// Boxes along k, of 128 bytes each, that a stage has of an operand. Barriers, waits and requests
// take a consumer and the loader more than 200 cycles for a stage, and a tile of 64x64 multiplies a
// box in 128. So a stage has two boxes where they are no more than one of a tile twice as large:
// 440x1024x6144 by 64x64 took 18.0 in place of 20.0 us on an H100 (results/h100/2026-11-26-deep).
// Tiles of 64x96 and more lost by it: they have a ring of four coarse stages then.
constexpr int depth_sm90(int element_bytes, bool k_major, int tile_m, int tile_n) {
  return element_bytes == 2 && k_major && tile_m + tile_n <= 128 ? 2 : 1;
}

// Buffers for results that each warp has beside stages of so many rows of 128 bytes and their
// barriers: 2 or 1; 0: there is no room.
constexpr int store_buffers_sm90(int stages, int rows) {
  const int left = 232448 - stages * (rows * 128 + 16);
  return left >= 2 * 16384 ? 2 : left >= 16384 ? 1 : 0;
}

template <int kTypes_, int kMajorP_, int kMajorQ_, int kTileM_, int kTileN_, int kStages_,
          int kClusterM_, int kClusterN_, bool kSwapped_, bool kPingpong_>
struct GemmTileSm90 {
  static constexpr auto kTypes = static_cast<ptx::WgmmaTypes>(kTypes_);
  static constexpr int kMajorP = kMajorP_;  // 0: k runs fastest in memory; 1: the row does
  static constexpr int kMajorQ = kMajorQ_;  // 0: k runs fastest in memory; 1: the column does
  static constexpr int kTileM = kTileM_;    // rows per CTA
  static constexpr int kTileN = kTileN_;    // columns per CTA
  static constexpr int kStages = kStages_;
  static constexpr int kClusterM = kClusterM_;  // CTAs along the rows: they share Q
  static constexpr int kClusterN = kClusterN_;  // CTAs along the columns: they share P
  static constexpr bool kSwapped = kSwapped_;
  // Not 0: each consumer warpgroup multiplies whole tiles, every other one, and writes its results
  // while the other multiplies. Else both share each tile.
  static constexpr bool kPingpong = kPingpong_;

  static constexpr int kElementBytes = 32 / ptx::kWgmmaK<kTypes>;
  static constexpr int kDepth =
      depth_sm90(kElementBytes, kMajorP == 0 && kMajorQ == 0, kTileM, kTileN);
  static constexpr int kBoxK = 128 / kElementBytes;  // 128 bytes, one swizzle row
  static constexpr int kTileK = kDepth * kBoxK;      // per stage
  static constexpr int kSteps = 4;                   // MMAs along k in a box

  static constexpr int kConsumers = 2;
  static constexpr int kThreads = 128 * (1 + kConsumers);
  static constexpr int kClusterSize = kClusterM * kClusterN;
  // Consumer warpgroups that share a tile.
  static constexpr int kSharing = kPingpong ? 1 : kConsumers;
  // wgmma is 64 rows high; a consumer owns this many such blocks, one below the other.
  static constexpr int kBlocks = kTileM / (64 * kSharing);
  // Registers: 40 * 128 + 232 * 256 = 64512 of the SM's 65536.
  static constexpr int kProducerRegisters = 40;
  static constexpr int kConsumerRegisters = 232;

  // Where registers allow it, a consumer keeps its rounded results and writes them while the next
  // tile's first MMAs are under way.
  static constexpr bool kDeferred = !kPingpong && kBlocks * kTileN / 2 <= 128;

  // Columns of Q that lie in a stage. Where the column runs fastest they come by whole boxes of 64,
  // and a tile's last box may bring some of the next tile's.
  static constexpr int kLoadedN = columns_loaded_sm90(kTileN, kMajorQ);
  static constexpr int kBoxBytesP = kTileM * 128;
  static constexpr int kBoxBytesQ = kLoadedN * 128;
  static constexpr int kBytesP = kDepth * kBoxBytesP;  // of a stage
  static constexpr int kBytesQ = kDepth * kBoxBytesQ;
  // What one CTA of a cluster fetches for all that share it: its part of each step's rows. Where
  // such parts were no whole swizzle atoms, it fetches a part of k of all rows, if the row runs
  // fastest in memory; else each CTA fetches all of the operand's tile in its turn, every
  // kClusterN-th step for P, every kClusterM-th for Q. (Parts of whole atoms that overlap were
  // 0.5% slower than turns: results/h200/2026-11-29-layouts.)
  static constexpr int kAtomP = kMajorP == 0 ? 8 : 64;
  static constexpr int kAtomQ = kMajorQ == 0 ? 8 : 64;
  static constexpr bool kByRowsP = kTileM % (kClusterN * kAtomP) == 0;
  static constexpr bool kByRowsQ = kLoadedN % (kClusterM * kAtomQ) == 0;
  static constexpr bool kTurnsAtP = kMajorP == 0 && !kByRowsP;
  static constexpr bool kTurnsAtQ = kMajorQ == 0 && !kByRowsQ;
  static constexpr int kShareP = kByRowsP ? kTileM / kClusterN : kTileM;
  static constexpr int kShareQ = kByRowsQ ? kLoadedN / kClusterM : kLoadedN;
  static constexpr int kShareKP = kByRowsP || kTurnsAtP ? kBoxK : kBoxK / kClusterN;
  static constexpr int kShareKQ = kByRowsQ || kTurnsAtQ ? kBoxK : kBoxK / kClusterM;

  // Results leave through two buffers for each 16 rows of a consumer, or one where the stages leave
  // no room for two, each kStoreRows x kStoreColumns of 16 bits. A swapped tile's rows are columns
  // of D: 16 of them would be 32 bytes of D's rows, and TMA wrote a large D by such pieces at 0.7
  // to 0.8 of its speed by 128 bytes on an H200. So they leave by 64, for which a warpgroup's four
  // warps come together. The last of a tile's chunks ends where the tile ends and may write columns
  // a second time.
  static constexpr int kStoreRows = kSwapped ? 64 : 16;
  static constexpr int kStoreColumns = kTileN < 64 ? kTileN : 64;
  static constexpr int kChunks = (kTileN + kStoreColumns - 1) / kStoreColumns;
  static constexpr int chunk_begin(int chunk) {
    return chunk + 1 < kChunks ? chunk * kStoreColumns : kTileN - kStoreColumns;
  }
  static constexpr int kBytesStore = kStoreRows * 64 * 2;
  static constexpr int kStoreBuffers = store_buffers_sm90(kStages, (kTileM + kLoadedN) * kDepth);
  static constexpr int kBytesStores = kConsumers * (64 / kStoreRows) * kStoreBuffers * kBytesStore;
  static constexpr int kSharedBytes = kStages * (kBytesP + kBytesQ) + kBytesStores +
                                      2 * kStages * static_cast<int>(sizeof(ptx::Mbarrier));

  static_assert(kTileM % (64 * kSharing) == 0 && kTileN % 8 == 0 && kTileN <= 256);
  static_assert(kStoreColumns % 16 == 0 && (kSwapped || kStoreColumns != 48),
                "stmatrix writes 16 columns at once, a swizzle spans 16, 32 or 64");
  static_assert(kShareP % 8 == 0 && kShareQ % 8 == 0, "a share must be whole swizzle atoms");
  static_assert(kMajorP == 0 || (kElementBytes == 2 && kShareP % 64 == 0));
  static_assert(kMajorQ == 0 || (kElementBytes == 2 && kShareQ % 64 == 0));
  static_assert(kShareKP % 8 == 0 && kShareKQ % 8 == 0, "so must a share of k");
  static_assert(kBlocks * kTileN / 2 <= 200, "accumulators must fit the registers");
  static_assert(kSharedBytes <= 232448, "227 KiB of shared memory per CTA");
};

}  // namespace assay::kernels
