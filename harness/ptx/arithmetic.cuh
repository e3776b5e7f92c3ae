// SPDX-License-Identifier: Apache-2.0
// Arithmetic of single instructions: functions of the special function unit that CUDA C++ has no
// intrinsic for, and logic on words that the compiler would take apart. PTX ISA 9.0, "ex2", "rcp",
// "lop3", "prmt".
#pragma once
#include <cstdint>

namespace assay::ptx {

// 2^x; subnormal arguments and results are 0. One MUFU.EX2.
__device__ inline float ex2_approx_ftz(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 1 / x; subnormal arguments and results are 0. One MUFU.RCP.
__device__ inline float rcp_approx_ftz(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 2^x of two f16. Two MUFU.EX2.F16, or one on sm_103a.
__device__ inline std::uint32_t ex2_approx_f16x2(std::uint32_t x) {
  std::uint32_t y;
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}

// Bit by bit f(a, b, c), kTable being f(0xf0, 0xcc, 0xaa). One instruction, even if two operands
// are constants: of an expression ptxas makes two then, each with a constant of its own.
template <int kTable>
__device__ inline std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  static_assert(kTable >= 0 && kTable < 256);
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(kTable));
  return result;
}

// a & b | c, and a & b ^ c.
__device__ inline std::uint32_t and_or(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return lop3<(0xf0 & 0xcc) | 0xaa>(a, b, c);
}
__device__ inline std::uint32_t and_xor(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return lop3<(0xf0 & 0xcc) ^ 0xaa>(a, b, c);
}

// Byte i of the result is the one of b:a, eight bytes, that bits 4 i to 4 i + 2 of `selector` name.
// Bit 4 i + 3 set: that byte's sign eight times instead, which __byte_perm() cannot say.
__device__ inline std::uint32_t permute_bytes(std::uint32_t a, std::uint32_t b,
                                              std::uint32_t selector) {
  std::uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
}

}  // namespace assay::ptx
