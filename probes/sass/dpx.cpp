// SPDX-License-Identifier: Apache-2.0
// Dynamic programming (DPX) and dot products of bytes.
//
// PTX has no names for the fused forms: ptxas makes VIADDMNMX of an addition and a minimum or
// maximum, and VIMNMX3 of two minima or maxima, where the chip has them; these are the texts that
// CUDA's __viaddmax_s32() and its like hold (crt/device_functions.hpp of CUDA 13.0).
#include <algorithm>

#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

using Signed = std::int32_t;
using Half = std::int16_t;
using UnsignedHalf = std::uint16_t;

enum class Order { maximum, minimum };

// How a type's instructions are called: PTX, the suffix of DPX opcodes, and the two simple
// instructions of targets without those, with IMNMX (the old ones) or VIMNMX.
struct Type {
  std::string ptx, suffix, old_add, old_limit, add, limit;
};
const Type& type_of(const std::string& name) {
  const std::string add = "IADD3|IMAD.IADD|VIADD";
  static const Type types[] = {{"s32", "", add, "IMNMX", add, "VIMNMX.S32"},
                               {"u32", ".U32", add, "IMNMX.U32", add, "VIMNMX.U32"},
                               {"s16x2", ".S16x2", "", "", "VIADD.16x2", "VIMNMX.S16x2"},
                               {"u16x2", ".U16x2", "", "", "VIADD.16x2", "VIMNMX.U16x2"}};
  return *std::ranges::find(types, name, &Type::ptx);
}

// "max.s32", "max.relu.s32", "max.s16x2.relu": the modifier stands elsewhere for pairs.
std::string limit_ptx(Order order, const std::string& type, bool relu) {
  const std::string name = order == Order::maximum ? "max" : "min";
  if (!relu) return name + "." + type;
  return type.ends_with("x2") ? name + "." + type + ".relu" : name + ".relu." + type;
}

template <class T, Order order, bool relu>
T limited(T value, T bound) {
  const T result = order == Order::maximum ? std::max(value, bound) : std::min(value, bound);
  return relu ? std::max(result, T{0}) : result;
}

// limit(d + a, b), and limit(limit(d, a), b).
template <class T, Order order, bool relu>
T add_limit(T d, T a, T b) {
  using U = std::make_unsigned_t<T>;
  return limited<T, order, relu>(
      static_cast<T>(static_cast<U>(static_cast<U>(d) + static_cast<U>(a))), b);
}
template <class T, Order order, bool relu>
T limit_twice(T d, T a, T b) {
  return limited<T, order, relu>(limited<T, order, false>(d, a), b);
}

std::vector<Target> targets_of(const std::string& type, bool relu) {
  return relu || type.ends_with("x2") ? targets_with(Feature::integer_pairs) : all_gpu_targets();
}

template <class T, Order order, bool relu>
InstructionRow add_limit_row(const std::string& name) {
  const Type& type = type_of(name);
  const std::string end = relu ? ".RELU" : "";
  const std::string ptx = "{ .reg .b32 %t; add." + name + " %t, <d>, <a>; " +
                          limit_ptx(order, name, relu) + " <d>, %t, <b>; }";
  InstructionRow made =
      row("viaddmnmx/" + std::string(order == Order::maximum ? "max_" : "min_") + name +
              (relu ? "_relu" : ""),
          ptx, kWord, lanes<T>(add_limit<T, order, relu>),
          by_feature(Feature::dpx, one("VIADDMNMX" + type.suffix + end),
                     by_feature(Feature::vimnmx, each_of({{type.add, 1}, {type.limit + end, 1}}),
                                each_of({{type.old_add, 1}, {type.old_limit, 1}}))),
          // Sums go up and are cut by a minimum, or meet a maximum first.
          {.d0 = 0x10001, .a = 0x30003, .b = 0x400040});
  made.targets = targets_of(name, relu);
  return made;
}

template <class T, Order order, bool relu>
InstructionRow limit_twice_row(const std::string& name) {
  const Type& type = type_of(name);
  const std::string end = relu ? ".RELU" : "";
  const std::string ptx = "{ .reg .b32 %t; " + limit_ptx(order, name, false) + " %t, <d>, <a>; " +
                          limit_ptx(order, name, relu) + " <d>, %t, <b>; }";
  InstructionRow made = row("vimnmx3/" + std::string(order == Order::maximum ? "max_" : "min_") +
                                name + (relu ? "_relu" : ""),
                            ptx, kWord, lanes<T>(limit_twice<T, order, relu>),
                            by_feature(Feature::dpx, one("VIMNMX3" + type.suffix + end),
                                       by_feature(Feature::vimnmx, each_of({{type.limit, 2}}),
                                                  each_of({{type.old_limit, 2}}))),
                            {.d0 = 0x10001, .a = 0x30003, .b = 0x400040});
  made.targets = targets_of(name, relu);
  return made;
}

}  // namespace

std::vector<InstructionRow> dpx_rows() {
  constexpr Order kMax = Order::maximum, kMin = Order::minimum;
  return {add_limit_row<Signed, kMax, false>("s32"),
          add_limit_row<Signed, kMin, false>("s32"),
          add_limit_row<Signed, kMax, true>("s32"),
          add_limit_row<Signed, kMin, true>("s32"),
          add_limit_row<Word, kMax, false>("u32"),
          add_limit_row<Word, kMin, false>("u32"),
          add_limit_row<Half, kMax, false>("s16x2"),
          add_limit_row<Half, kMin, false>("s16x2"),
          add_limit_row<Half, kMax, true>("s16x2"),
          add_limit_row<Half, kMin, true>("s16x2"),
          add_limit_row<UnsignedHalf, kMax, false>("u16x2"),
          add_limit_row<UnsignedHalf, kMin, false>("u16x2"),
          limit_twice_row<Signed, kMax, false>("s32"),
          limit_twice_row<Signed, kMin, false>("s32"),
          limit_twice_row<Signed, kMax, true>("s32"),
          limit_twice_row<Word, kMax, false>("u32"),
          limit_twice_row<Word, kMin, false>("u32"),
          limit_twice_row<Half, kMax, false>("s16x2"),
          limit_twice_row<Half, kMin, false>("s16x2"),
          limit_twice_row<Half, kMax, true>("s16x2"),
          limit_twice_row<UnsignedHalf, kMax, false>("u16x2"),
          limit_twice_row<UnsignedHalf, kMin, false>("u16x2")};
}

namespace {

// Byte or 16-bit piece `i` of a register, with its sign if it has one.
std::int64_t piece(Word value, int i, int bits, bool is_signed) {
  const auto piece = static_cast<std::int64_t>(value >> i * bits & ((1u << bits) - 1));
  return is_signed && piece >> (bits - 1) ? piece - (std::int64_t{1} << bits) : piece;
}

// Four bytes by four bytes; or two 16-bit numbers by the lower or the upper two bytes.
template <bool signed_a, bool signed_b>
Word dot4(Word d, Word a, Word b) {
  for (int i = 0; i < 4; ++i)
    d += static_cast<Word>(piece(a, i, 8, signed_a) * piece(b, i, 8, signed_b));
  return d;
}
template <bool upper, bool signed_a, bool signed_b>
Word dot2(Word d, Word a, Word b) {
  for (int i = 0; i < 2; ++i)
    d += static_cast<Word>(piece(a, i, 16, signed_a) * piece(b, upper ? i + 2 : i, 8, signed_b));
  return d;
}

InstructionRow dot_row(const std::string& name, const std::string& ptx, const std::string& opcode,
                       Word (*step)(Word, Word, Word)) {
  return row("idp/" + name, ptx + " <d>, <a>, <b>, <d>;", kWord, lanes<Word>(step), one(opcode),
             {.d0 = 1, .a = 0x7f8081fe, .b = 0x84fd0379});
}

}  // namespace

std::vector<InstructionRow> dot_rows() {
  return {
      dot_row("dp4a_s32_s32", "dp4a.s32.s32", "IDP.4A.S8.S8", dot4<true, true>),
      dot_row("dp4a_u32_u32", "dp4a.u32.u32", "IDP.4A.U8.U8", dot4<false, false>),
      dot_row("dp4a_s32_u32", "dp4a.s32.u32", "IDP.4A.S8.U8", dot4<true, false>),
      dot_row("dp4a_u32_s32", "dp4a.u32.s32", "IDP.4A.U8.S8", dot4<false, true>),
      dot_row("dp2a_lo_s32_s32", "dp2a.lo.s32.s32", "IDP.2A.LO.S16.S8", dot2<false, true, true>),
      dot_row("dp2a_lo_u32_u32", "dp2a.lo.u32.u32", "IDP.2A.LO.U16.U8", dot2<false, false, false>),
      dot_row("dp2a_hi_s32_s32", "dp2a.hi.s32.s32", "IDP.2A.HI.S16.S8", dot2<true, true, true>),
      dot_row("dp2a_hi_u32_s32", "dp2a.hi.u32.s32", "IDP.2A.HI.U16.S8", dot2<true, false, true>),
      // A factor, not the sum, is the dependence.
      row("idp/dp4a_factor", "dp4a.s32.s32 <d>, <d>, <a>, <b>;", kWord,
          lanes<Word>([](Word d, Word a, Word b) { return dot4<true, true>(b, d, a); }),
          one("IDP.4A.S8.S8"), {.d0 = 1, .a = 0x7f8081fe, .b = 0x84fd0379})};
}

}  // namespace assay::scalar
