// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/wgmma_form.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/model/matrix/mma_shape.hpp"
#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

// The types of A and B (which may differ within a row of several), those of D, and K of a dense
// instruction; of a sparse one it is twice that.
struct Row {
  const char *multiplied, *accumulated;
  int k;
};
constexpr Row kRows[] = {
    {"f16", "f16 f32", 16},       {"bf16", "f32", 16},  {"tf32", "f32", 8},
    {"e4m3 e5m2", "f16 f32", 32}, {"s8 u8", "s32", 32}, {"b1", "s32", 256},
};

// N is a multiple of 8 up to 256; of integers beyond 32 a multiple of 16.
bool allowed_n(int n, bool integers) {
  return n >= 8 && n <= 256 && n % (integers && n > 24 ? 16 : 8) == 0;
}

OperandShape shape_of(const WgmmaForm& form, Type type, int rows, int k, bool transposed) {
  if (transposed && !form.has_transposes)
    throw Violation("wgmma.transpose", std::string("operands of ") + name(type) +
                                           " are K-major: only those of 16 bits are transposed");
  return {.rows = rows, .k = k, .row = row_of(type, false), .mn_major = transposed};
}

}  // namespace

OperandShape WgmmaForm::shape_of_a(bool transposed) const {
  return shape_of(*this, arithmetic.a, arithmetic.m, arithmetic.k, transposed);
}

OperandShape WgmmaForm::shape_of_b(bool transposed) const {
  return shape_of(*this, arithmetic.b, arithmetic.n, k, transposed);
}

WgmmaForm wgmma_form(std::span<const std::string_view> modifiers) {
  const std::string all = fmt::format("{}", fmt::join(modifiers, "."));
  std::string_view shape;
  std::vector<Type> types;
  bool sync = false, aligned = false, sparse = false, saturate = false, bits_and = false,
       popc = false;
  for (std::size_t at = 0; at < modifiers.size(); ++at) {
    const std::string_view word = modifiers[at];
    if ((at == 0 && word == "wgmma") || (at == 1 && word == "mma_async")) continue;
    if (word == "sync") {
      sync = true;
    } else if (word == "aligned") {
      aligned = true;
    } else if (word == "sp") {
      sparse = true;
    } else if (word == "satfinite") {
      saturate = true;
    } else if (word == "and") {
      bits_and = true;
    } else if (word == "popc") {
      popc = true;
    } else if (is_shape(word)) {
      shape = word;
    } else if (const std::optional<Type> type = find_type(word)) {
      types.push_back(*type);
    } else {
      throw Violation("wgmma.modifier",
                      "wgmma.mma_async has no modifier '." + std::string(word) + "'");
    }
  }
  const auto require = [&](bool good, const std::string& why) {
    if (!good) throw Violation("wgmma.form", all + ": " + why);
  };
  require(sync && aligned, "wgmma.mma_async is always .sync.aligned");
  require(types.size() == 3, "it needs the types of D, A and B");
  const Type d = types[0], a = types[1], b = types[2];
  const Row* row = nullptr;
  for (const Row& candidate : kRows)
    if (lists(candidate.multiplied, name(a)) && lists(candidate.multiplied, name(b)))
      row = &candidate;
  require(row != nullptr, "no wgmma multiplies these types");
  require(lists(row->accumulated, name(d)), std::string("it adds in ") + row->accumulated);
  const bool integers = is_integer(a);
  require(a == Type::b1 ? bits_and && popc && !sparse : !bits_and && !popc,
          ".and.popc is for b1, and b1 is never sparse");
  require(!saturate || (integers && a != Type::b1), ".satfinite is for integers");
  const Shape s = shape_of(shape);
  const int k = sparse ? 2 * row->k : row->k;
  require(s.m == 64 && s.k == k && allowed_n(s.n, integers),
          "its shape is m64nNk" + std::to_string(k) + ", N a multiple of 8 up to 256" +
              (integers ? ", beyond 32 of 16" : ""));

  WgmmaForm form{.k = k};
  form.arithmetic =
      arithmetic_of({Machine::hopper, Unit::wgmma, a, b, d, d, s.m, s.n, row->k, sparse});
  form.arithmetic.saturate = saturate;
  form.arithmetic.bit_operation = BitOperation::bit_and;
  form.has_signs = !integers;
  form.has_transposes = bits_of(a) == 16;
  if (sparse) form.sparsity = sparsity_of(a, false, s.m, k, false);
  form.a = fragment_of_a(s.m, row->k, {bits_of(a), bits_of(a)});
  form.d = fragment_of_d(s.m, s.n, {bits_of(d), bits_of(d)});
  return form;
}

}  // namespace assay::model::matrix
