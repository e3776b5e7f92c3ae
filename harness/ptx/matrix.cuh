// SPDX-License-Identifier: Apache-2.0
// ldmatrix / stmatrix: 8x8 matrices of 16-bit elements between shared memory and a warp's
// registers.
//
// A fragment of one 8x8 matrix: lane t holds row t / 4, columns 2 * (t % 4) and + 1, packed in one
// 32-bit register, low half first. Lane l gives the address of row l % 8 of matrix l / 8; each row
// is 16 contiguous bytes, 16-byte aligned. ldmatrix: sm_75 and newer; stmatrix: sm_90 and newer.
// PTX ISA 9.0, "ldmatrix" and "stmatrix".
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

}  // namespace assay::ptx
