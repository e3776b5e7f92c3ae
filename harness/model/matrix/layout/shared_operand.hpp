// SPDX-License-Identifier: Apache-2.0
// Where the elements of a wgmma or tcgen05.mma operand lie in shared memory: its matrix descriptor
// taken apart, and the 16-byte chunks that one instruction reads.
//
// PTX ISA 9.0, 9.7.15.5.1 "Register Fragments and Shared Memory Matrix Layouts" of wgmma, 9.7.16.3
// "Major-ness supported by Strides" and 9.7.16.4 "Matrix Descriptors" of tcgen05. In chunks, with W
// of them in a swizzled row (2, 4 or 8), LBO and SBO the leading and stride offsets:
//
//   K-major,  no swizzle  (row % 8, row / 8, c)      ->  1, SBO, LBO       c: chunk along K
//             swizzled    (row % 8, row / 8, c)      ->  W, SBO, 1         LBO is not used
//   MN-major, no swizzle  (k % 8, k / 8, c)          ->  1, LBO, SBO       c: chunk along M or N
//             swizzled    (c % W, c / W, k % 8, k / 8) -> 1, LBO, W, SBO
//             32-byte atoms: rows of four k instead of eight
//
// To the address that this gives the swizzle is applied, as to any address of shared memory,
// counted from the pattern's start if a base offset says that it is not on its period.
#pragma once
#include <cstdint>
#include <span>

#include "harness/model/matrix/layout/row_format.hpp"
#include "harness/ptx/descriptor/swizzle.hpp"

namespace assay::model::matrix {

struct SharedOperand {
  std::uint32_t start;    // bytes, in the CTA's shared window
  std::uint32_t leading;  // bytes; an address if leading_is_address
  std::uint32_t stride;   // bytes
  std::uint32_t base_offset;
  ptx::Swizzle swizzle;
  bool leading_is_address = false;  // tcgen05 on sm_103a
};

// Throw Violation("wgmma.descriptor") or ("tcgen05.descriptor") if bits are set that the manual
// reserves, or a swizzle is none.
SharedOperand wgmma_operand(std::uint64_t descriptor);
SharedOperand tcgen05_operand(std::uint64_t descriptor);

// The part of it that one instruction reads: `rows` of M or N by `k`, what is stored of both.
struct OperandShape {
  int rows, k;
  ElementRow row;  // how a chunk holds elements
  bool mn_major = false;
};

// Sixteen bytes, the first of whose elements is (row, k); the others follow along K, or along the
// rows of an MN-major operand.
struct Chunk {
  std::uint32_t address;
  int row, k;
};

int chunk_count(const OperandShape& shape);
Chunk chunk(const SharedOperand& operand, const OperandShape& shape, int index);

// Elements [row][k] out of shared memory from its window's offset 0 on. Throws
// Violation("matrix.operand") if a chunk lies beyond it.
void gather(const SharedOperand& operand, const OperandShape& shape,
            std::span<const std::uint8_t> shared, std::span<Word> elements);

}  // namespace assay::model::matrix
