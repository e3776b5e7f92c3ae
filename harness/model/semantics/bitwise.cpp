// SPDX-License-Identifier: Apache-2.0
// Bits, comparisons and moves. PTX ISA 9.0, "Logic and Shift Instructions", "Comparison and
// Selection Instructions", "Integer Arithmetic Instructions" (bit fields) and "mov".
#include <algorithm>
#include <bit>
#include <ranges>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/number.hpp"

namespace assay::model {

Type type_of(const Instruction& instruction, int from_end) {
  Type type;
  for (const std::string& part : instruction.parts | std::views::reverse) {
    Number n;
    if (!parse_number(part, n)) {
      if (part != "pred") continue;
      n.bits = 1;
    }
    if (from_end-- > 0) continue;
    type.bits = n.bits * n.count;
    type.kind = n.floating()                        ? Type::Kind::floating
                : n.kind == Number::Kind::signed_   ? Type::Kind::signed_
                : n.kind == Number::Kind::unsigned_ ? Type::Kind::unsigned_
                                                    : Type::Kind::bits;
    return type;
  }
  throw Violation("model.unknown", "the instruction names no type");
}

void unknown_part(const Instruction& instruction, const std::string& part) {
  throw Violation("model.unknown",
                  "the model does not know '" + part + "' of '" + instruction.opcode + "'");
}

namespace {

template <class F>
Meaning bits(F f) {
  return [f](Decoder& d, const Instruction& i) -> Action {
    const Type type = type_of(i);
    const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1), type);
    const std::size_t count = i.operands.size();
    const int b = count > 2 ? d.source(i.operands[2], type) : d.constant(0);
    const int c = count > 3 ? d.source(i.operands[3], type) : d.constant(0);
    const bool not_a = i.operands[1].negated, not_b = count > 2 && i.operands[2].negated;
    return [=](Warp& w, Mask m) {
      Value* o = w.reg(out);
      const Value *x = w.reg(a), *y = w.reg(b), *z = w.reg(c);
      for_lanes(m, [&](int l) {
        o[l] = low(f(not_a ? ~x[l] : x[l], not_b ? ~y[l] : y[l], z[l], type), type.bits);
      });
      return Next::step;
    };
  };
}

Value shift_left(Value a, Value b, Value, Type t) {
  const auto n = static_cast<std::uint32_t>(b);
  return n >= static_cast<std::uint32_t>(t.bits) ? 0 : a << n;
}
Value shift_right(Value a, Value b, Value, Type t) {
  const auto n = static_cast<std::uint32_t>(b);
  const bool is_signed = t.kind == Type::Kind::signed_;
  if (n >= static_cast<std::uint32_t>(t.bits))
    return is_signed && extend(a, t.bits) < 0 ? ~Value{0} : 0;
  return is_signed ? static_cast<Value>(extend(a, t.bits) >> n) : low(a, t.bits) >> n;
}

Action funnel(Decoder& d, const Instruction& i) {
  const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1)),
            b = d.source(i.operands.at(2)), c = d.source(i.operands.at(3));
  const bool left = i.has("l"), clamp = i.has("clamp");
  return [=](Warp& w, Mask m) {
    Value* o = w.reg(out);
    const Value *x = w.reg(a), *y = w.reg(b), *z = w.reg(c);
    for_lanes(m, [&](int l) {
      const Value n = clamp ? std::min<Value>(low(z[l], 32), 32) : z[l] & 31;
      const Value both = low(x[l], 32) | low(y[l], 32) << 32;
      o[l] = low(left ? (n == 32 ? both << 31 << 1 : both << n) >> 32 : both >> n, 32);
    });
    return Next::step;
  };
}

// lop3: any function of three bits, by its table. With .or or .and, p of d|p is whether the result
// has a bit, joined with a predicate. PTX ISA 9.0, "lop3".
Action lop3(Decoder& d, const Instruction& i) {
  const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1)),
            b = d.source(i.operands.at(2)), c = d.source(i.operands.at(3));
  const auto table = Decoder::immediate(i.operands.at(4), "the table of lop3");
  const int p = i.operands[0].second;
  const bool joins = i.operands.size() > 5, is_or = i.parts.at(1) == "or",
             negated = joins && i.operands[5].negated;
  const int q = joins ? d.source(i.operands[5]) : 0;
  return [=](Warp& w, Mask m) {
    Value* o = w.reg(out);
    const Value *x = w.reg(a), *y = w.reg(b), *z = w.reg(c);
    for_lanes(m, [&](int l) {
      Value r = 0;
      for (int k = 0; k < 8; ++k)
        if ((table >> k & 1) != 0)
          r |= ((k & 4) != 0 ? x[l] : ~x[l]) & ((k & 2) != 0 ? y[l] : ~y[l]) &
               ((k & 1) != 0 ? z[l] : ~z[l]);
      const bool with = joins && ((w.reg(q)[l] & 1) != 0) != negated, any = low(r, 32) != 0;
      o[l] = low(r, 32);
      if (p >= 0) w.reg(p)[l] = is_or ? any || with : any && with;
    });
    return Next::step;
  };
}

// prmt: bytes of two registers by selectors. PTX ISA 9.0, "prmt".
// The byte that result byte `k` takes: of a selector's four bits, or of a mode and its two.
using ByteOf = unsigned (*)(Value selector, unsigned k);
ByteOf byte_of(std::string_view mode) {
  static constexpr auto two = [](Value selector) { return static_cast<unsigned>(selector) & 3; };
  if (mode == "f4e") return [](Value z, unsigned k) { return two(z) + k; };
  if (mode == "b4e") return [](Value z, unsigned k) { return (two(z) - k) & 7; };
  if (mode == "rc8") return [](Value z, unsigned) { return two(z); };
  if (mode == "ecl") return [](Value z, unsigned k) { return std::max(k, two(z)); };
  if (mode == "ecr") return [](Value z, unsigned k) { return std::min(k, two(z)); };
  if (mode == "rc16") return [](Value z, unsigned k) { return (two(z) & 1) * 2 + (k & 1); };
  return [](Value z, unsigned k) { return static_cast<unsigned>(z >> (4 * k)) & 15; };
}

Action permute(Decoder& d, const Instruction& i) {
  const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1)),
            b = d.source(i.operands.at(2)), c = d.source(i.operands.at(3));
  const ByteOf selected = byte_of(i.parts.back());
  return [=](Warp& w, Mask m) {
    Value* o = w.reg(out);
    const Value *x = w.reg(a), *y = w.reg(b), *z = w.reg(c);
    for_lanes(m, [&](int l) {
      const Value both = low(x[l], 32) | low(y[l], 32) << 32;
      Value r = 0;
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned select = selected(z[l], k);
        Value byte = both >> (8 * (select & 7)) & 0xff;
        if ((select & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
        r |= byte << (8 * k);
      }
      o[l] = r;
    });
    return Next::step;
  };
}

Action extract(Decoder& d, const Instruction& i) {
  const Type t = type_of(i);
  const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1), t),
            b = d.source(i.operands.at(2)), c = d.source(i.operands.at(3));
  return [=](Warp& w, Mask m) {
    Value* o = w.reg(out);
    const Value *x = w.reg(a), *y = w.reg(b), *z = w.reg(c);
    for_lanes(m, [&](int l) {
      const auto at = static_cast<int>(y[l] & 0xff), length = static_cast<int>(z[l] & 0xff);
      const bool is_signed = t.kind == Type::Kind::signed_;
      Value r = 0;
      const int sign_at = std::min(at + length - 1, t.bits - 1);
      const bool minus = is_signed && length > 0 && (x[l] >> sign_at & 1) != 0;
      for (int k = 0; k < t.bits; ++k) {
        const bool bit = k < length && at + k < t.bits ? (x[l] >> (at + k) & 1) != 0 : minus;
        r |= static_cast<Value>(bit) << k;
      }
      o[l] = r;
    });
    return Next::step;
  };
}

Action insert(Decoder& d, const Instruction& i) {
  const Type t = type_of(i);
  const int out = d.destination(i.operands.at(0)), f = d.source(i.operands.at(1), t),
            a = d.source(i.operands.at(2), t), b = d.source(i.operands.at(3)),
            c = d.source(i.operands.at(4));
  return [=](Warp& w, Mask m) {
    Value* o = w.reg(out);
    const Value *from = w.reg(f), *x = w.reg(a), *y = w.reg(b), *z = w.reg(c);
    for_lanes(m, [&](int l) {
      const auto at = static_cast<int>(y[l] & 0xff), length = static_cast<int>(z[l] & 0xff);
      Value r = x[l];
      for (int k = 0; k < length && at + k < t.bits; ++k)
        r = (r & ~(Value{1} << (at + k))) | (from[l] >> k & 1) << (at + k);
      o[l] = low(r, t.bits);
    });
    return Next::step;
  };
}

Action select(Decoder& d, const Instruction& i) {
  const Type t = type_of(i);
  const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1), t),
            b = d.source(i.operands.at(2), t), p = d.source(i.operands.at(3));
  const bool negated = i.operands[3].negated;
  return [=](Warp& w, Mask m) {
    Value* o = w.reg(out);
    const Value *x = w.reg(a), *y = w.reg(b), *z = w.reg(p);
    for_lanes(m, [&](int l) { o[l] = ((z[l] & 1) != 0) != negated ? x[l] : y[l]; });
    return Next::step;
  };
}

// mov: a register, an address, a special register, or a pack or unpack of a vector.
Action move(Decoder& d, const Instruction& i) {
  const Type t = type_of(i);
  const Operand &to = i.operands.at(0), &from = i.operands.at(1);
  if (from.kind == Operand::Kind::symbol &&
      (from.symbol.starts_with("%clock") || from.symbol.starts_with("%globaltimer"))) {
    const int out = d.destination(to);
    const bool high = from.symbol.ends_with("_hi");
    const int width = t.bits;
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        w.reg(out)[l] = low(high ? w.run->time() >> 32 : w.run->time(), width);
      });
      return Next::yield;
    };
  }
  if (to.kind == Operand::Kind::vector || from.kind == Operand::Kind::vector || t.bits == 128) {
    const auto out = d.destinations(to), in = d.sources(from, t);
    if (t.bits == 128) {  // two slots of 64 bits
      if (out.size() == 1 && in.size() == 1)
        return [o = out[0], a = in[0]](Warp& w, Mask m) {
          for_lanes(m, [&](int l) {
            w.reg(o)[l] = w.reg(a)[l];
            w.reg(o + 1)[l] = w.reg(a + 1)[l];
          });
          return Next::step;
        };
      const bool packs = out.size() == 1;
      if ((packs ? in : out).size() != 2) throw Violation("model.unknown", "b128 packs two b64");
      return [=](Warp& w, Mask m) {
        for_lanes(m, [&](int l) {
          for (int k = 0; k < 2; ++k) {
            const auto at = static_cast<std::size_t>(k);
            if (packs)
              w.reg(out[0] + k)[l] = w.reg(in[at])[l];
            else
              w.reg(out[at])[l] = w.reg(in[0] + k)[l];
          }
        });
        return Next::step;
      };
    }
    const int part = t.bits / static_cast<int>(std::max(out.size(), in.size()));
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        Value whole = 0;
        if (in.size() == 1)
          whole = w.reg(in[0])[l];
        else
          for (std::size_t k = 0; k < in.size(); ++k)
            whole |= low(w.reg(in[k])[l], part) << (part * static_cast<int>(k));
        if (out.size() == 1)
          w.reg(out[0])[l] = whole;
        else
          for (std::size_t k = 0; k < out.size(); ++k)
            w.reg(out[k])[l] = low(whole >> (part * static_cast<int>(k)), part);
      });
      return Next::step;
    };
  }
  const int out = d.destination(to), in = d.source(from, t);
  const bool negated = from.negated;
  return [=](Warp& w, Mask m) {
    Value* o = w.reg(out);
    const Value* x = w.reg(in);
    for_lanes(m, [&](int l) { o[l] = negated ? ~x[l] & 1 : low(x[l], t.bits); });
    return Next::step;
  };
}

Value reverse(Value a, int bits) {
  Value r = 0;
  for (int k = 0; k < bits; ++k) r |= (a >> k & 1) << (bits - 1 - k);
  return r;
}

// bmsk: `count` ones from bit `from` on. PTX ISA 9.0, "bmsk".
Value ones(Value from, Value count) {
  return from >= 32 ? 0 : ((Value{1} << std::min<Value>(count, 32)) - 1) << from;
}

// szext: the low `count` bits, extended by their sign or by zeros. PTX ISA 9.0, "szext".
Value low_bits(Value a, Value count, Type t) {
  if (count >= 32) return a;
  const int bits = static_cast<int>(count);
  if (bits == 0 || t.kind != Type::Kind::signed_) return low(a, bits);
  return static_cast<Value>(extend(low(a, bits), bits));
}

// dp4a, dp2a: the sum of four products of bytes, or of two of halves and bytes. PTX ISA 9.0,
// "dp4a", "dp2a".
Action dot(Decoder& d, const Instruction& i) {
  const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1)),
            b = d.source(i.operands.at(2)), c = d.source(i.operands.at(3));
  const bool four = i.parts[0] == "dp4a", high = i.has("hi");
  const bool signed_a = i.parts.at(i.parts.size() - 2) == "s32", signed_b = i.parts.back() == "s32";
  const int width = four ? 8 : 16, count = four ? 4 : 2, first = high ? 2 : 0;
  const auto piece = [](Value v, int at, int bits, bool is_signed) {
    const Value x = low(v >> (at * bits), bits);
    return is_signed ? extend(x, bits) : static_cast<std::int64_t>(x);
  };
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      auto sum = static_cast<std::int64_t>(w.reg(c)[l]);
      for (int k = 0; k < count; ++k)
        sum += piece(w.reg(a)[l], k, width, signed_a) * piece(w.reg(b)[l], first + k, 8, signed_b);
      w.reg(out)[l] = low(static_cast<Value>(sum), 32);
    });
    return Next::step;
  };
}

// bfind: the highest bit that differs from the sign. PTX ISA 9.0, "bfind".
Action find_bit(Decoder& d, const Instruction& i) {
  const Type t = type_of(i);
  const int out = d.destination(i.operands.at(0)), in = d.source(i.operands.at(1), t);
  const bool amount = i.has("shiftamt");
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Value a = low(w.reg(in)[l], t.bits);
      if (t.kind == Type::Kind::signed_ && extend(a, t.bits) < 0) a = low(~a, t.bits);
      const int at = a == 0 ? -1 : 63 - std::countl_zero(a);
      w.reg(out)[l] = a == 0 ? 0xffffffffu : static_cast<Value>(amount ? t.bits - 1 - at : at);
    });
    return Next::step;
  };
}

}  // namespace

void add_bitwise(Meanings& all) {
  all.add("and", bits([](Value a, Value b, Value, Type) { return a & b; }));
  all.add("or", bits([](Value a, Value b, Value, Type) { return a | b; }));
  all.add("xor", bits([](Value a, Value b, Value, Type) { return a ^ b; }));
  all.add("not", bits([](Value a, Value, Value, Type) { return ~a; }));
  all.add("cnot", bits([](Value a, Value, Value, Type) { return Value{a == 0}; }));
  all.add("shl", bits(shift_left));
  all.add("shr", bits(shift_right));
  all.add("shf", funnel);
  all.add("lop3", lop3);
  all.add("prmt", permute);
  all.add("bfe", extract);
  all.add("bfi", insert);
  all.add("popc", bits([](Value a, Value, Value, Type t) {
            return static_cast<Value>(std::popcount(low(a, t.bits)));
          }));
  all.add("clz", bits([](Value a, Value, Value, Type t) {
            return static_cast<Value>(std::countl_zero(low(a, t.bits)) - (64 - t.bits));
          }));
  all.add("brev", bits([](Value a, Value, Value, Type t) { return reverse(a, t.bits); }));
  all.add("bfind", find_bit);
  all.add("bmsk.clamp", bits([](Value a, Value b, Value, Type) { return ones(a, b); }));
  all.add("bmsk.wrap", bits([](Value a, Value b, Value, Type) { return ones(a & 31, b & 31); }));
  all.add("szext.clamp", bits([](Value a, Value b, Value, Type t) { return low_bits(a, b, t); }));
  all.add("szext.wrap",
          bits([](Value a, Value b, Value, Type t) { return low_bits(a, b & 31, t); }));
  all.add("dp4a", dot);
  all.add("dp2a", dot);
  all.add("mov", move);
  all.add("selp", select);
}

}  // namespace assay::model
