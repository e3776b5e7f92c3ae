// SPDX-License-Identifier: Apache-2.0
// What an instruction descriptor and a zero-column mask of tcgen05.mma say, and which shapes there
// are. PTX ISA 9.0, 9.7.16.4 "Matrix Descriptors" and 9.7.16.2.1 "Matrix Shape".
#pragma once
#include <bitset>
#include <cstdint>

#include "harness/model/tensor_memory/layout.hpp"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"

namespace assay::model {

// Both formats of the descriptor, tables 42 to 44.
struct MmaInstruction {
  ptx::tcgen05::Kind kind;
  ptx::tcgen05::Element a, b;
  ptx::tcgen05::Accumulator d;
  int m, n, k;
  bool a_mn_major, b_mn_major, negate_a, negate_b, sparse, saturate;
  int sparsity_selector, largest_shift;  // the shift in columns: 0, 8, 16 or 32
  // With block scales.
  ptx::tcgen05::Scale scale;
  int a_byte, b_byte;
  bool k96;
};

constexpr bool has_block_scales(ptx::tcgen05::Kind kind) {
  using enum ptx::tcgen05::Kind;
  return kind == mxf8f6f4 || kind == mxf4 || kind == mxf4nvf4;
}

// Throws Violation for values that the tables do not have.
MmaInstruction decode_instruction(ptx::tcgen05::Kind kind, std::uint32_t descriptor);

// Throws Violation unless Table 39 has the shape, for so many CTAs and with or without .ws, and
// tables 51 and 52 the transposes and negations.
void check_shape(const MmaInstruction& instruction, int ctas, bool ws);

// Bits that an element of A takes in tensor memory, and of A and B in shared memory without the
// padding that kind::mxf8f6f4 and f8f6f4 ask for (9.7.16.10.4).
int tensor_memory_bits(ptx::tcgen05::Kind kind);

// Scales of a row that the MMA takes: Table 56. block16: .block16 or .scale_vec::4X.
ptx::ScaleVector scale_vector(const MmaInstruction& instruction, bool block16);

// 9.7.16.4.3 "Zero-Column Mask Descriptor": which columns of B count as zeros; `m` of the
// instruction, 32, 64 or 128. The words for "Skip Span" and "Use Span" contradict the manual's four
// examples; the examples are followed: spans of use + 1 zeros and of skip + 1 ones take turns.
// Unspecified: the column shift, which moves no bit of the examples' masks; column_shift() gives
// it.
std::bitset<256> zero_column_mask(std::uint64_t descriptor, int m, int n);
constexpr int column_shift(std::uint64_t descriptor) {
  return static_cast<int>(descriptor >> 56 & 0x3f);
}

// What .collector::a of an MMA, or .collector::b0 to b3 of one with .ws, asks for. Reuse is a
// permission: the operand must stay unchanged in memory all the same (9.7.16.10).
enum class CollectorUse : std::uint8_t { discard, fill, use, last_use };

// One buffer of the collector, for the rules of 9.7.16.10.9.1: use and last_use need a fill that is
// still valid. Whether the operand must be the very one that filled it is not said in words
// (unspecified); here it must, for else the result depends on whether the buffer was reused.
class Collector {
 public:
  // `operand` names what is read: a descriptor or an address. Throws Violation.
  void access(CollectorUse use, std::uint64_t operand, bool ashift = false);

 private:
  bool filled_ = false;
  std::uint64_t operand_ = 0;
};

}  // namespace assay::model
