// SPDX-License-Identifier: Apache-2.0
// Comparisons. PTX ISA 9.0, "Comparison and Selection Instructions", "testp".
#include <cmath>
#include <functional>
#include <string_view>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/number.hpp"

namespace assay::model {
namespace {

// Of numbers that are ordered; with a NaN each of these is false, .ne too.
template <class T>
using Compare = bool (*)(T, T);
template <class T>
Compare<T> ordered(std::string_view op) {
  if (op == "eq") return [](T a, T b) { return a == b; };
  if (op == "ne") return [](T a, T b) { return a < b || a > b; };
  if (op == "lt" || op == "lo") return [](T a, T b) { return a < b; };
  if (op == "le" || op == "ls") return [](T a, T b) { return a <= b; };
  if (op == "gt" || op == "hi") return [](T a, T b) { return a > b; };
  return [](T a, T b) { return a >= b; };
}

Compare<double> floating_compare(std::string_view op) {
  using T = double;
  if (op == "num") return [](T a, T b) { return !std::isunordered(a, b); };
  if (op == "nan") return [](T a, T b) { return std::isunordered(a, b); };
  // True with a NaN too: not what is true of the other numbers.
  if (op == "equ") return [](T a, T b) { return !(a < b || a > b); };
  if (op == "neu") return [](T a, T b) { return !(a == b); };
  if (op == "ltu") return [](T a, T b) { return !(a >= b); };
  if (op == "leu") return [](T a, T b) { return !(a > b); };
  if (op == "gtu") return [](T a, T b) { return !(a <= b); };
  if (op == "geu") return [](T a, T b) { return !(a < b); };
  return ordered<T>(op);
}

std::function<bool(Value, Value)> comparison(const Instruction& i, const Number& n) {
  const std::string& op = i.parts.at(1);
  if (n.floating()) {
    const double least = !i.has("ftz") ? 0 : n.bits == 32 ? 0x1p-126 : n.bits == 16 ? 0x1p-14 : 0;
    return [n, least, compare = floating_compare(op)](Value a, Value b) {
      double x = to_double(n, a), y = to_double(n, b);
      if (std::fabs(x) < least) x = 0;
      if (std::fabs(y) < least) y = 0;
      return compare(x, y);
    };
  }
  if (n.kind == Number::Kind::signed_)
    return [bits = n.bits, compare = ordered<std::int64_t>(op)](Value a, Value b) {
      return compare(extend(a, bits), extend(b, bits));
    };
  return [bits = n.bits, compare = ordered<Value>(op)](Value a, Value b) {
    return compare(low(a, bits), low(b, bits));
  };
}

// The predicate that a comparison is joined with: .and, .or, .xor and a fourth operand.
class Joined {
 public:
  Joined(Decoder& d, const Instruction& i)
      : joins_(i.operands.size() > 3),
        negated_(joins_ && i.operands[3].negated),
        is_or_(i.has("or")),
        is_xor_(i.has("xor")),
        slot_(joins_ ? d.source(i.operands[3]) : -1) {}
  bool operator()(Warp& w, int lane, bool result) const {
    if (!joins_) return result;
    const bool with = ((w.reg(slot_)[lane] & 1) != 0) != negated_;
    return is_or_ ? result || with : is_xor_ ? result != with : result && with;
  }

 private:
  bool joins_, negated_, is_or_, is_xor_;
  int slot_;
};

// setp.CmpOp[.BoolOp][.ftz].type p[|q], a, b[, [!]c]; packed halves give p and q.
Action set_predicate(Decoder& d, const Instruction& i) {
  Number n;
  parse_number(i.parts.back(), n);
  const Type t{n.floating() ? Type::Kind::floating : Type::Kind::bits, n.bits * n.count};
  const int p = d.destination(i.operands.at(0)), q = i.operands[0].second;
  const int a = d.source(i.operands.at(1), t), b = d.source(i.operands.at(2), t);
  const Joined joined(d, i);
  const auto test = comparison(i, n);
  return [=](Warp& w, Mask m) {
    const Value *x = w.reg(a), *y = w.reg(b);
    Value *po = w.reg(p), *qo = q >= 0 ? w.reg(q) : nullptr;
    for_lanes(m, [&](int l) {
      const bool first = test(x[l], y[l]);
      const bool second = n.count == 2 ? test(x[l] >> n.bits, y[l] >> n.bits) : !first;
      // The results may go where the predicate is that they are joined with.
      const bool to_p = joined(w, l, first), to_q = joined(w, l, second);
      po[l] = to_p;
      if (qo != nullptr) qo[l] = to_q;
    });
    return Next::step;
  };
}

// set.CmpOp[.BoolOp][.ftz].dtype.stype d, a, b[, [!]c]: all ones or 1.0 where it holds.
Action set_value(Decoder& d, const Instruction& i) {
  Number from, to;
  parse_number(i.parts.back(), from);
  parse_number(i.parts.at(i.parts.size() - 2), to);
  const Type t{from.floating() ? Type::Kind::floating : Type::Kind::bits, from.bits * from.count};
  const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1), t),
            b = d.source(i.operands.at(2), t);
  const Joined joined(d, i);
  const auto test = comparison(i, from);
  // Of two halves compared into one integer, each fills a half of it.
  const int width = to.count == from.count ? to.bits : to.bits / from.count;
  const Value yes = to.floating() ? from_double(to, 1.0) : low(~Value{0}, width);
  return [=](Warp& w, Mask m) {
    Value* o = w.reg(out);
    const Value *x = w.reg(a), *y = w.reg(b);
    for_lanes(m, [&](int l) {
      Value r = 0;
      for (int k = 0; k < from.count; ++k)
        if (joined(w, l,
                   test(low(x[l] >> (k * from.bits), from.bits),
                        low(y[l] >> (k * from.bits), from.bits))))
          r |= yes << (k * width);
      o[l] = r;
    });
    return Next::step;
  };
}

}  // namespace

void add_comparisons(Meanings& all) {
  all.add("setp", set_predicate);
  all.add("set", set_value);
  all.add("slct", [](Decoder& d, const Instruction& i) -> Action {
    const Type t = type_of(i, 1);
    Number n;
    parse_number(i.parts.back(), n);
    const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1), t),
              b = d.source(i.operands.at(2), t), c = d.source(i.operands.at(3), type_of(i));
    const bool ftz = i.has("ftz");
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        double x = to_double(n, w.reg(c)[l]);
        if (ftz && std::fabs(x) < 0x1p-126) x = 0;
        w.reg(out)[l] = x >= 0 ? w.reg(a)[l] : w.reg(b)[l];
      });
      return Next::step;
    };
  });
  all.add("testp", [](Decoder& d, const Instruction& i) -> Action {
    Number n;
    parse_number(i.parts.back(), n);
    const std::string what = i.parts.at(1);
    const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1), type_of(i));
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        const double x = to_double(n, w.reg(a)[l]);
        const double least = n.bits == 64 ? 0x1p-1022 : 0x1p-126;
        const bool subnormal = x != 0 && std::fabs(x) < least;
        w.reg(out)[l] = what == "finite"       ? std::isfinite(x)
                        : what == "infinite"   ? std::isinf(x)
                        : what == "number"     ? !std::isnan(x)
                        : what == "notanumber" ? std::isnan(x)
                        : what == "subnormal"  ? subnormal
                                               : std::isfinite(x) && !subnormal;  // zeros too
      });
      return Next::step;
    };
  });
}

}  // namespace assay::model
