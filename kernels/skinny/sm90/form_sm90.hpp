// SPDX-License-Identifier: Apache-2.0
// The forms of the skinny product on Hopper: what its host code and its kernel agree on.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>

#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

constexpr int kSkinnyRowBoxes = 2;  // of 64 rows, of a pass

// What is fixed when it is compiled. A line is a swizzled row of shared memory: kLineBytes of a row
// of W, 128 or 64. A box is a line of each of 64 rows, what a warpgroup's MMA multiplies. A stage
// of the ring has kLines lines, 1 or 2, of two boxes each, a box for each warpgroup, and the tokens
// that go with them.
template <SkinnyWeights kWeights_, int kColumns_, int kLineBytes_, int kLines_>
struct SkinnyFormSm90 {
  static constexpr SkinnyWeights kWeights = kWeights_;
  static constexpr int kColumns = kColumns_;  // of an MMA: at most so many tokens
  static constexpr int kLineBytes = kLineBytes_, kLines = kLines_;
  static_assert(kLineBytes == 64 || kLineBytes == 128);
  static_assert(kLines == 1 || kLines == 2);

  static constexpr int kRowBoxes = kSkinnyRowBoxes;
  static constexpr int kConsumers = kRowBoxes * kLines;  // warpgroups
  static constexpr int kProducers = kColumns == 64 ? 2 : 1;
  static constexpr int kThreads = 128 * (kProducers + kConsumers);
  static constexpr int kOrderWarps = 4 * kProducers - 1;  // that put tokens into order
  // Of 65536 registers 384 threads begin with 168 each, 512 with 128, 640 with 96: 72 * 128 + 216 *
  // 256, 72 * 256 + 184 * 256 and 64 * 128 + 104 * 512 of them are used again.
  static constexpr int kProducerRegisters = kConsumers == 2 ? 72 : 64;
  static constexpr int kConsumerRegisters = kConsumers == 4 ? 104 : kProducers == 2 ? 184 : 216;
  // Jobs of MMAs, with registers of their own, that are waited for together (multiply_sm90.cuh).
  static constexpr int kMostJobs = kConsumerRegisters == 216 ? 4 : 2;

  static constexpr int kMostCluster = 8;
  static constexpr int kBoxRows = 64;
  static constexpr int kRows = kRowBoxes * kBoxRows;
  static constexpr int kBoxBytes = kBoxRows * kLineBytes;

  // Along a line. A segment is what the four lanes of a row take at once, a piece each: 16 bytes,
  // or 8 where 16 would lie in two groups that share a scale.
  static constexpr int kBits = weight_bits(kWeights);
  static constexpr int kLineElements = kLineBytes * 8 / kBits;
  static constexpr int kPieceBytes = kWeights == SkinnyWeights::s2 ? 8 : 16;
  static constexpr int kSegmentBytes = 4 * kPieceBytes;
  static constexpr int kSegments = kLineBytes / kSegmentBytes;
  static constexpr int kPieceElements = kPieceBytes * 8 / kBits;
  static constexpr int kSteps = kPieceElements / 4;  // MMAs of a segment, 16 elements of a row each
  static constexpr bool kGrouped = scale_block(kWeights) == 128;  // scales apply to sums
  static_assert(!kGrouped || kPieceElements * 4 == 128, "a segment is a group");

  // Scales of blocks, of a row: TMA brings 16 bytes at least, from a multiple of 16.
  static constexpr int kBlock = scale_block(kWeights);
  static constexpr int kLineScales =
      kBlock == 0 ? 0 : kLineElements / (kBlock == 0 ? 1 : kBlock) * scale_bytes(kWeights);
  static constexpr int kStageScales = kLines * kLineScales;
  static constexpr int kScaleWidth = kStageScales == 0 ? 0 : kStageScales < 16 ? 16 : kStageScales;

  // Of a stage. Tokens lie in blocks of 64 elements along k, a row of 128 bytes for each column.
  static constexpr int kWeightBytes = kLines * kRowBoxes * kBoxBytes;
  static constexpr int kTokenLineBytes = kLineElements * kColumns * 2;
  static constexpr int kTokenBytes = kLines * kTokenLineBytes;
  static constexpr int kScaleBytes = kRows * kScaleWidth;
  // Sums: each CTA of a cluster has a part of the rows, rounded up, so at most one row more each.
  // The stride spreads eight tokens of four neighbouring rows over all 32 banks.
  static constexpr int kSumStride = kColumns == 8 ? 8 : kColumns + 8;  // from row to row
  static constexpr int kSumBytes = kLines * (kRows + kMostCluster) * kSumStride * 4;
  static constexpr int kBarrierBytes = 256;
  static constexpr int kMostShared = 232448;  // 227 KiB
  static constexpr int kEndBytes = (kSumBytes + kBarrierBytes + 1023) / 1024 * 1024;
  static constexpr int kStagesThatFit =
      (kMostShared - kEndBytes) / (kWeightBytes + kTokenBytes + kScaleBytes);
  static constexpr int kStages = kStagesThatFit < 8 ? kStagesThatFit : 8;
  static_assert(kStages >= 2);
  // Where things are. What is swizzled lies on multiples of 1024.
  static constexpr int kScales = kStages * kWeightBytes;
  static constexpr int kSums = kScales + kStages * kScaleBytes;
  static constexpr int kBarriers = kSums + kSumBytes;
  static constexpr int kTokens = kSums + kEndBytes;
  static constexpr int kSharedBytes = kTokens + kStages * kTokenBytes;
  static_assert(kWeightBytes % 1024 == 0 && kScaleBytes % 1024 == 0 && kTokenBytes % 1024 == 0);
};

// Boxes: of W kLineBytes of box_rows rows, of scales of blocks kScaleWidth bytes of them, of tokens
// kColumns rows of 64 elements: of each such block of a stage in three dimensions where k is a
// multiple of 64, else of one.
struct SkinnyMapsSm90 {
  CUtensorMap weights, scales, tokens;
};

struct SkinnyArgumentsSm90 {
  __nv_bfloat16* d;
  const float* row_scales;
  const float* scale;
  int m, n, k;
  int box_rows;                  // a multiple of 8, at most 64
  int passes;                    // of a cluster, two boxes of rows each
  int cluster;                   // CTAs that share k
  int stages_each, stages_rest;  // along k, of a CTA; the first `stages_rest` have one more
  bool whole_blocks;             // k is a multiple of 64
};

}  // namespace assay::kernels
