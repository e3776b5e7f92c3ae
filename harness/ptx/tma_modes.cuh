// SPDX-License-Identifier: Apache-2.0
// The rest of TMA (tma.cuh has its plain loads and stores): loads by the number of coordinates,
// multicast, reductions, and the modes that gather. One thread issues them. sm_90 and newer, unless
// said otherwise. PTX ISA 9.0, "Data Movement and Conversion Instructions: cp.async.bulk,
// cp.reduce.async.bulk".
#pragma once
#include "harness/ptx/tma.cuh"

namespace assay::ptx {

// The load of as many dimensions as there are coordinates, innermost first.
template <int kDimensions>
__device__ inline void tma_load(void* destination, const CUtensorMap* map, Mbarrier* barrier,
                                const int (&c)[kDimensions]) {
  static_assert(kDimensions >= 1 && kDimensions <= 5);
  if constexpr (kDimensions == 1) tma_load_1d(destination, map, barrier, c[0]);
  if constexpr (kDimensions == 2) tma_load_2d(destination, map, barrier, c[0], c[1]);
  if constexpr (kDimensions == 3) tma_load_3d(destination, map, barrier, c[0], c[1], c[2]);
  if constexpr (kDimensions == 4) tma_load_4d(destination, map, barrier, c[0], c[1], c[2], c[3]);
  if constexpr (kDimensions == 5)
    tma_load_5d(destination, map, barrier, c[0], c[1], c[2], c[3], c[4]);
}

// Makes what other threads or the host wrote into a map in global memory visible to this thread's
// copies: the map is fetched anew.
__device__ inline void fence_tensor_map(const CUtensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

// Plain copy of `bytes` bytes (a multiple of 16) to the same shared-memory offset of every CTA of
// the cluster whose bit is set, completing on the barrier at the same offset in each of them.
__device__ inline void bulk_load_multicast(void* destination, const void* source,
                                           std::uint32_t bytes, Mbarrier* barrier,
                                           std::uint16_t cta_mask) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1], %2, [%3], %4;" ::"r"(shared_address(destination)),
      "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(shared_address(barrier)), "h"(cta_mask)
      : "memory");
}

// A column of an implicit convolution: pixels of channels c .. from (column, row, image) on, each
// displaced by the offsets.
__device__ inline void tma_load_im2col_4d(void* destination, const CUtensorMap* map,
                                          Mbarrier* barrier, int c, int column, int row, int image,
                                          std::uint16_t column_offset, std::uint16_t row_offset) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "r"(c), "r"(column), "r"(row), "r"(image),
      "h"(column_offset), "h"(row_offset)
      : "memory");
}

// Four rows of a matrix, wherever they are, from `column` on, one below another. The map's box is
// one row. sm_100 and newer.
__device__ inline void tma_gather4(void* destination, const CUtensorMap* map, Mbarrier* barrier,
                                   int column, int row0, int row1, int row2, int row3) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row0), "r"(row1), "r"(row2),
      "r"(row3)
      : "memory");
}

// The way back. sm_100 and its family.
__device__ inline void tma_scatter4(const CUtensorMap* map, const void* source, int column,
                                    int row0, int row1, int row2, int row3) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%1, {%2, %3, %4, %5, "
      "%6}], [%0];" ::"r"(shared_address(source)),
      "l"(map), "r"(column), "r"(row0), "r"(row1), "r"(row2), "r"(row3)
      : "memory");
}

enum class BulkType : std::uint8_t { u32, u64, f32, f64, f16, bf16 };

// Adds `bytes` bytes (a multiple of 16) of elements in shared memory to those in global memory.
// Each addition is atomic; halves are not flushed to zero. Completes as a store does.
template <BulkType kType>
__device__ inline void bulk_add(void* destination, const void* source, std::uint32_t bytes) {
  const auto to = __cvta_generic_to_global(destination);
  const std::uint32_t from = shared_address(source);
  if constexpr (kType == BulkType::u32)
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(to),
        "r"(from), "r"(bytes)
        : "memory");
  if constexpr (kType == BulkType::u64)
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%0], [%1], %2;" ::"l"(to),
        "r"(from), "r"(bytes)
        : "memory");
  if constexpr (kType == BulkType::f32)
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
        "r"(from), "r"(bytes)
        : "memory");
  if constexpr (kType == BulkType::f64)
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%0], [%1], %2;" ::"l"(to),
        "r"(from), "r"(bytes)
        : "memory");
  if constexpr (kType == BulkType::f16)
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%0], [%1], %2;" ::"l"(
            to),
        "r"(from), "r"(bytes)
        : "memory");
  if constexpr (kType == BulkType::bf16)
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(
            to),
        "r"(from), "r"(bytes)
        : "memory");
}

// Adds a box in shared memory to the tensor, in the type of its map.
__device__ inline void tma_add_2d(const CUtensorMap* map, const void* source, int c0, int c1) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%1, {%2, %3}], "
      "[%0];" ::"r"(shared_address(source)),
      "l"(map), "r"(c0), "r"(c1)
      : "memory");
}

// A load for a pair of CTAs (tcgen05 with two CTAs): the box goes to this CTA, its bytes count on a
// barrier of either. sm_100a and sm_103a.
// `rank`: the CTA of the pair whose barrier it is, at the same offset as `barrier` has here.
__device__ inline void tma_load_2d_pair(void* destination, const CUtensorMap* map,
                                        Mbarrier* barrier, std::uint32_t rank, int c0, int c1) {
  const std::uint32_t remote = map_shared_address(shared_address(barrier), rank);
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::"
      "2 [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(destination)),
      "l"(map), "r"(remote), "r"(c0), "r"(c1)
      : "memory");
}

}  // namespace assay::ptx
