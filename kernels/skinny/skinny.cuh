// SPDX-License-Identifier: Apache-2.0
// The skinny product: one kernel for all packings of weights, bound by reading them.
//
// Balance. Every CTA (or cluster) has as many rows of W as any other, give or take one, whatever
// the size of a tile: rows that a tile has too many are not loaded. So there is no tail of tiles.
//
// Bytes in flight. Each lane keeps a queue of kDepth slots in shared memory, filled by cp.async and
// read by the same lane: no barrier, no registers. A slot is 16 rows by one unit, 64 bytes of each:
// lane t has 16 bytes of row t / 4 and of row t / 4 + 8. The queue runs on over passes and phases,
// through barriers and the reduction, so loads never stop before the last.
//
// Multiplication. A lane's 16 bytes are its part of mma.sync's A operand as they lie: which element
// of k an instruction takes for which column is free as long as the tokens (B) agree. So weights go
// from memory to the tensor core without a shuffle; packed ones are unpacked on the way
// (formats.cuh).
//
// Tokens. What a CTA needs of X is staged in shared memory first, in the order in which lanes take
// it: unit u, vector v of lane column q at u * 4V + 4v + q, 16 bytes each, pairs permuted as
// unpacked weights have them. A row is padded to 64 bytes more than a multiple of 128, so that the
// eight lanes of a phase of LDS.128 (two tokens, four columns) meet no bank twice. Where it does
// not fit, k is done in phases.
//
// Reduction. Warps share the rows (row groups) and k (k groups), and the CTAs of a cluster share k.
// Sums go through shared memory, that of the other CTAs too, and are added up in one order, by
// rank and k group: the same bits every time.
#pragma once
#include <cuda_bf16.h>

#include <cstdint>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/cp_async.cuh"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/shared_address.cuh"
#include "kernels/skinny/formats.cuh"
#include "kernels/skinny/launch.hpp"

namespace assay::kernels {

template <class F>
struct Piece {
  static constexpr int kElements = kSkinnyPieceBytes * 8 / F::kBits;
  static constexpr int kVectors = kElements / 4 / 8;  // of 8 tokens' elements, of one lane
  static constexpr int kPairs = kElements / 4 / 2;    // of one lane
  static constexpr int kBlock = scale_block(F::kWeights);
  static constexpr bool kByGroup = kBlock == 128;               // scales apply to sums
  static constexpr bool kByBlock = kBlock > 0 && kBlock < 128;  // to weights
  // s2: a unit has two groups, and so that a sum has one of them, a lane takes half of what it has
  // from one and half from the other, of what its neighbours loaded.
  static constexpr int kGroups = kByGroup ? kElements / kBlock : 1;
  // Words are unpacked a few at a time, as many as make whole vectors.
  static constexpr int kStepWords = F::kPairs < 4 ? 4 / F::kPairs : 1;
  static constexpr int kStepVectors = kStepWords * F::kPairs / 4;
  static constexpr int kScaleBytes = skinny_piece_scales(F::kWeights);  // of one row
};

// F is a format of formats.cuh.
template <class F, int kTokenTiles, bool kHopper>
__global__ void __launch_bounds__(SkinnyShape<kTokenTiles, kHopper>::kThreads, 1)
    skinny_product(const __grid_constant__ SkinnyArguments a) {
  using Shape = SkinnyShape<kTokenTiles, kHopper>;
  using U = Piece<F>;
  constexpr int kTiles = Shape::kTiles;
  constexpr int kPieces = Shape::kPieces;
  constexpr int kSlotBytes = skinny_slot_bytes(F::kWeights, Shape::kRows, kPieces);
  extern __shared__ __align__(128) std::uint8_t shared[];

  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int lane_row = lane / 4, column = lane % 4;
  const int row_group = warp / a.k_groups, k_group = warp % a.k_groups;
  int rank = 0, cluster = static_cast<int>(blockIdx.x), clusters = static_cast<int>(gridDim.x);
  if constexpr (kHopper) {
    rank = cluster % a.cluster;
    cluster /= a.cluster;
    clusters /= a.cluster;
  }
  const int rows_begin = static_cast<int>(std::int64_t{a.n} * cluster / clusters);
  const int rows_end = static_cast<int>(std::int64_t{a.n} * (cluster + 1) / clusters);
  // Shares of k and phases are whole slots, but for the last.
  const int units = (a.row_bytes + kSkinnyPieceBytes - 1) / kSkinnyPieceBytes;
  const int slots = (units + kPieces - 1) / kPieces;
  const int units_begin = static_cast<int>(std::int64_t{slots} * rank / a.cluster) * kPieces;
  const int units_end =
      min(static_cast<int>(std::int64_t{slots} * (rank + 1) / a.cluster) * kPieces, units);
  const int group_rows = a.blocks * Shape::kRows, pass_rows = a.row_groups * group_rows;

  const int depth = a.deep ? Shape::kDeep : Shape::kShallow;
  std::uint8_t* const queue = shared + warp * depth * kSlotBytes;
  std::uint8_t* const tokens = shared + a.tokens_offset;
  float* const sums = reinterpret_cast<float*>(shared + a.sums_offset);

  // Tokens on the way to where they will lie, from unit `begin` on: the first copies of all, and
  // what a thread brought it will permute.
  constexpr int kVectorsOfUnit = 4 * U::kVectors;
  constexpr int kTogether = F::kElements == 16 ? 2 : 1;  // vectors that are permuted together
  const auto for_my_tokens = [&](int begin, int end, const auto& act) {
    const int vectors =
        (end - begin + kPieces - 1) / kPieces * kPieces * kVectorsOfUnit / kTogether;
    int token = 0, j = static_cast<int>(threadIdx.x);
    while (true) {
      while (j >= vectors) {
        j -= vectors;
        if (++token == a.m) return;
      }
      const int unit = j * kTogether / kVectorsOfUnit, within = j * kTogether % kVectorsOfUnit;
      constexpr int kOfGroup = U::kVectors / U::kGroups;  // vectors of a lane in a group
      const int group = within / (4 * kOfGroup), in_group = within % (4 * kOfGroup);
      const int q = in_group / kOfGroup, v = group * kOfGroup + in_group % kOfGroup;
      act(reinterpret_cast<uint4*>(tokens + token * a.token_stride) + unit * kVectorsOfUnit +
              v * 4 + q,
          token, begin * kVectorsOfUnit + j * kTogether);
      j += Shape::kThreads;
    }
  };
  const auto fetch_tokens = [&](int begin, int end) {
    const int row_vectors = a.k / 8;
    for_my_tokens(begin, end, [&](uint4* to, int token, int at) {
#pragma unroll
      for (int t = 0; t < kTogether; ++t)
        ptx::cp_async_filled<16>(to + 4 * t, a.x + (std::int64_t{token} * row_vectors + at + t) * 8,
                                 at + t < row_vectors ? 16 : 0);
    });
    ptx::cp_async_commit();
  };
  const auto permute_tokens = [&](int begin, int end) {
    if constexpr (F::kPairs > 1) {
      for_my_tokens(begin, end, [&](uint4* at, int, int) {
        std::uint32_t words[4 * kTogether];
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          const uint4 v = at[4 * t];
          words[4 * t] = v.x, words[4 * t + 1] = v.y;
          words[4 * t + 2] = v.z, words[4 * t + 3] = v.w;
        }
#pragma unroll
        for (int w = 0; w < 4 * kTogether; w += F::kPairs) {
          std::uint32_t from[F::kPairs], to[F::kPairs];
#pragma unroll
          for (int p = 0; p < F::kPairs; ++p) from[p] = words[w + p];
          permute_pairs(from, to);
#pragma unroll
          for (int p = 0; p < F::kPairs; ++p) words[w + p] = to[p];
        }
#pragma unroll
        for (int t = 0; t < kTogether; ++t)
          at[4 * t] = {words[4 * t], words[4 * t + 1], words[4 * t + 2], words[4 * t + 3]};
      });
    }
  };

  // What the queue is filled with next: the lane's row of the first tile, and the first piece of
  // it. Blocks of rows follow each other in each phase, phases in each pass.
  const int step = a.k_groups * kPieces;  // from a warp's pieces to its next
  int next_row = rows_begin + row_group * group_rows + lane_row, next_block = 0;
  int next_phase = units_begin, next_phase_end = min(units_begin + a.phase_pieces, units_end);
  int next_piece = units_begin + k_group * kPieces;
  const std::int64_t row_step = std::int64_t{8} * a.row_bytes;
  const std::uint8_t* from = nullptr;
  const std::uint8_t* scales_from = nullptr;
  const auto point = [&] {
    const std::int64_t row = next_row;
    from = a.w + row * a.row_bytes + next_piece * kSkinnyPieceBytes + column * 16;
    if constexpr (U::kBlock > 0)
      scales_from = a.scales + row * a.scale_row_bytes + next_piece * U::kScaleBytes;
  };
  const auto next_rows = [&] {  // there may be none
    if (++next_block == a.blocks) {
      next_block = 0;
      next_row -= (a.blocks - 1) * Shape::kRows;
      next_phase = next_phase_end;
      if (next_phase >= units_end) {
        next_phase = units_begin;
        next_row += pass_rows;
      }
      next_phase_end = min(next_phase + a.phase_pieces, units_end);
    } else {
      next_row += Shape::kRows;
    }
    next_piece = next_phase + k_group * kPieces;
  };
  // A slot has its pieces of 16 bytes in the order tile and half of it, piece, lane; then, row by
  // row, the scales.
  const auto load = [&](int slot) {
    // A warp may have nothing of a phase.
    while (next_piece >= next_phase_end && next_row - lane_row < rows_end) {
      next_rows();
      point();
    }
    if (next_row - lane_row < rows_end) {
      std::uint8_t* const to = queue + slot * kSlotBytes;
      const int left =
          (min(next_phase_end * kSkinnyPieceBytes, a.row_bytes) - next_piece * kSkinnyPieceBytes);
#pragma unroll
      for (int h = 0; h < 2 * kTiles; ++h) {
        const bool valid = next_row + h * 8 < rows_end;
#pragma unroll
        for (int i = 0; i < kPieces; ++i)
          ptx::cp_async_filled<16>(to + (h * kPieces + i) * 512 + lane * 16,
                                   from + h * row_step + i * kSkinnyPieceBytes,
                                   valid && column * 16 + i * kSkinnyPieceBytes < left ? 16 : 0);
        if constexpr (U::kBlock > 0) {
          // By words or pairs of words of each lane, those of pieces that are not there too, as far
          // as the row goes.
          constexpr int kBytes = kPieces * U::kScaleBytes;
          constexpr int kEach = kBytes > 16 ? 8 : 4;
          static_assert(kBytes <= 32 && kBytes % kEach == 0);
          const bool there =
              valid && next_piece * U::kScaleBytes + column * kEach < a.scale_row_bytes;
          if (column * kEach < kBytes)
            ptx::cp_async_filled<kEach>(
                to + Shape::kRows * kPieces * kSkinnyPieceBytes + (h * 8 + lane_row) * kBytes +
                    column * kEach,
                scales_from + h * 8 * std::int64_t{a.scale_row_bytes} + column * kEach,
                there ? kEach : 0);
        }
      }
      next_piece += step;
      from += step * kSkinnyPieceBytes;
      if constexpr (U::kBlock > 0) scales_from += step * U::kScaleBytes;
    }
    ptx::cp_async_commit();
  };

  // Vector v of the lane's token in tile t of them.
  const auto token_vector = [&](int t, int unit, int v) -> uint4 {
    const int token = t * 8 + lane_row;
    if (token >= a.m) return {0, 0, 0, 0};
    return reinterpret_cast<const uint4*>(
        tokens + token * a.token_stride)[(unit * U::kVectors + v) * 4 + column];
  };

  fetch_tokens(units_begin, min(units_begin + a.phase_pieces, units_end));
  point();
  for (int slot = 0; slot < depth - 1; ++slot) load(slot);

  const int stride = pass_rows + 4;
  int slot = 0;
  bool staged = false;
  for (int pass_row = rows_begin; pass_row < rows_end; pass_row += pass_rows) {
    float d[kTiles][kTokenTiles][4];
    for (int begin = units_begin; begin < units_end; begin += a.phase_pieces) {
      const int end = min(begin + a.phase_pieces, units_end);
      if (!staged || a.restage) {
        if (staged) {
          __syncthreads();
          fetch_tokens(begin, end);
          ptx::cp_async_wait<0>();
        } else if (a.deep) {
          ptx::cp_async_wait<Shape::kDeep - 1>();
        } else {
          ptx::cp_async_wait<Shape::kShallow - 1>();
        }
        permute_tokens(begin, end);
        __syncthreads();
        staged = true;
      }
      for (int block = 0; block < a.blocks; ++block) {
        if (a.blocks > 1 || begin == units_begin) {
#pragma unroll
          for (int i = 0; i < kTiles * kTokenTiles * 4; ++i)
            d[i / (kTokenTiles * 4)][i / 4 % kTokenTiles][i % 4] = 0;
        }
        const bool any = pass_row + row_group * group_rows + block * Shape::kRows < rows_end;
#pragma unroll 1
        for (int first = begin + k_group * kPieces; first < end && any; first += step) {
          if (a.deep)
            ptx::cp_async_wait<Shape::kDeep - 2>();
          else
            ptx::cp_async_wait<Shape::kShallow - 2>();
          __syncwarp();
          const std::uint8_t* const at = queue + slot * kSlotBytes;
          load(slot == 0 ? depth - 1 : slot - 1);
          if (++slot == depth) slot = 0;
#pragma unroll
          for (int piece = 0; piece < kPieces; ++piece) {
            const int unit = first + piece;
            // The lane's weights, of rows lane_row + 8 h.
            std::uint32_t words[2 * kTiles][4];
            [[maybe_unused]] std::uint32_t factors[2 * kTiles]
                                                  [2];  // kByBlock: of words 0, 1 and 2, 3
            [[maybe_unused]] float group_scales[2 * kTiles][U::kGroups];  // kByGroup
#pragma unroll
            for (int h = 0; h < 2 * kTiles; ++h) {
              const std::uint8_t* const mine = at + (h * kPieces + piece) * 512;
              if constexpr (U::kGroups == 2) {
                const uint2* const row = reinterpret_cast<const uint2*>(mine + lane_row * 64);
                const uint2 low = row[column], high = row[4 + column];
                words[h][0] = low.x, words[h][1] = low.y, words[h][2] = high.x,
                words[h][3] = high.y;
              } else {
                const uint4 all = reinterpret_cast<const uint4*>(mine)[lane];
                words[h][0] = all.x, words[h][1] = all.y, words[h][2] = all.z, words[h][3] = all.w;
              }
              const std::uint8_t* const row_scales =
                  at + Shape::kRows * kPieces * kSkinnyPieceBytes +
                  ((h * 8 + lane_row) * kPieces + piece) * U::kScaleBytes;
              if constexpr (U::kByGroup) {
#pragma unroll
                for (int g = 0; g < U::kGroups; ++g)
                  group_scales[h][g] =
                      __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(row_scales)[g]);
              } else if constexpr (F::kWeights == SkinnyWeights::mxf4) {
                factors[h][0] = factors[h][1] = F::factor(row_scales[column]);
              } else if constexpr (F::kWeights == SkinnyWeights::nvf4) {
                const std::uint32_t both =
                    reinterpret_cast<const std::uint16_t*>(row_scales)[column];
                factors[h][0] = F::factor(both & 0xff);
                factors[h][1] = F::factor(both >> 8);
              }
            }
#pragma unroll
            for (int g = 0; g < U::kGroups; ++g) {
              float group_sums[U::kByGroup ? kTiles : 1][kTokenTiles][4] = {};
#pragma unroll
              for (int word = g * 4 / U::kGroups; word < (g + 1) * 4 / U::kGroups;
                   word += U::kStepWords) {
                std::uint32_t pairs[2 * kTiles][4 * U::kStepVectors];
#pragma unroll
                for (int h = 0; h < 2 * kTiles; ++h)
#pragma unroll
                  for (int w = 0; w < U::kStepWords; ++w) {
                    std::uint32_t some[F::kPairs];
                    if constexpr (U::kByBlock)
                      F::unpack(words[h][word + w], factors[h][(word + w) / 2], some);
                    else
                      F::unpack(words[h][word + w], some);
#pragma unroll
                    for (int p = 0; p < F::kPairs; ++p) pairs[h][w * F::kPairs + p] = some[p];
                  }
#pragma unroll
                for (int i = 0; i < U::kStepVectors; ++i)
#pragma unroll
                  for (int t = 0; t < kTokenTiles; ++t) {
                    const uint4 b =
                        token_vector(t, unit - begin, word * U::kStepVectors / U::kStepWords + i);
                    const std::uint32_t b0[2] = {b.x, b.y}, b1[2] = {b.z, b.w};
#pragma unroll
                    for (int tile = 0; tile < kTiles; ++tile) {
                      float(&into)[4] = U::kByGroup ? group_sums[tile][t] : d[tile][t];
                      const std::uint32_t(&low)[4 * U::kStepVectors] = pairs[2 * tile];
                      const std::uint32_t(&high)[4 * U::kStepVectors] = pairs[2 * tile + 1];
                      const int p = 4 * i;
                      ptx::mma_m16n8k16_bf16(into, {low[p], high[p], low[p + 1], high[p + 1]}, b0);
                      ptx::mma_m16n8k16_bf16(
                          into, {low[p + 2], high[p + 2], low[p + 3], high[p + 3]}, b1);
                    }
                  }
              }
              if constexpr (U::kByGroup) {
#pragma unroll
                for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
                  for (int t = 0; t < kTokenTiles; ++t)
#pragma unroll
                    for (int i = 0; i < 4; ++i)
                      d[tile][t][i] += group_scales[2 * tile + i / 2][g] * group_sums[tile][t][i];
              }
            }
          }
        }

        // The warp's sums to shared memory: [k group][token][row], rows padded so that the lanes of
        // a warp meet no bank twice.
        if (a.blocks > 1 || end == units_end) {
          if (a.sums_over_tokens) __syncthreads();
          const bool adds = a.blocks > 1 && begin > units_begin;
#pragma unroll
          for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
            for (int t = 0; t < kTokenTiles; ++t)
#pragma unroll
              for (int i = 0; i < 4; ++i) {
                const int token = t * 8 + column * 2 + i % 2;
                const int row = row_group * group_rows + block * Shape::kRows + tile * 16 +
                                lane_row + i / 2 * 8;
                float* const to = sums + (k_group * a.m + token) * stride + row;
                if (token < a.m) *to = adds ? *to + d[tile][t][i] : d[tile][t][i];
              }
        }
      }
    }

    if (kHopper && a.cluster > 1)
      ptx::cluster_sync();
    else
      __syncthreads();
    const int rows = min(pass_rows, rows_end - pass_row);
    // The CTAs of a cluster share the outputs of this pass.
    for (int i = rank * Shape::kThreads + static_cast<int>(threadIdx.x); i < rows * a.m;
         i += a.cluster * Shape::kThreads) {
      const int token = i / rows, row = i - token * rows;
      float sum = 0;
      if (kHopper && a.cluster > 1) {
        for (int r = 0; r < a.cluster; ++r) {
          const std::uint32_t remote = ptx::map_shared_address(ptx::shared_address(sums), r);
          for (int g = 0; g < a.k_groups; ++g)
            sum += __uint_as_float(ptx::cluster_load_weak_u32(
                remote + ((g * a.m + token) * stride + row) * static_cast<int>(sizeof sum)));
        }
      } else {
#pragma unroll 8
        for (int g = 0; g < a.k_groups; ++g) sum += sums[(g * a.m + token) * stride + row];
      }
      const int n = pass_row + row;
      if constexpr (scale_bytes(F::kWeights) == 4)
        sum *= reinterpret_cast<const float*>(a.scales)[n];
      if constexpr (F::kWeights == SkinnyWeights::nvf4) sum *= *a.scale * F::kRest;
      a.d[std::int64_t{token} * a.n + n] = __float2bfloat16_rn(sum);
    }
    // Before the sums are overwritten, or this CTA leaves.
    if (kHopper && a.cluster > 1)
      ptx::cluster_sync();
    else if (pass_row + pass_rows < rows_end)
      __syncthreads();
  }
}

}  // namespace assay::kernels
