// SPDX-License-Identifier: Apache-2.0
// How C comes to the sums of the Hopper matrix product: by the ring, in the stages that follow a
// tile's last step. The loader asks for it as soon as they are free, while the last steps are
// multiplied. Asked for before that, it delays operands; by the consumers, which have registers for
// a few values only once the sum is done, it costs two rounds to DRAM.
//
// A box is 128 bytes of each of D's rows that the tile has, under the 128-byte swizzle, and lies in
// a stage where operands do: some boxes fit P's part of it, some Q's.
#pragma once
#include <cstdint>

#include "harness/ptx/matrix.cuh"
#include "harness/ptx/shared_address.cuh"
#include "kernels/gemm/sm90/arguments_sm90.hpp"
#include "kernels/gemm/sm90/pairs_sm90.cuh"
#include "kernels/gemm/sm90/wide_box_sm90.cuh"

namespace assay::kernels {

// `wide`: of f32, else of 16 bits.
template <class Tile>
struct CTileSm90 {
  static constexpr int kBoxBytes = (Tile::kSwapped ? Tile::kTileN : Tile::kTileM) * 128;
  static constexpr int kInP = Tile::kBytesP / kBoxBytes;
  static constexpr int kPerStage = kInP + Tile::kBytesQ / kBoxBytes;
  static_assert(kPerStage > 0);

  static constexpr int columns(bool wide) { return wide ? 32 : 64; }  // of D, of a box
  static constexpr int boxes(bool wide) {
    const int all = Tile::kSwapped ? Tile::kTileM : Tile::kTileN;
    return (all + columns(wide) - 1) / columns(wide);
  }
  static constexpr int stages(int boxes) { return (boxes + kPerStage - 1) / kPerStage; }
  // A ping-pong's consumer waits for C before it has released its last step.
  static constexpr bool fits(bool wide) {
    return stages(boxes(wide)) <= Tile::kStages - Tile::kPingpong;
  }
  static_assert(fits(false));
  static constexpr bool kFitsWide = fits(true);  // else such a product is for other forms

  // Where box `at` of those that a stage holds lies.
  __device__ static std::uint8_t* place(std::uint8_t* stages_p, std::uint8_t* stages_q, int stage,
                                        int at) {
    return at < kInP ? stages_p + stage * Tile::kBytesP + at * kBoxBytes
                     : stages_q + stage * Tile::kBytesQ + (at - kInP) * kBoxBytes;
  }
};

// What the ring holds of a tile's C: boxes from the first of stage `first` on.
template <class Tile>
struct CInRingSm90 {
  std::uint8_t *stages_p, *stages_q;
  int first;
  int consumer;  // of those that share the tile

  __device__ std::uint8_t* box(int index) const {
    constexpr int kPerStage = CTileSm90<Tile>::kPerStage;
    int stage = first + index / kPerStage;
    if (stage >= Tile::kStages) stage -= Tile::kStages;
    return CTileSm90<Tile>::place(stages_p, stages_q, stage, index % kPerStage);
  }
};

// d + beta * C, of 16-bit elements. ldmatrix takes what stmatrix wrote (store_sm90.cuh).
template <class Tile>
__device__ void add_c_16_bits(float (&d)[Tile::kBlocks][Tile::kTileN / 2],
                              const CInRingSm90<Tile>& c, float beta, bool half) {
  constexpr int kGroups = Tile::kTileN / 8;  // of eight columns
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const auto add = [&](int block, int group, const std::uint32_t(&four)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (group + i / 2 >= kGroups) break;
      const float2 pair = unpack(four[i], half);
      float* const sums = &d[block][4 * group + 2 * i];
      sums[0] = fmaf(beta, pair.x, sums[0]);
      sums[1] = fmaf(beta, pair.y, sums[1]);
    }
  };
  std::uint32_t four[4];
  if constexpr (Tile::kSwapped) {
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      const std::uint32_t base = ptx::shared_address(c.box(c.consumer * Tile::kBlocks + block)) +
                                 lane % 8 * 128 + ((2 * warp + lane / 8 % 2) ^ lane % 8) * 16;
#pragma unroll
      for (int group = 0; group < kGroups; group += 2) {
        const bool two = group + 1 < kGroups;
        ptx::ldmatrix_x4_trans(four, base + (group + (two ? lane / 16 : 0)) * 1024);
        add(block, group, four);
      }
    }
  } else {
#pragma unroll
    for (int box = 0; box * 8 < kGroups; ++box) {
      const std::uint32_t row = c.consumer * Tile::kBlocks * 64 + warp * 16 + lane % 16;
      const std::uint32_t base =
          ptx::shared_address(c.box(box)) + row * 128 + (lane / 16 ^ lane % 8) * 16;
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int group = box * 8 + 2 * j;
          if (group >= kGroups) break;
          ptx::ldmatrix_x4(four, (base + block * 8192) ^ 32u * j);
          add(block, group, four);
        }
      }
    }
  }
}

// The same of f32.
template <class Tile>
__device__ void add_c_f32(float (&d)[Tile::kBlocks][Tile::kTileN / 2], const CInRingSm90<Tile>& c,
                          float beta) {
  const int warp = static_cast<int>(threadIdx.x % 128 / 32);
#pragma unroll
  for (int block = 0; block < Tile::kBlocks; ++block) {
    const int row = (c.consumer * Tile::kBlocks + block) * 64 + warp * 16;
    if constexpr (Tile::kSwapped) {
      const std::uint8_t* const box = c.box(row / 32);
#pragma unroll
      for (int i = 0; i < Tile::kTileN / 2; ++i)
        d[block][i] =
            fmaf(beta, *reinterpret_cast<const float*>(box + wide_value_at(i)), d[block][i]);
    } else {
#pragma unroll
      for (int i = 0; i < Tile::kTileN / 2; i += 2) {
        const auto* const pair =
            reinterpret_cast<const float2*>(c.box(i / 16) + row * 128 + wide_pair_at(i % 16));
        d[block][i] = fmaf(beta, pair->x, d[block][i]);
        d[block][i + 1] = fmaf(beta, pair->y, d[block][i + 1]);
      }
    }
  }
}

template <class Tile>
__device__ void add_c(float (&d)[Tile::kBlocks][Tile::kTileN / 2], const CInRingSm90<Tile>& c,
                      const GemmArgumentsSm90& args) {
  if (CTileSm90<Tile>::kFitsWide && args.type == OutputType::f32) {
    add_c_f32<Tile>(d, c, args.beta);
  } else if (args.type == OutputType::f16) {
    add_c_16_bits<Tile>(d, c, args.beta, true);
  } else {
    add_c_16_bits<Tile>(d, c, args.beta, false);
  }
}

}  // namespace assay::kernels
