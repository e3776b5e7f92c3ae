// SPDX-License-Identifier: Apache-2.0
// One mma.sync instruction, read from its modifiers: what it multiplies and where its operands lie.
// PTX ISA 9.0, 9.7.14.5 "Matrix multiply-accumulate operation using mma instruction" and 9.7.14.6
// "... using mma.sp instruction with sparse matrix A".
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/model/matrix/arithmetic.hpp"
#include "harness/model/matrix/layout/fragment.hpp"
#include "harness/model/matrix/layout/sparsity.hpp"

namespace assay::model::matrix {

struct MmaForm {
  std::string shape;  // "m16n8k16"
  std::string kind;   // "f8f6f4" of .kind::f8f6f4; empty: it names none
  int k;              // the instruction's: of a sparse one twice arithmetic.k
  Arithmetic arithmetic;
  Fragment a, b, c, d;
  // mma.sync.m8n8k4 of f16: the fragments are those of one of four quad pairs.
  bool quad_pairs = false;
  std::optional<Sparsity> sparsity;
};

// The instruction's name cut at its dots: {"mma", "sync", "aligned", "m16n8k16", "row", "col",
// "f32", "bf16", "bf16", "f32"}. Throws Violation("mma.modifier") for one that is not known,
// Violation("mma.form") if the manual has no such instruction.
MmaForm mma_form(Machine machine, std::span<const std::string_view> modifiers);

}  // namespace assay::model::matrix
