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

// Stores four matrices: r[i] is this lane's piece of matrix i.
__device__ inline void stmatrix_x4(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

}  // namespace assay::ptx
