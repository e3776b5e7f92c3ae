// SPDX-License-Identifier: Apache-2.0
// Arithmetic of integers and floating-point numbers. PTX ISA 9.0, "Integer Arithmetic
// Instructions", "Floating Point Instructions", "Half Precision Floating Point Instructions".
#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <ranges>
#include <type_traits>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/number.hpp"

namespace assay::model {
namespace {

using std::int64_t;
using Integer = unsigned __int128;

Number number_of(const Instruction& i, std::size_t from_end = 0) {
  Number n;
  for (const std::string& part : i.parts | std::views::reverse) {
    if (!parse_number(part, n)) continue;
    if (from_end-- == 0) return n;
  }
  throw Violation("model.unknown", "the instruction names no type");
}

Type as_type(const Number& n) {
  return {n.floating() ? Type::Kind::floating : Type::Kind::bits, n.bits * n.count};
}

Rounding rounding_of(const Instruction& i) {
  if (i.has("rz")) return Rounding::zero;
  if (i.has("rm")) return Rounding::down;
  if (i.has("rp")) return Rounding::up;
  return Rounding::nearest;
}

float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

// An operation of one binary32 or binary64 with the rounding that the processor can be set to.
template <class T, class F>
T rounded(Rounding rounding, F f) {
  if (rounding == Rounding::nearest) return f();
  const int before = std::fegetround();
  std::fesetround(rounding == Rounding::zero   ? FE_TOWARDZERO
                  : rounding == Rounding::down ? FE_DOWNWARD
                                               : FE_UPWARD);
  volatile T result = f();
  std::fesetround(before);
  return result;
}

struct Style {
  Rounding rounding = Rounding::nearest;
  bool ftz = false, sat = false, relu = false, division = false;
};

Style style_of(const Instruction& i) {
  return {rounding_of(i), i.has("ftz"), i.has("sat"), i.has("relu"), i.parts[0] == "div"};
}

constexpr std::uint32_t kNan32 = 0x7fffffff;

// a + b with the last bit set if it is not exact: rounding this once more to fewer bits is right.
// (Round to odd: Boldo and Melquiond, IEEE TC 2008; the error of a sum: Knuth's TwoSum.)
double odd_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  if (error == 0 || !std::isfinite(sum) || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

// What silicon leaves where the result of f64 is a NaN: one of the operands, whatever is done to
// it, as a quiet NaN with its sign and what it carries; the second before the third before the
// first, but of a division the first. Without one it is a NaN with a sign.
Value nan_of(const Style& s, Value a, Value b, Value c) {
  for (const Value v : s.division ? std::array{a, b, c} : std::array{b, c, a})
    if (std::isnan(as_double(v))) return v | Value{1} << 51;
  return 0xfff8000000000000u;
}

// f(a, b, c) of floating-point numbers of one type. Half types are computed in binary64, where sums
// and products of two are exact, and rounded once.
template <class F>
Value floating(const Number& n, const Style& s, Value a, Value b, Value c, F f) {
  if (n.bits == 64) {
    const double r =
        rounded<double>(s.rounding, [&] { return f(as_double(a), as_double(b), as_double(c)); });
    return std::isnan(r) ? nan_of(s, a, b, c) : bits_of(r);
  }
  if (n.bits == 32) {
    float x = as_float(a), y = as_float(b), z = as_float(c);
    if (s.ftz) x = flush(x), y = flush(y), z = flush(z);
    volatile float vx = x, vy = y, vz = z;
    float r = rounded<float>(s.rounding, [&] { return f(float(vx), float(vy), float(vz)); });
    if (std::isnan(r)) return s.sat ? 0 : kNan32;
    if (s.ftz) r = flush(r);
    if (s.sat) r = r > 0 ? std::min(r, 1.0f) : 0.0f;  // -0 goes to +0
    if (s.relu && r <= 0) r = 0;                      // -0 too
    return bits_of(r);
  }
  const bool flushes = s.ftz && n.exponent_bits == 5;
  const auto in = [&](Value bits) {
    const double x = to_double(n, bits);
    return flushes && std::fabs(x) < 0x1p-14 ? std::copysign(0.0, x) : x;
  };
  double r = f(in(a), in(b), in(c));
  if (s.sat) r = std::isnan(r) || r <= 0 ? 0.0 : r > 1 ? 1.0 : r;  // -0 goes to +0
  if (s.relu && r <= 0) r = 0;
  Value bits = from_double(n, r, s.rounding);
  if (flushes && (bits & 0x7c00) == 0) bits &= 0x8000;
  return bits;
}

// Applies `f` to each element that the register packs.
template <class F>
Value each_element(const Number& n, Value a, Value b, Value c, F f) {
  if (n.count == 1) return f(low(a, n.bits), low(b, n.bits), low(c, n.bits));
  Value result = 0;
  for (int k = 0; k < n.count; ++k)
    result |= low(f(low(a >> (k * n.bits), n.bits), low(b >> (k * n.bits), n.bits),
                    low(c >> (k * n.bits), n.bits)),
                  n.bits)
              << (k * n.bits);
  return result;
}

// An action of up to three sources: `f(a, b, c)` on whole registers.
template <class F>
Action action(Decoder& d, const Instruction& i, Type type, Type last, F f) {
  const int out = d.destination(i.operands.at(0));
  const std::size_t count = i.operands.size() - 1;
  const int a = d.source(i.operands.at(1), type);
  const int b = count > 1 ? d.source(i.operands[2], type) : d.constant(0);
  const int c = count > 2 ? d.source(i.operands[3], last) : d.constant(0);
  return [=](Warp& w, Mask m) {
    Value* o = w.reg(out);
    const Value *x = w.reg(a), *y = w.reg(b), *z = w.reg(c);
    for_lanes(m, [&](int l) { o[l] = f(x[l], y[l], z[l]); });
    return Next::step;
  };
}

template <class F, class G>
Meaning either(F integer, G real) {
  return [=](Decoder& d, const Instruction& i) {
    const Number n = number_of(i);
    if (n.floating()) {
      const Style s = style_of(i);
      return action(d, i, as_type(n), as_type(n), [=](Value a, Value b, Value c) {
        return each_element(
            n, a, b, c, [&](Value x, Value y, Value z) { return floating(n, s, x, y, z, real); });
      });
    }
    const bool is_signed = n.kind == Number::Kind::signed_;
    const bool saturate = i.has("sat"), relu = i.has("relu");
    return action(d, i, as_type(n), as_type(n), [=](Value a, Value b, Value c) {
      return each_element(n, a, b, c, [&](Value x, Value y, Value z) {
        const auto wide = [&](Value v) {
          return is_signed ? static_cast<__int128>(extend(v, n.bits)) : static_cast<__int128>(v);
        };
        __int128 r = integer(wide(x), wide(y), wide(z), n.bits);
        if (saturate) {
          const __int128 most = (__int128{1} << (n.bits - 1)) - 1;
          r = r > most ? most : r < -most - 1 ? -most - 1 : r;
        }
        if (relu && r < 0) r = 0;
        return low(static_cast<Value>(r), n.bits);
      });
    });
  };
}

// mul and mad of integers: .lo, .hi, .wide.
Meaning product(bool adds) {
  return [adds](Decoder& d, const Instruction& i) -> Action {
    const Number n = number_of(i);
    if (n.floating()) {
      const Style s = style_of(i);
      return action(d, i, as_type(n), as_type(n), [=](Value a, Value b, Value c) {
        return each_element(n, a, b, c, [&](Value x, Value y, Value z) {
          return floating(
              n, s, x, y, z,
              [&](auto p, auto q,
                  auto r) {  // Products of halves are exact in binary64, their sums are not.
                if constexpr (std::is_same_v<decltype(p), double>)
                  if (adds && n.bits == 16) return odd_sum(p * q, r);
                return adds ? std::fma(p, q, r) : p * q;
              });
        });
      });
    }
    const bool high = i.has("hi"), wide = i.has("wide"), saturates = i.has("sat"),
               is_signed = n.kind == Number::Kind::signed_;
    const Type last{Type::Kind::bits, wide ? n.bits * 2 : n.bits};
    return action(d, i, as_type(n), last, [=](Value a, Value b, Value c) {
      const auto full =
          is_signed
              ? static_cast<Integer>(static_cast<__int128>(extend(a, n.bits)) * extend(b, n.bits))
              : Integer{low(a, n.bits)} * low(b, n.bits);
      if (wide) return low(static_cast<Value>(full) + c, n.bits * 2);
      if (saturates) {  // mad.hi.sat.s32 alone
        const std::int64_t sum =
            extend(low(static_cast<Value>(full >> 32), 32), 32) + extend(c, 32);
        return low(static_cast<Value>(std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX)), 32);
      }
      return low(static_cast<Value>(high ? full >> n.bits : full) + c, n.bits);
    });
  };
}

// mul24 and mad24: of 24 bits each; .hi is the upper 32 of the 48 that the product has.
Action product24(Decoder& d, const Instruction& i) {
  const Number n = number_of(i);
  const bool high = i.has("hi"), is_signed = n.kind == Number::Kind::signed_;
  if (i.has("sat")) unknown_part(i, "sat");
  return action(d, i, as_type(n), as_type(n), [=](Value a, Value b, Value c) {
    const auto part = [&](Value v) {
      return is_signed ? extend(v, 24) : static_cast<std::int64_t>(low(v, 24));
    };
    const auto full = static_cast<Value>(part(a) * part(b));
    return low((high ? full >> 16 : full) + c, 32);
  });
}

Meaning minimum(bool max) {
  return [max](Decoder& d, const Instruction& i) -> Action {
    const Number n = number_of(i);
    const Style s = style_of(i);
    const bool three = i.operands.size() == 4, nan = i.has("NaN"), magnitude = i.has("xorsign");
    if (!n.floating())
      return either(
          [=](auto a, auto b, auto c, int) {
            auto r = max ? std::max(a, b) : std::min(a, b);
            return three ? (max ? std::max(r, c) : std::min(r, c)) : r;
          },
          [](auto a, auto, auto) { return a; })(d, i);
    const bool absolute = i.has("abs");
    const auto two = [=](auto a, auto b) {
      using T = decltype(a);
      const bool minus = std::signbit(a) != std::signbit(b);
      if (absolute) a = std::fabs(a), b = std::fabs(b);
      const auto with_sign = [&](T r) { return magnitude && minus ? -r : r; };
      if (std::isnan(a) || std::isnan(b)) {
        if (nan || (std::isnan(a) && std::isnan(b))) return static_cast<T>(NAN);
        return with_sign(std::isnan(a) ? b : a);
      }
      const T r = a == b ? (std::signbit(a) == max ? b : a) : ((a < b) != max ? a : b);
      return with_sign(r);
    };
    return action(d, i, as_type(n), as_type(n), [=](Value a, Value b, Value c) {
      return each_element(n, a, b, c, [&](Value x, Value y, Value z) {
        return floating(n, s, x, y, z, [&](auto p, auto q, auto r) {
          return three ? two(two(p, q), r) : two(p, q);
        });
      });
    });
  };
}

// add.cc, addc, sub.cc, subc: the carry is a register of its own.
Meaning with_carry(bool subtract, bool reads) {
  return [=](Decoder& d, const Instruction& i) -> Action {
    const Number n = number_of(i);
    const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1), as_type(n)),
              b = d.source(i.operands.at(2), as_type(n)), carry = d.carry();
    const bool writes = i.has("cc");
    return [=](Warp& w, Mask m) {
      Value *o = w.reg(out), *cc = w.reg(carry);
      const Value *x = w.reg(a), *y = w.reg(b);
      for_lanes(m, [&](int l) {
        // Subtraction adds the complement; its carry flag means "no borrow" inside, kept as borrow.
        const Value right = subtract ? low(~y[l], n.bits) : low(y[l], n.bits);
        const Value in = reads ? cc[l] : 0;
        const Integer sum = Integer{low(x[l], n.bits)} + right + (subtract ? 1 - in : in);
        o[l] = low(static_cast<Value>(sum), n.bits);
        const Value out_carry = static_cast<Value>(sum >> n.bits) & 1;
        if (writes) cc[l] = subtract ? 1 - out_carry : out_carry;
      });
      return Next::step;
    };
  };
}

template <class F>
Meaning approximate(F f) {
  return [f](Decoder& d, const Instruction& i) {
    const Number n = number_of(i);
    const Style s = style_of(i);
    return action(d, i, as_type(n), as_type(n), [=](Value a, Value b, Value c) {
      return each_element(n, a, b, c, [&](Value x, Value y, Value z) {
        // Correctly rounded here; silicon's approximations differ from it by the manual's bounds.
        return floating(n, s, x, y, z, [&](auto p, auto q, auto) {
          return static_cast<decltype(p)>(f(static_cast<double>(p), static_cast<double>(q)));
        });
      });
    });
  };
}

}  // namespace

void add_arithmetic(Meanings& all) {
  all.add("add", either([](auto a, auto b, auto, int) { return a + b; },
                        [](auto a, auto b, auto) { return a + b; }));
  all.add("sub", either([](auto a, auto b, auto, int) { return a - b; },
                        [](auto a, auto b, auto) { return a - b; }));
  all.add("add.cc", with_carry(false, false));
  all.add("addc", with_carry(false, true));
  all.add("sub.cc", with_carry(true, false));
  all.add("subc", with_carry(true, true));
  all.add("mul", product(false));
  all.add("mad", product(true));
  all.add("fma", product(true));
  all.add("mul24", product24);
  all.add("mad24", product24);
  all.add("min", minimum(false));
  all.add("max", minimum(true));
  all.add("neg", either([](auto a, auto, auto, int) { return -a; },
                        [](auto a, auto, auto) { return -a; }));
  all.add("abs", either([](auto a, auto, auto, int) { return a < 0 ? -a : a; },
                        [](auto a, auto, auto) { return std::fabs(a); }));
  // Division of integers by zero gives all ones on silicon; the manual leaves it open.
  all.add("div", either([](auto a, auto b, auto, int) { return b == 0 ? decltype(a)(-1) : a / b; },
                        [](auto a, auto b, auto) { return a / b; }));
  all.add("rem", either([](auto a, auto b, auto, int) { return b == 0 ? decltype(a)(-1) : a % b; },
                        [](auto a, auto, auto) { return a; }));
  all.add("sad", either([](auto a, auto b, auto c, int) { return c + (a < b ? b - a : a - b); },
                        [](auto a, auto, auto) { return a; }));
  all.add("sqrt", either([](auto a, auto, auto, int) { return a; },
                         [](auto a, auto, auto) { return std::sqrt(a); }));
  all.add("rcp", either([](auto a, auto, auto, int) { return a; },
                        [](auto a, auto, auto) { return 1 / a; }));
  all.add("rsqrt", approximate([](double a, double) { return 1 / std::sqrt(a); }));
  all.add("ex2", approximate([](double a, double) { return std::exp2(a); }));
  all.add("lg2", approximate([](double a, double) { return std::log2(a); }));
  all.add("sin", approximate([](double a, double) { return std::sin(a); }));
  all.add("cos", approximate([](double a, double) { return std::cos(a); }));
  all.add("tanh", approximate([](double a, double) { return std::tanh(a); }));
  all.add("copysign", [](Decoder& d, const Instruction& i) {
    const Number n = number_of(i);
    const Value sign = Value{1} << (n.bits - 1);
    return action(d, i, as_type(n), as_type(n), [=](Value a, Value b, Value) {
      return (a & sign) | (low(b, n.bits) & ~sign);  // also of NaNs
    });
  });
}

}  // namespace assay::model
