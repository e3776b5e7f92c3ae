// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/tcgen05_form.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

using ptx::tcgen05::Kind;

// Of each kind: its name, K of a dense instruction, and the types that its numbers mean.
struct KindRow {
  const char* name;
  Kind kind;
  int k;
  std::array<std::optional<Type>, 6> types;
};
const KindRow kKinds[] = {
    {"f16", Kind::f16, 16, {Type::f16, Type::bf16}},
    {"tf32", Kind::tf32, 8, {std::nullopt, std::nullopt, Type::tf32}},
    {"f8f6f4",
     Kind::f8f6f4,
     32,
     {Type::e4m3, Type::e5m2, std::nullopt, Type::e2m3, Type::e3m2, Type::e2m1}},
    {"i8", Kind::i8, 32, {Type::u8, Type::s8}},
    {"mxf8f6f4",
     Kind::mxf8f6f4,
     32,
     {Type::e4m3, Type::e5m2, std::nullopt, Type::e2m3, Type::e3m2, Type::e2m1}},
    {"mxf4", Kind::mxf4, 64, {std::nullopt, Type::e2m1}},
    {"mxf4nvf4", Kind::mxf4nvf4, 64, {std::nullopt, Type::e2m1}},
};

bool mixes_types(Kind kind) { return kind == Kind::f8f6f4 || kind == Kind::mxf8f6f4; }
bool packs_fp4(Kind kind) { return kind == Kind::mxf4 || kind == Kind::mxf4nvf4; }

struct Words {
  std::string all;
  const KindRow* kind = nullptr;
  int cta_group = 0, block = 0, scale_vector = 0;
  bool sparse = false, ws = false, block_scale = false;
};

[[noreturn]] void refuse(const Words& w, const std::string& why) {
  throw Violation("tcgen05.form", w.all + ": " + why);
}

Words sorted(std::span<const std::string_view> modifiers) {
  Words w;
  w.all = fmt::format("{}", fmt::join(modifiers, "."));
  for (std::size_t at = 0; at < modifiers.size(); ++at) {
    const std::string_view word = modifiers[at];
    if ((at == 0 && word == "tcgen05") || (at == 1 && word == "mma")) continue;
    if (word == "sp") {
      w.sparse = true;
    } else if (word == "ws") {
      w.ws = true;
    } else if (word == "cta_group::1" || word == "cta_group::2") {
      w.cta_group = word.back() - '0';
    } else if (word == "block_scale") {
      w.block_scale = true;
    } else if (word == "block16" || word == "block32") {
      w.block = word == "block16" ? 16 : 32;
    } else if (word == "scale_vec::1X" || word == "scale_vec::2X" || word == "scale_vec::4X") {
      w.scale_vector = word[11] - '0';
    } else if (word.starts_with("kind::")) {
      for (const KindRow& row : kKinds)
        if (word.substr(6) == row.name) w.kind = &row;
      if (w.kind == nullptr) refuse(w, "it has no such kind");
    } else if (!word.starts_with("collector::") && word != "ashift") {
      throw Violation("tcgen05.modifier",
                      "tcgen05.mma has no modifier '." + std::string(word) + "'");
    }
  }
  if (w.kind == nullptr) refuse(w, "it needs a kind");
  if (w.cta_group == 0) refuse(w, "it needs .cta_group::1 or .cta_group::2");
  if (w.ws && w.cta_group == 2) refuse(w, ".ws is for one CTA");
  if (w.block_scale != (w.kind->kind >= Kind::mxf8f6f4))
    refuse(w, "kind::mx* and .block_scale go together");
  if (w.ws && w.block_scale) refuse(w, ".ws has no block scales");
  return w;
}

// Elements along K that share a scale: the kind's, or what its modifier says, counted in both ways.
int block_of(const Words& w) {
  const Kind kind = w.kind->kind;
  const int of_vector = w.scale_vector ? w.kind->k / w.scale_vector : 0;
  if (w.block && of_vector && w.block != of_vector) refuse(w, "it names two sizes of block");
  const int block = w.block ? w.block : of_vector;
  if (kind == Kind::mxf4nvf4) {
    if (!block) refuse(w, "it needs the size of its blocks, .block16 or .block32");
    return block;
  }
  if (block && block != 32) refuse(w, "its blocks are of 32 elements");
  return 32;
}

struct Bits {
  std::uint32_t all;
  std::uint32_t field(int first, int count) const {
    return all >> first & ((std::uint32_t{1} << count) - 1);
  }
  bool bit(int at) const { return field(at, 1) != 0; }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Violation("tcgen05.instruction_descriptor",
                    "the instruction descriptor " + std::to_string(all) + ": " + why);
  }
  void require(bool good, const std::string& why) const {
    if (!good) refuse(why);
  }
};

Type type_of(const Bits& bits, const KindRow& kind, int first, int count, const char* which) {
  const std::uint32_t code = bits.field(first, count);
  if (code >= kind.types.size() || !kind.types[code])
    bits.refuse("the type of " + std::string(which) + " is " + std::to_string(code) +
                ", which kind::" + kind.name + " does not have");
  return *kind.types[code];
}

Type accumulator_of(const Bits& bits, Kind kind) {
  constexpr std::array kTypes = {Type::f16, Type::f32, Type::s32};
  const std::uint32_t code = bits.field(4, 2);
  bits.require(code < kTypes.size(), "the type of D is 3, which is none");
  const Type d = kTypes[code];
  bits.require((d == Type::s32) == (kind == Kind::i8),
               "only kind::i8 adds in s32, and in no other");
  bits.require(d != Type::f16 || kind != Kind::tf32, "kind::tf32 adds in f32");
  return d;
}

// "Various combinations of .kind and shapes".
void check_shape(const Bits& bits, const Words& w, int m, int n) {
  const std::string shape = "M " + std::to_string(m) + ", N " + std::to_string(n);
  bool good = n >= 8 && n <= 256;
  if (w.ws)
    good = (m == 32 || m == 64 || m == 128) && (n == 64 || n == 128 || (n == 256 && !w.sparse));
  else if (w.cta_group == 2)
    good = good && (m == 256 || m == 128) && n % (w.kind->kind == Kind::i8 ? 32 : 16) == 0;
  else
    good = good && (m == 128 || (m == 64 && !w.block_scale)) &&
           n % (w.kind->kind == Kind::i8 && n > 24 ? 16 : 8) == 0;
  bits.require(good, "the manual has no shape of " + shape + " for " + w.all);
}

}  // namespace

OperandShape Tcgen05Form::shape_of_a() const {
  return {.rows = arithmetic.m / cta_group,
          .k = arithmetic.k,
          .row = row_of(arithmetic.a, mixes_types(kind)),
          .mn_major = a_mn_major};
}

OperandShape Tcgen05Form::shape_of_b() const {
  return {.rows = arithmetic.n / cta_group,
          .k = k,
          .row = row_of(arithmetic.b, mixes_types(kind)),
          .mn_major = b_mn_major};
}

Tcgen05Form tcgen05_form(std::span<const std::string_view> modifiers, std::uint32_t descriptor) {
  const Words w = sorted(modifiers);
  const Bits bits{descriptor};
  const Kind kind = w.kind->kind;
  const bool scaled = w.block_scale;
  bits.require(bits.bit(2) == w.sparse,
               w.sparse ? ".sp, but bit 2 says dense" : "bit 2 says sparse");
  bits.require(!bits.bit(6), "bit 6 is set, which is reserved");
  if (scaled)
    bits.require(!bits.bit(3), "bit 3 is set, which is reserved with block scales");
  else
    bits.require(!bits.bit(23) && !bits.bit(29), "bit 23 or 29 is set, which are reserved");

  const Type a = type_of(bits, *w.kind, 7, 3, "A");
  const Type b = type_of(bits, *w.kind, 10, packs_fp4(kind) ? 2 : 3, "B");
  const Type d = scaled ? Type::f32 : accumulator_of(bits, kind);
  const int n = static_cast<int>(bits.field(17, 6)) << 3, m = static_cast<int>(bits.field(24, 5))
                                                              << 4;
  check_shape(bits, w, m, n);
  const bool saturate = !scaled && bits.bit(3), integers = kind == Kind::i8;
  bits.require(!saturate || integers, "bit 3, saturation, is for kind::i8");
  bits.require(!integers || !(bits.bit(13) || bits.bit(14)), "kind::i8 has no negation");
  bits.require(!packs_fp4(kind) || !(bits.bit(15) || bits.bit(16)), "packed fp4 is K-major");
  const bool k96 = scaled && bits.bit(31);
  bits.require(!k96 || (packs_fp4(kind) && !w.sparse), "only dense fp4 has K = 96");
  const int stored = k96 ? 96 : w.kind->k;

  constexpr std::array kShifts = {0, 8, 16, 32};
  Tcgen05Form form{.kind = kind,
                   .cta_group = w.cta_group,
                   .ws = w.ws,
                   .sparse = w.sparse,
                   .k = w.sparse ? 2 * stored : stored,
                   .arithmetic = arithmetic_of(
                       {Machine::blackwell, Unit::tcgen05, a, b, d, d, m, n, stored, w.sparse}),
                   .a_mn_major = bits.bit(15),
                   .b_mn_major = bits.bit(16),
                   .negate_a = bits.bit(13),
                   .negate_b = bits.bit(14),
                   .sparsity_selector = static_cast<int>(bits.field(0, 2)),
                   .scale_byte_a = scaled ? static_cast<int>(bits.field(29, 2)) : 0,
                   .scale_byte_b = scaled ? static_cast<int>(bits.field(4, 2)) : 0,
                   .largest_shift = scaled ? 0 : kShifts[bits.field(30, 2)]};
  form.arithmetic.saturate = saturate;
  if (!scaled) return form;
  form.arithmetic.scale = bits.bit(23) ? Scale::ue8m0 : Scale::ue4m3;
  const int block = block_of(w);
  // Of a sparse A too a row has so many scales as .scale_vec says: a scale is for as many stored
  // elements (9.7.16.10.7: "scale_vec::1X/block32 with K=32/K=64").
  form.arithmetic.block = block;
  bits.require(form.arithmetic.scale == Scale::ue8m0 || (kind == Kind::mxf4nvf4 && block == 16),
               "scales of ue4m3 are for kind::mxf4nvf4 in blocks of 16");
  return form;
}

}  // namespace assay::model::matrix
