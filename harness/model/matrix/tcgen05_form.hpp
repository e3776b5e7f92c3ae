// SPDX-License-Identifier: Apache-2.0
// One tcgen05.mma instruction, read from its modifiers and its instruction descriptor. PTX ISA 9.0,
// 9.7.16.2.1 "Matrix Shape", 9.7.16.4.2 "Instruction descriptor" and 9.7.16.10.9 "tcgen05.mma".
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "harness/model/matrix/arithmetic.hpp"
#include "harness/model/matrix/layout/shared_operand.hpp"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"

namespace assay::model::matrix {

struct Tcgen05Form {
  ptx::tcgen05::Kind kind;
  int cta_group;          // 1 or 2: A and B of an MMA of two CTAs lie half in each, in rows
  bool ws;                // weight stationary
  bool sparse;            // metadata are in tensor memory
  int k;                  // the instruction's: of a sparse one twice arithmetic.k
  Arithmetic arithmetic;  // M and N of both CTAs
  bool a_mn_major, b_mn_major, negate_a, negate_b;
  int sparsity_selector;
  int scale_byte_a, scale_byte_b;  // of block scales: their first byte in tensor memory's words
  int largest_shift;               // .ws: 0, 8, 16 or 32 columns

  // What one CTA has in shared memory.
  OperandShape shape_of_a() const;
  OperandShape shape_of_b() const;
};

// {"tcgen05", "mma", "cta_group::1", "kind::f16"} and the 32 bits. Collector modifiers are read and
// change no result. Throws Violation("tcgen05.modifier") for a modifier that is not known,
// Violation("tcgen05.form") for a combination, Violation("tcgen05.instruction_descriptor") for bits
// that the manual does not have.
Tcgen05Form tcgen05_form(std::span<const std::string_view> modifiers, std::uint32_t descriptor);

}  // namespace assay::model::matrix
