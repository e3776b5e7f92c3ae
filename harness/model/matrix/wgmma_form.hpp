// SPDX-License-Identifier: Apache-2.0
// One wgmma.mma_async instruction, read from its modifiers. PTX ISA 9.0, 9.7.15.5
// "wgmma.mma_async" and 9.7.15.6 "wgmma.mma_async.sp".
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "harness/model/matrix/arithmetic.hpp"
#include "harness/model/matrix/layout/fragment.hpp"
#include "harness/model/matrix/layout/shared_operand.hpp"
#include "harness/model/matrix/layout/sparsity.hpp"

namespace assay::model::matrix {

struct WgmmaForm {
  int k;  // the instruction's: of a sparse one twice arithmetic.k
  Arithmetic arithmetic;
  Fragment a;  // if it is in registers
  Fragment d;
  std::optional<Sparsity> sparsity;
  // Operands after scale-d: imm-scale-a and -b are there for floating-point types, imm-trans-a (of
  // A in shared memory) and -b for those of 16 bits.
  bool has_signs, has_transposes;

  // Operands in shared memory. Throw Violation("wgmma.transpose") if `transposed` without
  // has_transposes.
  OperandShape shape_of_a(bool transposed) const;
  OperandShape shape_of_b(bool transposed) const;
};

// {"wgmma", "mma_async", "sync", "aligned", "m64n256k16", "f32", "bf16", "bf16"}. Throws
// Violation("wgmma.modifier") for one that is not known, Violation("wgmma.form") if the manual has
// no such instruction.
WgmmaForm wgmma_form(std::span<const std::string_view> modifiers);

}  // namespace assay::model::matrix
