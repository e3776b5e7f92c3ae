// SPDX-License-Identifier: Apache-2.0
// The skinny product without TMA and wgmma: for every target, and on Hopper for one token in some
// sizes. One kernel for all packings of weights, bound by reading them. (Other products of packed
// weights on Hopper: sm90/ring_sm90.cuh.)
//
// Balance. Every CTA (or cluster) has as many rows of W as any other, give or take one, whatever
// the size of a tile: rows that a tile has too many are not loaded. So there is no tail of tiles.
//
// Bytes in flight. Each warp keeps a queue of slots in shared memory (queue.cuh), filled by
// cp.async and read by the same lanes: no barrier, no registers. It runs on over passes and phases,
// through barriers and the reduction, so loads never stop before the last.
//
// Multiplication. A lane's 16 bytes are its part of mma.sync's A operand as they lie: which element
// of k an instruction takes for which column is free as long as the tokens (B) agree. So weights go
// from memory to the tensor core without a shuffle; packed ones are unpacked on the way
// (formats.cuh). Few tokens use all columns too: launch.hpp.
//
// Before and after. A kernel on Hopper may begin while the one in front of it ends. Until that has
// ended it may only prefetch weights and scales to L2: this is safe even if the kernel in front
// writes them, because L2 is coherent. All reads and writes come after the wait.
//
// Tokens. What a CTA needs of X is staged in shared memory first (tokens.cuh). Where that does not
// fit, k is done in phases: the tokens of the next come during one, behind the weights of its first
// slot.
//
// Reduction. Warps share the rows (row groups) and k (k groups), and the CTAs of a cluster share k.
// Sums go through shared memory, that of the other CTAs too, and are added up in one order, by
// rank and k group: the same bits every time.
#pragma once
#include <cuda_bf16.h>

#include <cstdint>
#include <type_traits>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/cp_async.cuh"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/shared_address.cuh"
#include "kernels/skinny/product/queue.cuh"
#include "kernels/skinny/product/tokens.cuh"

namespace assay::kernels {

// Adds to d, [tile][column / 8], what a piece of a slot contributes. `tokens` are the vectors of
// each block of 8 columns that go with it.
template <class F, class Shape>
__device__ inline void multiply_piece(float (&d)[Shape::kTiles][Shape::kColumns][4],
                                      const F& format, const WeightQueue<F, Shape>& queue, int slot,
                                      int piece, const uint4* const (&tokens)[Shape::kColumns]) {
  using P = Chunk<F>;
  constexpr int kTiles = Shape::kTiles, kColumns = Shape::kColumns;
  const int lane = static_cast<int>(threadIdx.x) % 32, lane_row = lane / 4, column = lane % 4;
  // The lane's weights, of rows lane_row + 8 h.
  std::uint32_t words[2 * kTiles][4];
  [[maybe_unused]] std::uint32_t factors[2 * kTiles][2][2];     // kByBlock: of words 0, 1 and 2, 3
  [[maybe_unused]] float group_scales[2 * kTiles][P::kGroups];  // kByGroup
#pragma unroll
  for (int h = 0; h < 2 * kTiles; ++h) {
    queue.take(slot, h, piece, words[h]);
    const std::uint8_t* const scales = queue.scales(slot, h, lane_row, piece);
    if constexpr (P::kGroups == 2) {
      const std::uint32_t both = *reinterpret_cast<const std::uint32_t*>(scales);
      group_scales[h][0] = __uint_as_float(both << 16);
      group_scales[h][1] = __uint_as_float(both & 0xffff0000u);
    } else if constexpr (P::kByGroup) {
      group_scales[h][0] = __bfloat162float(*reinterpret_cast<const __nv_bfloat16*>(scales));
    } else if constexpr (F::kWeights == SkinnyWeights::mxf4) {
      F::factors(scales[column], factors[h][0]);
    } else if constexpr (F::kWeights == SkinnyWeights::nvf4) {
      const std::uint32_t both = reinterpret_cast<const std::uint16_t*>(scales)[column];
      F::factors(both & 0xff, factors[h][0]);
      F::factors(both >> 8, factors[h][1]);
    }
  }
#pragma unroll
  for (int g = 0; g < P::kGroups; ++g) {
    float group_sums[P::kByGroup ? kTiles : 1][kColumns][4] = {};
#pragma unroll
    for (int word = g * 4 / P::kGroups; word < (g + 1) * 4 / P::kGroups; word += P::kStepWords) {
      std::uint32_t pairs[2 * kTiles][4 * P::kStepVectors];
#pragma unroll
      for (int h = 0; h < 2 * kTiles; ++h)
#pragma unroll
        for (int w = 0; w < P::kStepWords; ++w) {
          std::uint32_t some[F::kPairs];
          if constexpr (P::kByBlock)
            format.unpack(words[h][word + w],
                          factors[h][F::kWeights == SkinnyWeights::nvf4 ? (word + w) / 2 : 0],
                          some);
          else
            format.unpack(words[h][word + w], some);
#pragma unroll
          for (int p = 0; p < F::kPairs; ++p) pairs[h][w * F::kPairs + p] = some[p];
        }
#pragma unroll
      for (int i = 0; i < P::kStepVectors; ++i)
#pragma unroll
        for (int t = 0; t < kColumns; ++t) {
          const uint4 b = tokens[t][8 * (word * P::kStepVectors / P::kStepWords + i)];
          const std::uint32_t b0[2] = {b.x, b.y}, b1[2] = {b.z, b.w};
#pragma unroll
          for (int tile = 0; tile < kTiles; ++tile) {
            float(&into)[4] = P::kByGroup ? group_sums[tile][t] : d[tile][t];
            const std::uint32_t(&low)[4 * P::kStepVectors] = pairs[2 * tile];
            const std::uint32_t(&high)[4 * P::kStepVectors] = pairs[2 * tile + 1];
            const int p = 4 * i;
            ptx::mma_m16n8k16_bf16(into, {low[p], high[p], low[p + 1], high[p + 1]}, b0);
            ptx::mma_m16n8k16_bf16(into, {low[p + 2], high[p + 2], low[p + 3], high[p + 3]}, b1);
          }
        }
    }
    if constexpr (P::kByGroup) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
        for (int t = 0; t < kColumns; ++t)
#pragma unroll
          for (int i = 0; i < 4; ++i)
            d[tile][t][i] += group_scales[2 * tile + i / 2][g] * group_sums[tile][t][i];
    }
  }
}

// F is a format of formats.cuh.
template <class F, int kTokens, bool kHopper>
__global__ void __launch_bounds__(SkinnyShape<kTokens>::kThreads, 1)
    skinny_product(const __grid_constant__ SkinnyArguments a) {
  using Shape = SkinnyShape<kTokens>;
  using Queue = WeightQueue<F, Shape>;
  using Stage = TokenStage<F, Shape>;
  constexpr int kTiles = Shape::kTiles, kPieces = Shape::kPieces, kColumns = Shape::kColumns;
  extern __shared__ __align__(128) std::uint8_t shared[];

  // The same for all lanes, and known to be so.
  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
  const int lane = static_cast<int>(threadIdx.x) % 32, lane_row = lane / 4, column = lane % 4;
  int rank = 0, cluster = static_cast<int>(blockIdx.x);
  if constexpr (kHopper) {
    if (a.cluster > 1) {
      rank = static_cast<int>(ptx::cluster_cta_rank());
      cluster = static_cast<int>(ptx::cluster_id_x());
    }
  }
  const int pieces = (a.row_bytes + Shape::kPieceBytes - 1) / Shape::kPieceBytes;
  const int rows_begin = cluster * a.rows_each + min(cluster, a.rows_rest);
  const int slots_begin = rank * a.slots_each + min(rank, a.slots_rest);
  const int slots_end = slots_begin + a.slots_each + (rank < a.slots_rest);
  const SkinnyShare share{.rows_begin = rows_begin,
                          .rows_end = rows_begin + a.rows_each + (cluster < a.rows_rest),
                          .pieces_begin = slots_begin * kPieces,
                          .pieces_end = min(slots_end * kPieces, pieces),
                          .row_group = warp >> a.log_k_groups,
                          .k_group = warp & (a.k_groups - 1),
                          .group_rows = a.blocks * Shape::kRows,
                          .pass_rows = a.row_groups * a.blocks * Shape::kRows,
                          .step = a.k_groups * kPieces,
                          .log_step = a.log_k_groups + (kPieces == 2)};

  const int depth = a.deep ? Shape::kDeep : Shape::kShallow;
  const Stage tokens{a, shared + a.tokens_offset};
  float* const sums = reinterpret_cast<float*>(shared + a.sums_offset);
  Queue queue(a, share, shared + warp * depth * Queue::kSlotBytes);
  if constexpr (kHopper) {
    queue.prefetch(depth - 1);
    if constexpr (scale_bytes(F::kWeights) == 4) {
      constexpr int kLine = 128 / 4;  // scales
      const int row = rows_begin + static_cast<int>(threadIdx.x) * kLine;
      if (row < share.rows_end) ptx::prefetch_l2(a.scales + std::int64_t{row} * 4);
    }
    ptx::launch_dependents();
    ptx::wait_for_dependencies();
  }
  tokens.fetch(share.pieces_begin, min(share.pieces_begin + a.phase_pieces, share.pieces_end), 0);
  ptx::cp_async_commit();
  for (int slot = 0; slot < depth - 1; ++slot) queue.load(slot);

  const int stride = share.pass_rows + 4;  // of sums: the lanes of a warp meet no bank twice
  F format;
  format.begin(static_cast<std::uint32_t>(a.m + lane) >> 16);
  const uint4* of_lane[kColumns];
#pragma unroll
  for (int t = 0; t < kColumns; ++t) of_lane[t] = tokens.of_lane(t);
  // Until at most as many groups are on the way as the queue has slots, but for some.
  const auto wait_but = [&](auto some) {
    if (a.deep)
      ptx::cp_async_wait<Shape::kDeep - some>();
    else
      ptx::cp_async_wait<Shape::kShallow - some>();
  };
  int slot = 0, buffer = 0;
  int turns = 0;  // of the phase
  constexpr int kNone = -1;
  int next = kNone;  // where the phase begins whose tokens this thread must still fetch
  const auto fetch_next = [&] {
    if (next != kNone) tokens.fetch(next, min(next + a.phase_pieces, share.pieces_end), buffer ^ 1);
    next = kNone;
  };
  bool staged = false;
  for (int pass_row = share.rows_begin; pass_row < share.rows_end; pass_row += share.pass_rows) {
    float d[kTiles][kColumns][4];
    for (int begin = share.pieces_begin; begin < share.pieces_end; begin += a.phase_pieces) {
      const int end = min(begin + a.phase_pieces, share.pieces_end);
      if (!staged || a.restage) {
        // The first phase's tokens are a group before the queue's first. Those that come ahead are
        // in that of the first slot that the phase before loaded, if it did, and enough others
        // followed.
        if (!staged) {
          wait_but(std::integral_constant<int, 1>());
        } else if (a.ahead) {
          if (turns >= depth - 1) {
            wait_but(std::integral_constant<int, 2>());
          } else {
            ptx::cp_async_commit();
            ptx::cp_async_wait<0>();
          }
          buffer ^= 1;
        } else {
          __syncthreads();
          tokens.fetch(begin, end, 0);
          ptx::cp_async_commit();
          ptx::cp_async_wait<0>();
        }
        tokens.permute(begin, end, buffer);
        __syncthreads();  // nobody reads the other buffer any more
        staged = true;
        turns = 0;
        if (a.ahead)
          next = end < share.pieces_end                        ? end
                 : pass_row + share.pass_rows < share.rows_end ? share.pieces_begin
                                                               : kNone;
      }
      for (int block = 0; block < a.blocks; ++block) {
        const int block_row = share.row_group * share.group_rows + block * Shape::kRows;
        if (a.blocks > 1 || begin == share.pieces_begin) {
#pragma unroll
          for (int i = 0; i < kTiles * kColumns * 4; ++i)
            d[i / (kColumns * 4)][i / 4 % kColumns][i % 4] = 0;
        }
        const int warp_end = pass_row + block_row < share.rows_end ? end : 0;
        int at = buffer * tokens.buffer_vectors() + share.k_group * Stage::kSlot;  // of a slot's
#pragma unroll 1
        for (int first = begin + share.k_group * kPieces; first < warp_end; first += share.step) {
          wait_but(std::integral_constant<int, 2>());
          __syncwarp();
          fetch_next();
          const int now = slot;
          queue.load(slot == 0 ? depth - 1 : slot - 1);  // the slot of the turn before
          if (++slot == depth) slot = 0;
          ++turns;
          // Two pieces of the widest form side by side take more registers than there are.
#pragma unroll(kColumns == 8 ? 1 : kPieces)
          for (int i = 0; i < kPieces; ++i) {
            const uint4* of_piece[kColumns];
#pragma unroll
            for (int t = 0; t < kColumns; ++t) of_piece[t] = of_lane[t] + at + i * Stage::kPiece;
            multiply_piece<F, Shape>(d, format, queue, now, i, of_piece);
          }
          at += a.k_groups * Stage::kSlot;
        }

        // The warp's sums to shared memory: [k group][chunk][token][row].
        if (a.blocks > 1 || end == share.pieces_end) {
          if (a.sums_over_tokens) __syncthreads();
          const bool adds = a.blocks > 1 && begin > share.pieces_begin;
#pragma unroll
          for (int i = 0; i < kTiles * kColumns * 4; ++i) {
            const int n = i / 4 % kColumns * 8 + column * 2 + i % 2;
            const int token = n / Shape::kChunks, chunk = n % Shape::kChunks;
            const int row = block_row + i / (kColumns * 4) * Shape::kTileRows +
                            i % 4 / 2 * Queue::kHalfRows + lane_row / Shape::kChunks;
            float* const to =
                sums + ((share.k_group * Shape::kChunks + chunk) * a.m + token) * stride + row;
            const float sum = d[i / (kColumns * 4)][i / 4 % kColumns][i % 4];
            if (token < a.m && chunk == lane_row % Shape::kChunks) *to = adds ? *to + sum : sum;
          }
        }
      }
      fetch_next();  // of a warp that had no turn
    }

    if (kHopper && a.cluster > 1)
      ptx::cluster_sync();
    else
      __syncthreads();
    const int rows = min(share.pass_rows, share.rows_end - pass_row);
    const int parts = a.k_groups * Shape::kChunks;
    // The CTAs of a cluster share the outputs of this pass.
    for (int i = rank * Shape::kThreads + static_cast<int>(threadIdx.x); i < rows * a.m;
         i += a.cluster * Shape::kThreads) {
      const int token = kTokens == 1 ? 0 : i / rows, row = i - token * rows;
      float sum = 0;
      if (kHopper && a.cluster > 1) {
        for (int r = 0; r < a.cluster; ++r) {
          const std::uint32_t remote = ptx::map_shared_address(ptx::shared_address(sums), r);
          for (int g = 0; g < parts; ++g)
            sum += __uint_as_float(ptx::cluster_load_weak_u32(
                remote + ((g * a.m + token) * stride + row) * static_cast<int>(sizeof sum)));
        }
      } else {
#pragma unroll 8
        for (int g = 0; g < parts; ++g) sum += sums[(g * a.m + token) * stride + row];
      }
      const int n = pass_row + row;
      if constexpr (scale_bytes(F::kWeights) == 4)
        sum *= reinterpret_cast<const float*>(a.scales)[n];
      if constexpr (F::kWeights == SkinnyWeights::nvf4) sum *= *a.scale;
      sum *= F::kRest;
      a.d[std::int64_t{token} * a.n + n] = __float2bfloat16_rn(sum);
    }
    // Before the sums are overwritten, or this CTA leaves.
    if (kHopper && a.cluster > 1)
      ptx::cluster_sync();
    else if (pass_row + share.pass_rows < share.rows_end)
      __syncthreads();
  }
}

}  // namespace assay::kernels
