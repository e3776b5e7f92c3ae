// SPDX-License-Identifier: Apache-2.0
// Conversions between types and address spaces. PTX ISA 9.0, "cvt", "cvta", "isspacep".
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/number.hpp"

namespace assay::model {
namespace {

// |x| in the last places of `to`, and the exponent of those.
std::pair<double, int> in_last_places(const Number& to, double x) {
  const int least = 2 - (1 << (to.exponent_bits - 1));  // of normal numbers
  const int exponent = x == 0 ? least : std::max(std::ilogb(x), least);
  const int last = exponent - to.fraction_bits;
  return {std::ldexp(std::fabs(x), -last), last};
}

// The random bits of element `k` of `count`, the uppermost source being the last one, as a share of
// one. "cvt", `rbits`: f16x2 takes 13 bits of each half, bf16x2 all 16; of four, the lower two
// elements share the lower half and the upper two the upper one, but of e2m1x4 the lower or upper
// bytes of both halves.
double random_share(const Number& to, int k, std::uint32_t bits) {
  const std::uint32_t half = bits >> (16 * (to.count == 2 ? k : k / 2)) & 0xffff;
  if (to.count == 2)
    return to.bits == 16 && to.exponent_bits == 5 ? (half & 0x1fff) * 0x1p-13 : half * 0x1p-16;
  if (to.bits != 4) return half * 0x1p-16;
  const std::uint32_t shift = k / 2 == 0 ? 0 : 8;
  return ((bits >> (16 + shift) & 0xff) << 8 | (bits >> shift & 0xff)) * 0x1p-16;
}

int random_bits(const Number& to) { return to.count == 2 && to.exponent_bits == 5 ? 13 : 16; }

// cvt.rs[.relu][.satfinite].f16x2.f32 d, a, b, rbits, or .e4m3x4.f32 d, {a, b, e, f}, rbits:
// "rounded toward zero or away from zero based on the carry out of the integer addition of the
// supplied random bits to the truncated off bits of mantissa". Unspecified, where more bits are cut
// off than random ones are given (narrow types, subnormal results): whether they count against the
// highest of those or, the second reading, the lowest of f32's; and in which order the two bytes of
// e2m1x4 count. Figures alone show it.
Action convert_at_random(Decoder& d, const Instruction& i) {
  Number from, to;
  if (!parse_number(i.parts.back(), from) || !parse_number(i.parts.at(i.parts.size() - 2), to) ||
      from.bits != 32 || !from.floating() || !to.floating() || to.count == 1)
    throw Violation("model.unknown", "cvt.rs has no such types");
  const bool saturate = i.has("satfinite"), relu = i.has("relu");
  const int out = d.destination(i.operands.at(0));
  std::vector<int> in;
  for (std::size_t at = 1; at + 1 < i.operands.size(); ++at)
    for (const int slot : d.sources(i.operands[at], {Type::Kind::floating, 32})) in.push_back(slot);
  if (static_cast<int>(in.size()) != to.count)
    throw Violation("ptx.operand", "cvt.rs takes a source for each element, and random bits");
  const int random = d.source(i.operands.back());
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      const auto bits = static_cast<std::uint32_t>(w.reg(random)[l]);
      Value r = 0;
      for (int k = 0; k < to.count; ++k) {
        double x = to_double(from, w.reg(in[in.size() - 1 - static_cast<std::size_t>(k)])[l]);
        if (relu && x <= 0) x = 0;
        if (std::isfinite(x)) {
          const auto [places, last] = in_last_places(to, x);
          const double kept = std::floor(places);
          double share = random_share(to, k, bits);
          // Of the bits of f32 that are cut off, so many are more than there are random ones.
          const int more =
              last - (std::max(std::ilogb(x == 0 ? 1 : x), -126) - 23) - random_bits(to);
          if (more > 0 && w.run->takes_second(Reading::random_rounding))
            share = std::ldexp(share, -more);
          const bool carry = places - kept + share >= 1;
          x = std::copysign(std::ldexp(kept + carry, last), x);
        }
        r |= low(from_double(to, x, Rounding::nearest, saturate), to.bits) << (k * to.bits);
      }
      w.reg(out)[l] = r;
    });
    return Next::step;
  };
}

// What silicon leaves of NaN `x`, which is `bits`, where it is not the canonical NaN: of f64 and to
// f64 a quiet one with its sign and as much of what it carries as there is room for.
std::optional<Value> converted_nan(const Number& to, const Number& from, Value bits, double x,
                                   Rounding rounding, bool ftz) {
  // Flushing makes it the canonical one first.
  if (to.bits == 64 && from.bits == 32 && ftz) return 0x7fffffffe0000000u;
  if (to.bits != 64 && from.bits != 64) {
    if (to.bits == 32 && to.fraction_bits == 10 && rounding == Rounding::away)
      return low(bits, 32) & ~Value{0x1fff};  // rna.tf32: it is cut as it is
    return {};
  }
  const int fraction = to.fraction_bits;
  const Value quiet = bits_of(x) | Value{1} << 51;
  const Value magnitude = low(quiet, 52) >> (52 - fraction) | ((Value{1} << to.exponent_bits) - 1)
                                                                  << fraction;
  return magnitude | (quiet >> 63) << (to.exponent_bits + fraction);
}

// cvt[.rounding][.ftz][.relu][.satfinite][.sat].to.from d, a[, b]. Two sources give the upper and
// the lower half of a packed result.
Action convert(Decoder& d, const Instruction& i) {
  Number from, to;
  if (!parse_number(i.parts.back(), from) || !parse_number(i.parts.at(i.parts.size() - 2), to))
    throw Violation("model.unknown", "cvt names types the model does not know");
  Rounding rounding = Rounding::nearest;
  if (i.has("rz") || i.has("rzi"))
    rounding = Rounding::zero;
  else if (i.has("rm") || i.has("rmi"))
    rounding = Rounding::down;
  else if (i.has("rp") || i.has("rpi"))
    rounding = Rounding::up;
  else if (i.has("rna"))
    rounding = Rounding::away;
  const bool to_integral = i.has("rni") || i.has("rzi") || i.has("rmi") || i.has("rpi");
  const bool saturate = i.has("satfinite"), sat = i.has("sat"), relu = i.has("relu"),
             ftz = i.has("ftz");
  const Type source_type{from.floating() ? Type::Kind::floating : Type::Kind::bits,
                         from.bits * from.count};
  const int out = d.destination(i.operands.at(0));
  const auto flat = [&](const Operand& o) { return d.sources(o, source_type); };
  std::vector<int> in = flat(i.operands.at(1));
  if (i.operands.size() > 2 && to.count == 2 && from.count == 1) {
    in.push_back(d.source(i.operands[2], source_type));
  } else if (i.operands.size() > 2) {
    throw Violation("model.unknown", "this form of cvt is not modelled");
  }
  const auto one = [=](Value bits) -> Value {
    if (!from.floating() && !to.floating()) {
      // Between integers: extended by the source's sign, truncated or clamped.
      const auto wide = from.kind == Number::Kind::signed_
                            ? static_cast<__int128>(extend(bits, from.bits))
                            : static_cast<__int128>(low(bits, from.bits));
      if (!sat) return low(static_cast<Value>(wide), to.bits);
      const bool is_signed = to.kind == Number::Kind::signed_;
      const __int128 most = (__int128{1} << (is_signed ? to.bits - 1 : to.bits)) - 1;
      const __int128 least = is_signed ? -most - 1 : 0;
      return low(static_cast<Value>(wide > most ? most : wide < least ? least : wide), to.bits);
    }
    if (!from.floating() && from.bits == 64) {
      // Such an integer may not fit a double: cut to 53 bits with the last one set if it is not
      // exact, it rounds as the whole would (where the target has at most 51 bits). To f64 it
      // rounds here.
      const bool minus = from.kind == Number::Kind::signed_ && extend(bits, 64) < 0;
      const Value magnitude = minus ? 0 - bits : bits;
      const int spare = std::max(0, 11 - std::countl_zero(magnitude | 1));
      Value kept = magnitude >> spare;
      const Value lost = magnitude & ((Value{1} << spare) - 1);
      if (to.bits < 64) {
        kept |= lost != 0;
      } else {
        const Value half = spare > 0 ? Value{1} << (spare - 1) : 0;
        const bool away = rounding == (minus ? Rounding::down : Rounding::up);
        const bool nearest = rounding == Rounding::nearest;
        if (lost != 0 && (away || (nearest && (lost > half || (lost == half && (kept & 1) != 0)))))
          ++kept;
      }
      const double value = std::ldexp(static_cast<double>(kept), spare);
      return from_double(to, minus ? -value : value, rounding, saturate);
    }
    // The upper half of an f32, NaNs with all their bits.
    if (from.bits == 16 && from.exponent_bits == 8 && to.bits == 32 && to.fraction_bits == 23 &&
        !relu && !sat)
      return low(bits, 16) << 16;
    double x = to_double(from, bits);
    // "cvt", "Floating Point Notes" of 9.0: a NaN becomes zero where the source is no f64 and the
    // result has no 64 bits, else the highest bit alone.
    if (std::isnan(x) && !to.floating() && (from.bits == 64 || to.bits == 64))
      return Value{1} << (to.bits - 1);
    if (std::isnan(x) && to.floating() && !sat && !relu)
      if (const auto left = converted_nan(to, from, bits, x, rounding, ftz)) return *left;
    if (ftz && from.bits == 32 && std::fabs(x) < 0x1p-126) x = std::copysign(0.0, x);
    if (to_integral && to.floating()) {
      switch (rounding) {
        case Rounding::nearest:
          x = std::nearbyint(x);
          break;
        case Rounding::zero:
          x = std::trunc(x);
          break;
        case Rounding::down:
          x = std::floor(x);
          break;
        default:
          x = std::ceil(x);
          break;
      }
    }
    if (relu && x <= 0) x = 0;  // -0 too
    if (sat && to.floating()) x = x > 0 ? std::min(x, 1.0) : 0;
    Value r = from_double(to, x, rounding, saturate);
    if (ftz && to.bits == 32 && to.exponent_bits == 8 && (r & 0x7f800000) == 0) r &= 0x80000000u;
    return r;
  };
  // "Operand Size Exceeding Instruction-Type Size": the register may be wider than the type, and
  // what is signed fills it.
  const int width = d.width(i.operands[0]);
  const bool widen = to.kind == Number::Kind::signed_ && to.bits < width;
  if (to.count == 1)
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        const Value r = one(w.reg(in[0])[l]);
        w.reg(out)[l] = widen ? low(static_cast<Value>(extend(r, to.bits)), width) : r;
      });
      return Next::step;
    };
  if (from.count == to.count)  // element by element
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        Value r = 0;
        for (int k = 0; k < to.count; ++k)
          r |= low(one(low(w.reg(in[0])[l] >> (k * from.bits), from.bits)), to.bits)
               << (k * to.bits);
        w.reg(out)[l] = r;
      });
      return Next::step;
    };
  if (static_cast<int>(in.size()) != to.count)
    throw Violation("model.unknown", "this form of cvt is not modelled");
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Value r = 0;
      for (int k = 0; k < to.count; ++k)  // the first source is the uppermost element
        r |= low(one(w.reg(in[in.size() - 1 - static_cast<std::size_t>(k)])[l]), to.bits)
             << (k * to.bits);
      w.reg(out)[l] = r;
    });
    return Next::step;
  };
}

// cvta[.to].space: between an address of a space and the generic one.
Action convert_address(Decoder& d, const Instruction& i) {
  const bool to = i.has("to");
  const int out = d.destination(i.operands.at(0));
  const int in = d.source(i.operands.at(1), type_of(i));
  Address window = 0;
  if (i.has("shared") || i.has("shared::cta") || i.has("shared::cluster")) window = kSharedWindow;
  if (i.has("local")) window = kLocalWindow;
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      const Value a = w.reg(in)[l];
      w.reg(out)[l] = to ? a - window : a + window;
    });
    return Next::step;
  };
}

Action is_space(Decoder& d, const Instruction& i) {
  const int out = d.destination(i.operands.at(0)),
            in = d.source(i.operands.at(1), {Type::Kind::bits, 64});
  const std::string space = i.parts.at(1);
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      const Address a = w.reg(in)[l];
      const bool shared = a - kSharedWindow < kWindowBytes, local = a - kLocalWindow < kWindowBytes;
      const bool own =
          shared && ((a - kSharedWindow) >> kRankShift) == static_cast<Address>(w.cta->rank);
      w.reg(out)[l] = space == "shared" || space == "shared::cta" ? own
                      : space == "shared::cluster"                ? shared
                      : space == "local"                          ? local
                      : space == "global"                         ? !shared && !local
                                                                  : false;  // const, param
    });
    return Next::step;
  };
}

}  // namespace

void add_conversions(Meanings& all) {
  all.add("cvt", convert);
  all.add("cvt.rs", convert_at_random);
  all.add("cvta", convert_address);
  all.add("isspacep", is_space);
}

}  // namespace assay::model
