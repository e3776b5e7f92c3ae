// SPDX-License-Identifier: Apache-2.0
// Logic on words, as instructions that the compiler does not take apart. PTX ISA 9.0, "lop3".
#pragma once
#include <cstdint>

namespace assay::ptx {

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

}  // namespace assay::ptx
