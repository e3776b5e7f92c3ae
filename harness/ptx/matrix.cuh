// SPDX-License-Identifier: Apache-2.0
// What one warp does with matrices: ldmatrix, stmatrix, mma.sync.
//
// ldmatrix / stmatrix: 8x8 matrices of 16-bit elements between shared memory and a warp's
// registers.
//
// A fragment of one 8x8 matrix: lane t holds row t / 4, columns 2 * (t % 4) and + 1, packed in one
// 32-bit register, low half first. Lane l gives the address of row l % 8 of matrix l / 8; each row
// is 16 contiguous bytes, 16-byte aligned. ldmatrix: sm_75 and newer; stmatrix: sm_90 and newer.
// PTX ISA 9.0, "ldmatrix" and "stmatrix".
//
// mma.sync m16n8k16 of 16-bit elements and m16n8k32 of 8-bit ones (sm_89 and newer) hold the same
// bytes in the same registers: what follows of block-scaled fragments holds for both.
//
// mma.sync with a scale for each block of 32 elements along K: sm_120a and its like.
//
// A warp multiplies A, 16 x 32, by B, 32 x 8, both 8-bit floats and K-major. Lane t holds of A rows
// t / 4 (registers 0 and 2) and t / 4 + 8 (1 and 3), bytes 4 * (t % 4) to + 3 of the first 16 along
// K (0 and 1) and of the second (2 and 3); of B column t / 4, likewise; of D rows t / 4 (0 and 1)
// and t / 4 + 8, columns 2 * (t % 4) and + 1. ldmatrix of 16-byte rows fills registers so.
//
// Scales are bytes, powers of two (ue8m0). Which lanes hold them is in
// harness/ptx/descriptor/scale_layout.hpp: kByte names the byte of the register, kThreadA the pair
// of lanes of a quad that has A's, kThreadB the lane that has B's. So one register of scales serves
// two blocks of 16 rows of A, or four of 8 columns of B, and four steps along K.
// PTX ISA 9.0, 9.7.14.3 "Block Scaling for mma.sync".
#pragma once
#include <cstdint>

namespace assay::ptx {

// Loads four matrices: r[i] is this lane's piece of matrix i.
__device__ inline void ldmatrix_x4(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// The same of matrices that are stored transposed: lane t gets of matrix i column t / 4, rows
// 2 * (t % 4) and + 1.
__device__ inline void ldmatrix_x4_trans(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// Loads two matrices: lanes 0 to 7 give the addresses of the first one's rows, lanes 8 to 15 those
// of the second one's.
__device__ inline void ldmatrix_x2(std::uint32_t (&r)[2], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(address)
               : "memory");
}

// Stores four matrices: r[i] is this lane's piece of matrix i.
__device__ inline void stmatrix_x4(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

// The same with each 8 x 8 matrix transposed: a lane's pair is one column of two rows, and the
// address is of a column.
__device__ inline void stmatrix_x4_transposed(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
      "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
      : "memory");
}

// D += A * B of one warp, 16 x 8 x 16: A as ldmatrix_x4() loads it, B, stored N x K, as
// ldmatrix_x2(). PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16 with floating point type".
__device__ inline void mma_m16n8k16_bf16(float (&d)[4], const std::uint32_t (&a)[4],
                                         const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same of f16.
__device__ inline void mma_m16n8k16_f16(float (&d)[4], const std::uint32_t (&a)[4],
                                        const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same of 8-bit floats, 16 x 8 x 32, where the 16 bytes of a row are 16 elements: sm_89 and
// newer.
__device__ inline void mma_m16n8k32_e4m3(float (&d)[4], const std::uint32_t (&a)[4],
                                         const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ inline void mma_m16n8k32_e5m2(float (&d)[4], const std::uint32_t (&a)[4],
                                         const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ inline void mma_m16n8k32_e4m3_e5m2(float (&d)[4], const std::uint32_t (&a)[4],
                                              const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ inline void mma_m16n8k32_e5m2_e4m3(float (&d)[4], const std::uint32_t (&a)[4],
                                              const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// D += A * B of e4m3 with scales, sums in f32.
template <int kByte, int kThreadA, int kThreadB>
__device__ inline void mma_mxf8_e4m3(float (&d)[4], const std::uint32_t (&a)[4],
                                     const std::uint32_t (&b)[2], std::uint32_t scales_a,
                                     std::uint32_t scales_b) {
  static_assert(kByte >= 0 && kByte < 4 && kThreadA >= 0 && kThreadA < 2 && kThreadB >= 0 &&
                kThreadB < 4);
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3."
      "f32.ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%12, "
      "%13}, {%11}, {%12, %14};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(scales_a),
        "r"(scales_b), "n"(kByte), "n"(kThreadA), "n"(kThreadB));
}

}  // namespace assay::ptx
