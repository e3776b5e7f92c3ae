// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/mma_form.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "harness/model/matrix/mma_shape.hpp"
#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

// What PTX ISA 9.0 lists, by the types of A and B (which may differ within a row only of the 8-bit
// types, integers and kind::*), the types of C and D, and the shapes, dense and sparse.
struct Row {
  const char *kind, *multiplied, *accumulated, *dense, *sparse;
};
constexpr Row kRows[] = {
    {"", "f16", "f16 f32", "m8n8k4 m16n8k8 m16n8k16", "m16n8k16 m16n8k32"},
    {"", "bf16", "f32", "m16n8k8 m16n8k16", "m16n8k16 m16n8k32"},
    {"", "tf32", "f32", "m16n8k4 m16n8k8", "m16n8k8 m16n8k16"},
    {"", "f64", "f64", "m8n8k4 m16n8k4 m16n8k8 m16n8k16", ""},
    {"", "e4m3 e5m2", "f16 f32", "m16n8k16 m16n8k32", "m16n8k64"},
    {"", "s8 u8", "s32", "m8n8k16 m16n8k16 m16n8k32", "m16n8k32 m16n8k64"},
    {"", "s4 u4", "s32", "m8n8k32 m16n8k32 m16n8k64", "m16n8k64 m16n8k128"},
    {"", "b1", "s32", "m8n8k128 m16n8k128 m16n8k256", ""},
    {"f8f6f4", "e4m3 e5m2 e3m2 e2m3 e2m1", "f16 f32", "m16n8k32", "m16n8k64"},
    {"mxf8f6f4", "e4m3 e5m2 e3m2 e2m3 e2m1", "f32", "m16n8k32", "m16n8k64"},
    {"mxf4", "e2m1", "f32", "m16n8k64", "m16n8k128"},
    {"mxf4nvf4", "e2m1", "f32", "m16n8k64", "m16n8k128"},
};

// The modifiers sorted by what they say.
struct Words {
  std::string shape, kind;
  std::vector<bool> column_major;
  std::vector<Type> types;
  Scale scale = Scale::none;
  int scale_vector = 0;
  bool sync = false, aligned = false, saturate = false, sparse = false, ordered = false;
  bool block_scale = false, popc = false;
  BitOperation bit_operation = BitOperation::bit_and;
  std::string all;
};

Words sorted(std::span<const std::string_view> modifiers) {
  Words w;
  w.all = fmt::format("{}", fmt::join(modifiers, "."));
  for (std::size_t at = 0; at < modifiers.size(); ++at) {
    const std::string_view word = modifiers[at];
    if (at == 0 && word == "mma") continue;
    if (word == "sync")
      w.sync = true;
    else if (word == "aligned")
      w.aligned = true;
    else if (word == "sp")
      w.sparse = true;
    else if (word == "sp::ordered_metadata")
      w.sparse = w.ordered = true;
    else if (word == "row" || word == "col")
      w.column_major.push_back(word == "col");
    else if (word == "satfinite")
      w.saturate = true;
    else if (word == "popc")
      w.popc = true;
    else if (word == "and")
      w.bit_operation = BitOperation::bit_and;
    else if (word == "xor")
      w.bit_operation = BitOperation::bit_xor;
    else if (word == "block_scale")
      w.block_scale = true;
    else if (word == "scale_vec::1X")
      w.scale_vector = 1;
    else if (word == "scale_vec::2X")
      w.scale_vector = 2;
    else if (word == "scale_vec::4X")
      w.scale_vector = 4;
    else if (word == "ue8m0")
      w.scale = Scale::ue8m0;
    else if (word == "ue4m3")
      w.scale = Scale::ue4m3;
    else if (word.starts_with("kind::"))
      w.kind = word.substr(6);
    else if (is_shape(word))
      w.shape = word;
    else if (const std::optional<Type> type = find_type(word))
      w.types.push_back(*type);
    else
      throw Violation("mma.modifier", "mma has no modifier '." + std::string(word) + "'");
  }
  return w;
}

[[noreturn]] void refuse(const Words& w, const std::string& why) {
  throw Violation("mma.form", w.all + ": " + why);
}

const Row& row_of(const Words& w) {
  if (!w.sync || !w.aligned) refuse(w, "mma is always .sync.aligned");
  if (w.types.size() != 4) refuse(w, "it needs the types of D, A, B and C");
  for (const Row& row : kRows) {
    if (w.kind != row.kind || !lists(row.multiplied, name(w.types[1])) ||
        !lists(row.multiplied, name(w.types[2])))
      continue;
    if (!lists(row.accumulated, name(w.types[0])) || !lists(row.accumulated, name(w.types[3])))
      refuse(w, std::string("it adds in ") + row.accumulated);
    const char* shapes = w.sparse ? row.sparse : row.dense;
    if (!lists(shapes, w.shape))
      refuse(w, std::string("the shapes of these types are ") + (*shapes ? shapes : "none"));
    return row;
  }
  refuse(w, "no mma multiplies these types");
}

// Scales of a row, and their type: as the manual's table of .scale_vec and .stype has them.
void check_scales(const Words& w) {
  const bool scaled = w.kind.starts_with("mx");
  if (scaled != w.block_scale) refuse(w, "kind::mx* and .block_scale go together");
  if (!scaled) {
    if (w.scale != Scale::none || w.scale_vector) refuse(w, "it has no block scales");
    return;
  }
  if (w.scale == Scale::none) refuse(w, "it needs the type of its scales, .ue8m0 or .ue4m3");
  const int vector = w.scale_vector;
  const bool allowed =
      w.kind == "mxf8f6f4" ? w.scale == Scale::ue8m0 && (vector == 0 || vector == 1)
      : w.kind == "mxf4"
          ? w.scale == Scale::ue8m0 && (vector == 0 || vector == 2)
          : (vector == 2 && w.scale == Scale::ue8m0) || (vector == 4 && w.scale == Scale::ue4m3);
  if (!allowed) refuse(w, "its kind has no scales of this size and type");
}

Fragment::Packing packing_of(Type type, bool in_bytes) {
  if (type == Type::f64) return {64, 64, 0, 64};
  // The types of 8, 6 and 4 bits that kind::*f8f6f4 mixes are a byte each: six bits are its low
  // ones, four its middle ones.
  if (in_bytes) return {8, bits_of(type), type == Type::e2m1 ? 2 : 0};
  return {bits_of(type), bits_of(type)};
}

}  // namespace

MmaForm mma_form(Machine machine, std::span<const std::string_view> modifiers) {
  const Words w = sorted(modifiers);
  const Row& row = row_of(w);
  const Shape s = shape_of(w.shape);
  const auto [d, a, b, c] = std::array{w.types[0], w.types[1], w.types[2], w.types[3]};
  const bool integers = is_integer(a);
  if (w.saturate && (!integers || a == Type::b1)) refuse(w, ".satfinite is for integers");
  if (w.popc != (a == Type::b1)) refuse(w, ".and.popc and .xor.popc are for b1");
  if (!integers && bits_of(a) > 8 && a != b) refuse(w, "A and B are of the same type");
  const bool quad_pairs = a == Type::f16 && w.shape == "m8n8k4";
  if (w.column_major.size() != 2) refuse(w, "it needs the layouts of A and B");
  if (!quad_pairs && (w.column_major[0] || !w.column_major[1])) refuse(w, "A is .row and B .col");
  if (c != d && !quad_pairs) refuse(w, "C and D are of the same type");
  check_scales(w);
  // PTX ISA 9.0, "mma.sp": .kind goes with ordered metadata alone; so do sums of 8-bit floats in
  // f16.
  if (w.sparse && !w.ordered &&
      (!w.kind.empty() || (!integers && bits_of(a) == 8 && d == Type::f16)))
    refuse(w, "it is sparse with .sp::ordered_metadata alone");
  if (!w.kind.empty() && machine != Machine::blackwell) refuse(w, "kind::* begins with sm_100a");

  MmaForm form{.shape = w.shape, .kind = w.kind, .k = s.k};
  form.quad_pairs = quad_pairs;
  const bool in_bytes = std::string_view(row.kind).ends_with("f8f6f4");
  if (w.sparse) form.sparsity = sparsity_of(a, in_bytes, s.m, s.k, w.ordered);
  const int stored = w.sparse ? s.k / 2 : s.k;
  form.arithmetic =
      arithmetic_of({machine, Unit::mma_sync, a, b, c, d, s.m, s.n, stored, w.sparse});
  form.arithmetic.saturate = w.saturate;
  form.arithmetic.bit_operation = w.bit_operation;
  form.arithmetic.scale = w.scale;
  if (w.block_scale) {
    const int vector = w.scale_vector ? w.scale_vector : w.kind == "mxf4" ? 2 : 1;
    form.arithmetic.block = stored / vector;
  }
  if (quad_pairs) {
    form.a = quad_pair_fragment_of_a(!w.column_major[0]);
    form.b = quad_pair_fragment_of_b(w.column_major[1]);
    form.c = quad_pair_fragment_of_d(c);
    form.d = quad_pair_fragment_of_d(d);
    return form;
  }
  form.a = fragment_of_a(s.m, stored, packing_of(a, in_bytes));
  form.b = fragment_of_b(s.k, packing_of(b, in_bytes));
  form.c = fragment_of_d(s.m, s.n, packing_of(c, false));
  form.d = fragment_of_d(s.m, s.n, packing_of(d, false));
  return form;
}

}  // namespace assay::model::matrix
