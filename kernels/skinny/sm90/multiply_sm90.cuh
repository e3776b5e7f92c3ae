// SPDX-License-Identifier: Apache-2.0
// What a consumer warpgroup of the skinny product does with a stage: unpacks weights from shared
// memory into registers and multiplies them from there.
#pragma once
#include <cstdint>

#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/wgmma.cuh"
#include "kernels/skinny/product/formats.cuh"
#include "kernels/skinny/sm90/form_sm90.hpp"

namespace assay::kernels {

// Jobs. A segment is multiplied in jobs of at most four MMAs. While a job's MMAs run, the next
// one's weights are unpacked; up to four jobs, a round, have registers of their own, and are waited
// for together. What a warpgroup does not overlap so, the others do. (A wait after each job, one
// behind, with two sets of registers in turns, would be closer; but ptxas 13.0 then runs MMAs one
// by one, C7513 and C7514.) Where scales apply to sums, each segment of a round has accumulators of
// its own.
template <class F, class Form>
class MultiplierSm90 {
 public:
  static constexpr int kAccumulators = Form::kColumns / 2;
  static constexpr int kJobSteps = Form::kSteps < 4 ? Form::kSteps : 4;
  static constexpr int kSegmentJobs = Form::kSteps / kJobSteps;
  static constexpr int kJobWords = 2 * kJobSteps / F::kPairs;
  static constexpr int kJobs = Form::kSegments * kSegmentJobs;
  static constexpr int kPieceWords = Form::kPieceBytes / 4;
  static constexpr int kRoundJobs = kJobs < Form::kMostJobs ? kJobs : Form::kMostJobs,
                       kRoundSegments = kRoundJobs / kSegmentJobs;
  static_assert(kJobs % kRoundJobs == 0 && kRoundJobs % kSegmentJobs == 0);
  static constexpr bool kByBlock = Form::kBlock > 0 && Form::kBlock < 128;  // scales of weights

  __device__ MultiplierSm90(std::uint8_t* shared, int consumer, int box_rows, std::uint32_t zero)
      : shared_(shared) {
    format_.begin(zero);
    const int lane = static_cast<int>(threadIdx.x % 32),
              warp = static_cast<int>(threadIdx.x % 128 / 32);
    column_ = lane % 4;
    first_row_ = warp * 16 + row_of(lane / 4);
    const int line = consumer / Form::kRowBoxes, box = consumer % Form::kRowBoxes;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // Rows that a box lacks are taken to be its last one; nobody wants their sums.
      const int row = min(first_row_ + 8 * h, box_rows - 1);
      weights_[h] = consumer * Form::kBoxBytes + place(row, column_);
      scales_[h] = Form::kScales + (box * Form::kBoxRows + row) * Form::kScaleWidth +
                   line * Form::kLineScales;
    }
    tokens_ = ptx::encode_k_major_128b(ptx::shared_address(shared) + Form::kTokens +
                                       line * Form::kTokenLineBytes);
  }

  // The box's row that is row i of each eight of the MMA. Those whose pieces are read at once so
  // lie in different banks, under the swizzle of the line.
  __device__ static int row_of(int i) {
    if constexpr (Form::kPieceBytes == 16) return Form::kLineBytes == 128 ? i % 2 * 4 + i / 2 : i;
    return Form::kLineBytes == 128 ? i % 4 * 2 + i / 4 : i % 2 + i % 4 / 2 * 4 + i / 4 * 2;
  }
  __device__ int first_row() const { return first_row_; }

  __device__ void begin_pass() {
    fresh_ = true;
    if constexpr (Form::kGrouped) {
#pragma unroll
      for (int i = 0; i < kAccumulators; ++i) sums[i] = 0;
    }
  }

  // Multiplies a stage, the `index`th along k, in `slot` of the ring.
  __device__ void stage(int slot, int index) {
    const std::uint8_t* const weights = shared_ + slot * Form::kWeightBytes;
    const std::uint8_t* const scales =
        shared_ + slot * Form::kScaleBytes +
        (Form::kStageScales < 16 ? index * Form::kStageScales % 16 : 0);
    const std::uint64_t tokens = ptx::advance(tokens_, slot * Form::kTokenBytes);
    std::uint32_t words[2][2][kPieceWords];  // of this segment and the next
    load(weights, 0, words[0]);
#pragma unroll
    for (int round = 0; round < kJobs / kRoundJobs; ++round) {
      std::uint32_t a[kRoundJobs][kJobSteps][4];
      float group[Form::kGrouped ? kRoundSegments : 1][kAccumulators];
      float group_scale[kRoundSegments][2];
      std::uint32_t factors[2][2][2];
#pragma unroll
      for (int j = 0; j < kRoundJobs; ++j) {
        const int job = round * kRoundJobs + j, segment = job / kSegmentJobs;
        const int part = job % kSegmentJobs;
        if (part == 0) {
          if (segment + 1 < Form::kSegments) load(weights, segment + 1, words[(segment + 1) % 2]);
          load_scales(scales, segment, factors, group_scale[j / kSegmentJobs]);
        }
        unpack(words[segment % 2], part, factors, a[j]);
        ptx::wgmma_fence(a[j]);
#pragma unroll
        for (int s = 0; s < kJobSteps; ++s) {
          const int step = segment * Form::kSteps + part * kJobSteps + s;
          const std::uint64_t b =
              ptx::advance(tokens, step / 4 * (Form::kColumns * 128) + step % 4 * 32);
          if constexpr (Form::kGrouped)
            ptx::wgmma_a_in_registers(group[j / kSegmentJobs], a[j][s], b, part + s > 0);
          else
            ptx::wgmma_a_in_registers(sums, a[j][s], b, job + s > 0 || !fresh_);
        }
        ptx::wgmma_commit();
      }
      ptx::wgmma_wait<0>();
      if constexpr (Form::kGrouped) {
#pragma unroll
        for (int g = 0; g < kRoundSegments; ++g) {
          ptx::wgmma_pin(group[g]);
#pragma unroll
          for (int i = 0; i < kAccumulators; ++i)
            sums[i] = fmaf(group_scale[g][i / 2 % 2], group[g][i], sums[i]);
        }
      } else {
        ptx::wgmma_pin(sums);
      }
    }
    fresh_ = false;
  }

  float sums[kAccumulators];  // of the pass

 private:
  // Of the lane's piece of segment 0, in a box.
  __device__ static int place(int row, int column) {
    const int swizzle = Form::kLineBytes == 128 ? row % 8 : row / 2 % 4;
    const int byte = column * Form::kPieceBytes;
    return row * Form::kLineBytes + (byte / 16 ^ swizzle) * 16 + byte % 16;
  }

  __device__ void load(const std::uint8_t* weights, int segment,
                       std::uint32_t (&words)[2][kPieceWords]) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // A segment is aligned to its length, so its place in the line is a bit, or two, that are
      // turned.
      const std::uint8_t* const at = weights + (weights_[h] ^ segment * Form::kSegmentBytes);
      if constexpr (kPieceWords == 4) {
        const uint4 v = *reinterpret_cast<const uint4*>(at);
        words[h][0] = v.x, words[h][1] = v.y, words[h][2] = v.z, words[h][3] = v.w;
      } else {
        const uint2 v = *reinterpret_cast<const uint2*>(at);
        words[h][0] = v.x, words[h][1] = v.y;
      }
    }
  }

  __device__ void load_scales(const std::uint8_t* scales, int segment,
                              std::uint32_t (&factors)[2][2][2], float (&group_scale)[2]) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      [[maybe_unused]] const std::uint8_t* const at = scales + scales_[h];
      if constexpr (Form::kGrouped) {
        group_scale[h] = __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(at)[segment]);
      } else if constexpr (Form::kWeights == SkinnyWeights::mxf4) {
        F::factors(at[segment * 4 + column_], factors[h][0]);
      } else if constexpr (Form::kWeights == SkinnyWeights::nvf4) {
        const std::uint32_t both =
            reinterpret_cast<const std::uint16_t*>(at)[segment * 4 + column_];
        F::factors(both & 0xff, factors[h][0]);
        F::factors(both >> 8, factors[h][1]);
      }
    }
  }

  __device__ void unpack(const std::uint32_t (&words)[2][kPieceWords], int part,
                         const std::uint32_t (&factors)[2][2][2],
                         std::uint32_t (&a)[kJobSteps][4]) const {
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int w = 0; w < kJobWords; ++w) {
        std::uint32_t pairs[F::kPairs];
        const int word = part * kJobWords + w;
        if constexpr (kByBlock)
          format_.unpack(words[h][word],
                         factors[h][Form::kWeights == SkinnyWeights::nvf4 ? word / 2 : 0], pairs);
        else
          format_.unpack(words[h][word], pairs);
#pragma unroll
        for (int p = 0; p < F::kPairs; ++p) {
          const int pair = w * F::kPairs + p;
          a[pair / 2][pair % 2 * 2 + h] = pairs[p];
        }
      }
  }

  F format_;
  std::uint8_t* shared_;
  int column_, first_row_;
  int weights_[2], scales_[2];  // offsets of the lane's two rows
  std::uint64_t tokens_;
  bool fresh_ = true;  // no stage of the pass was before
};

}  // namespace assay::kernels
