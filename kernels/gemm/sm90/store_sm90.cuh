// SPDX-License-Identifier: Apache-2.0
// How results of the Hopper matrix product leave: a warp puts some columns of its rows into a
// buffer in shared memory, and TMA writes them, which clips at D's edges. A swapped variant's warps
// have their warpgroup's buffers in common, and wait for each other at `barrier`.
//
// `row` is the first of the kStoreRows rows that leave together. `sent` counts what has left so
// far.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/ptx/fence.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "kernels/gemm/sm90/pairs_sm90.cuh"
#include "kernels/gemm/sm90/wide_box_sm90.cuh"

namespace assay::kernels {

// Rounds a block to f16 or bf16: word i holds accumulators 2 i and 2 i + 1.
template <class Tile>
__device__ void pack_block(std::uint32_t (&packed)[Tile::kTileN / 4],
                           const float (&d)[Tile::kTileN / 2], bool half) {
  const auto apply = [&](bool to_half) {
#pragma unroll
    for (int i = 0; i < Tile::kTileN / 4; ++i) packed[i] = pack(d[2 * i], d[2 * i + 1], to_half);
  };
  if (half) {
    apply(true);
  } else {
    apply(false);
  }
}

// fill(buffer) by all who have it in common, then send(buffer), which begins stores, by one thread.
template <class Tile, class Fill, class Send>
__device__ void send_by_buffer(std::uint8_t* buffers, int& sent, int barrier, const Fill& fill,
                               const Send& send) {
  const bool sends = threadIdx.x % (Tile::kSwapped ? 128 : 32) == 0;
  const auto together = [&] {
    if constexpr (Tile::kSwapped) {
      ptx::named_barrier_sync(barrier, 128);
    } else {
      __syncwarp();
    }
  };
  std::uint8_t* const buffer = buffers + sent % Tile::kStoreBuffers * Tile::kBytesStore;
  if (sent >= Tile::kStoreBuffers) {  // a store before used this buffer
    if (sends) ptx::bulk_wait_read<Tile::kStoreBuffers - 1>();
    together();
  }
  ++sent;
  fill(buffer);
  ptx::fence_proxy_async_shared();
  together();
  if (sends) {
    send(buffer);
    ptx::bulk_commit();
  }
}

// Writes a rounded block.
//
// stmatrix takes four 8 x 8 matrices; lane l gives the address of one row of 16 bytes of matrix
// l / 8. Rows of a buffer are kStoreColumns wide, under the swizzle of that width, which puts the
// eight rows of a matrix into different banks. A swapped variant's buffers hold the transpose: rows
// of 64 elements, one for each of its columns, of which each warp writes 16.
//
// Clipped stores do not write D's rows from `end` on, though they are inside of D. The map has D's
// rows twice for that, as dimension 1 of as many rows as a box has, and as dimension 2 of all, with
// the same stride, and begins one box before D. What lies beyond dimension 1's end is not written:
// of a box whose last rows are to stay, it is moved there, and dimension 2 goes back by as much.
template <class Tile, bool kClipped>
__device__ void store_block(const CUtensorMap* map, const std::uint32_t (&packed)[Tile::kTileN / 4],
                            std::uint8_t* buffers, int& sent, int row, int column, int end,
                            int barrier) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t warp = threadIdx.x % 128 / 32;  // of the warpgroup
#pragma unroll
  for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
    const int begin = Tile::chunk_begin(chunk);
    const auto fill = [&](std::uint8_t* buffer) {
      const std::uint32_t base = ptx::shared_address(buffer);
#pragma unroll
      for (int j = 0; j < Tile::kStoreColumns / 16; ++j) {
        std::uint32_t four[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) four[i] = packed[begin / 4 + j * 4 + i];
        if constexpr (Tile::kSwapped) {
          // Matrices 0 and 1 are rows 0-7 and 8-15 of column group 2 j, 2 and 3 of group 2 j + 1.
          const std::uint32_t buffer_row = (2 * j + lane / 16) * 8 + lane % 8;
          const std::uint32_t group = 2 * warp + lane / 8 % 2;  // of eight rows
          ptx::stmatrix_x4_transposed(base + buffer_row * 128 + (group ^ lane % 8) * 16, four);
        } else {
          // Group 2 j + lane / 16 of the row, and 2 j changes bits of its own.
          constexpr std::uint32_t kRowBytes = Tile::kStoreColumns <= 16   ? 32
                                              : Tile::kStoreColumns <= 32 ? 64
                                                                          : 128;
          const std::uint32_t buffer_row = lane % 16;
          const std::uint32_t swizzle = buffer_row * kRowBytes / 128 % (kRowBytes / 16);
          const std::uint32_t first = base + buffer_row * kRowBytes + (lane / 16 ^ swizzle) * 16;
          ptx::stmatrix_x4(first ^ 32u * j, four);
        }
      }
    };
    send_by_buffer<Tile>(buffers, sent, barrier, fill, [&](const std::uint8_t* buffer) {
      // As D has them.
      const int d_row = Tile::kSwapped ? column + begin : row;
      const int d_column = Tile::kSwapped ? row : column + begin;
      if constexpr (kClipped) {
        constexpr int kRows = Tile::kSwapped ? Tile::kStoreColumns : 16;
        const int written = min(max(end - d_row, 0), kRows);
        ptx::tma_store_3d(map, buffer, d_column, kRows - written, d_row + written);
      } else {
        ptx::tma_store_2d(map, buffer, d_column, d_row);
      }
    });
  }
}

// Writes a block in f32, by 32 columns. Those are 128 bytes of D's rows; a swapped variant's buffer
// has two boxes of 32 rows for them.
template <class Tile>
__device__ void store_f32(const CUtensorMap* map, const float (&d)[Tile::kTileN / 2],
                          std::uint8_t* buffers, int& sent, int row, int column, int barrier) {
  constexpr int kColumns = Tile::kTileN < 32 ? Tile::kTileN : 32;
  static_assert(Tile::kSwapped || kColumns == 32);
  constexpr int kChunks = (Tile::kTileN + kColumns - 1) / kColumns;
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const int begin = chunk + 1 < kChunks ? chunk * kColumns : Tile::kTileN - kColumns;
    const auto fill = [&](std::uint8_t* buffer) {
      if constexpr (Tile::kSwapped) {
        std::uint8_t* const box = buffer + threadIdx.x % 128 / 64 * (Tile::kBytesStore / 2);
#pragma unroll
        for (int i = 0; i < kColumns / 2; ++i)
          *reinterpret_cast<float*>(box + wide_value_at(i)) = d[begin / 2 + i];
      } else {
#pragma unroll
        for (int i = 0; i < kColumns / 2; i += 2)
          *reinterpret_cast<float2*>(buffer + wide_pair_at(i)) = {d[begin / 2 + i],
                                                                  d[begin / 2 + i + 1]};
      }
    };
    send_by_buffer<Tile>(buffers, sent, barrier, fill, [&](const std::uint8_t* buffer) {
      if constexpr (Tile::kSwapped) {
        ptx::tma_store_2d(map, buffer, row, column + begin);
        ptx::tma_store_2d(map, buffer + Tile::kBytesStore / 2, row + 32, column + begin);
      } else {
        ptx::tma_store_2d(map, buffer, column + begin, row);
      }
    });
  }
}

}  // namespace assay::kernels
