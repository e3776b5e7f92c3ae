// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics. PTX ISA 9.0, "ld", "st", "atom", "red", "Memory Consistency Model".
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/number.hpp"

namespace assay::model {
namespace {

const std::set<std::string, std::less<>> kIgnored = {
    "weak",    "nc",      "ca",      "cg",       "cs",   "lu",  "cv",      "wb",  "wt",  "relaxed",
    "acquire", "release", "acq_rel", "volatile", "mmio", "cta", "cluster", "gpu", "sys", "unified"};

struct MemoryForm {
  Space space = Space::generic;
  Number type;
  int vector = 1;
  Scope strong = Scope::none;
  bool acquire = false, release = false;
};

MemoryForm form_of(const Instruction& i) {
  MemoryForm f;
  bool typed = false;
  // .volatile and .mmio have the widest scope; so has an atomic that names none.
  const Scope scope = i.has("cta") ? Scope::cta : i.has("cluster") ? Scope::cluster : Scope::gpu;
  if (i.parts[0] == "atom" || i.parts[0] == "red") f.strong = scope;
  for (std::size_t k = 1; k < i.parts.size(); ++k) {
    const std::string& p = i.parts[k];
    if (p == "global")
      f.space = Space::global;
    else if (p == "shared" || p == "shared::cta" || p == "shared::cluster")
      f.space = Space::shared;
    else if (p == "local" || p == "param::func")
      f.space = Space::local;
    else if (p == "param" || p == "param::entry")
      f.space = Space::parameter;
    else if (p == "const")
      f.space = Space::constant;
    else if (p == "v2" || p == "v4" || p == "v8")
      f.vector = p[1] - '0';
    else if (p.starts_with("L1::") || p.starts_with("L2::") || p.starts_with("level::"))
      continue;
    else if (kIgnored.contains(p)) {
      if (p == "relaxed" || p == "volatile" || p == "mmio") f.strong = scope;
      if (p == "acquire" || p == "release" || p == "acq_rel") f.strong = scope;
      f.acquire |= p == "acquire" || p == "acq_rel";
      f.release |= p == "release" || p == "acq_rel";
    } else if (parse_number(p, f.type)) {
      typed = true;
    } else if (i.parts[0] == "ld" || i.parts[0] == "st") {
      unknown_part(i, p);
    }
  }
  if (!typed) throw Violation("model.unknown", "the instruction names no type");
  return f;
}

Lane& lane_of(Warp& w, int l) { return w.lanes[static_cast<std::size_t>(l)]; }

// The flag's identity for acquire and release: where its byte lies on the host.
Address flag_of(const Where& where) { return reinterpret_cast<Address>(where.bytes); }

// After a strong read: what writers released there, if its scope and theirs take in both threads.
// PTX ISA 9.0, "Memory Consistency Model: Morally strong operations, Synchronizes".
void observe(Warp& w, int l, const Where& where, const MemoryForm& f) {
  const auto flag = w.run->flags().find(flag_of(where));
  if (flag == w.run->flags().end()) return;
  Lane& lane = lane_of(w, l);
  for (const Flag::Release& r : flag->second.releases) {
    const Scope needed = distance(*w.cta, *r.cta);
    if (std::min(r.scope, f.strong) < needed) {
      lane.knows.narrow.join(r.knows.all);
    } else if (f.acquire) {
      lane.knows.join(r.knows);
    } else {
      lane.observed[static_cast<std::size_t>(needed) - 1].join(r.knows);
      lane.has_observed = true;
    }
  }
}

// With a strong write: what this lane releases.
void announce(Warp& w, int l, const Where& where, const MemoryForm& f) {
  Lane& lane = lane_of(w, l);
  if (f.release) {
    w.run->release(w, l, w.run->flags()[flag_of(where)].of(f.strong, w.cta));
  } else if (lane.fenced.any()) {
    Flag& flag = w.run->flags()[flag_of(where)];
    for (std::size_t s = 0; s < kScopes; ++s)
      flag.of(std::min(static_cast<Scope>(s + 1), f.strong), w.cta).join(lane.fenced[s]);
  }
}

Action load(Decoder& d, const Instruction& i) {
  const MemoryForm f = form_of(i);
  const auto out = d.destinations(i.operands.at(0));
  const AddressOperand at = d.address(i.operands.at(1));
  const auto bytes = static_cast<std::size_t>(f.type.bits / 8);
  const bool is_signed = f.type.kind == Number::Kind::signed_, non_coherent = i.has("nc");
  // .param of calls lies in local memory; of the kernel, among the launch's arguments.
  const bool of_kernel =
      f.space == Space::parameter &&
      (i.operands[1].slot >= 0 || d.program().parameters.contains(i.operands[1].symbol));
  const Space space = f.space == Space::parameter  ? (of_kernel ? Space::global : Space::local)
                      : f.space == Space::constant ? Space::global
                                                   : f.space;
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      const Address address = address_at(w, at, l);
      std::array<std::uint8_t, 64> data{};
      const std::size_t all = bytes * out.size();
      if (f.strong != Scope::none) {
        const Where where = w.run->resolve(w, l, space, address, all, all);
        observe(w, l, where, f);
      }
      if (non_coherent)
        w.run->check_non_coherent(w.run->resolve(w, l, space, address, all, all), all,
                                  w.run->actor(w, l));
      w.run->load(w, l, space, address, data.data(), all, f.strong);
      for (std::size_t k = 0; k < out.size(); ++k) {
        Value v = 0;
        std::memcpy(&v, data.data() + k * bytes, std::min<std::size_t>(bytes, 8));
        if (bytes == 16) std::memcpy(&w.reg(out[k] + 1)[l], data.data() + k * 16 + 8, 8);
        w.reg(out[k])[l] = is_signed ? static_cast<Value>(extend(v, f.type.bits)) : v;
      }
    });
    if (f.strong != Scope::none && w.live != 0) return Next::yield;
    return Next::step;
  };
}

Action store(Decoder& d, const Instruction& i) {
  const MemoryForm f = form_of(i);
  const AddressOperand at = d.address(i.operands.at(0));
  const auto in = d.sources(
      i.operands.at(1), {f.type.floating() ? Type::Kind::floating : Type::Kind::bits, f.type.bits});
  const auto bytes = static_cast<std::size_t>(f.type.bits / 8);
  const Space space = f.space == Space::parameter ? Space::local : f.space;
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      std::array<std::uint8_t, 64> data{};
      const std::size_t all = bytes * in.size();
      for (std::size_t k = 0; k < in.size(); ++k) {
        std::memcpy(data.data() + k * bytes, &w.reg(in[k])[l], std::min<std::size_t>(bytes, 8));
        if (bytes == 16) std::memcpy(data.data() + k * 16 + 8, &w.reg(in[k] + 1)[l], 8);
      }
      const Address address = address_at(w, at, l);
      if (f.strong != Scope::none) {
        const Where where = w.run->resolve(w, l, space, address, all, all);
        announce(w, l, where, f);
      }
      w.run->store(w, l, space, address, data.data(), all, f.strong);
    });
    return Next::step;
  };
}

// --- atom and red ---

using Combine = std::function<Value(Value old, Value b, Value c)>;

// `flushes`: subnormal numbers of f32 are zeros, as atom.add has them in global memory alone. PTX
// ISA 9.0, "atom": "subnormal inputs and results flushed to sign-preserving zero".
Combine combination(const Instruction& i, const Number& n, bool flushes) {
  const auto real = [=](auto f) -> Combine {
    return [=](Value old, Value b, Value) {
      const auto flushed = [&](float x) {
        return flushes && std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
      };
      Value r = 0;
      for (int k = 0; k < n.count; ++k) {
        const int at = k * n.bits;
        if (n.bits == 32) {
          const float sum = f(flushed(as_float(old >> at)), flushed(as_float(b >> at)));
          r |= (std::isnan(sum) ? Value{0x7fffffff} : Value{bits_of(flushed(sum))}) << at;
        } else {
          r |= low(from_double(n, f(to_double(n, low(old >> at, n.bits)),
                                    to_double(n, low(b >> at, n.bits)))),
                   n.bits)
               << at;
        }
      }
      return r;
    };
  };
  const auto wide = [n](Value v) {
    return n.kind == Number::Kind::signed_ ? static_cast<__int128>(extend(v, n.bits))
                                           : static_cast<__int128>(low(v, n.bits));
  };
  for (const std::string& p : i.parts) {
    if (p == "add") {
      if (n.floating()) return real([](auto a, auto b) { return a + b; });
      return [](Value a, Value b, Value) { return a + b; };
    }
    if (p == "min" || p == "max") {
      const bool max = p == "max";
      if (n.floating()) return real([max](auto a, auto b) { return least_or_most(a, b, max); });
      return [=](Value a, Value b, Value) { return (wide(a) < wide(b)) != max ? a : b; };
    }
    if (p == "and") return [](Value a, Value b, Value) { return a & b; };
    if (p == "or") return [](Value a, Value b, Value) { return a | b; };
    if (p == "xor") return [](Value a, Value b, Value) { return a ^ b; };
    if (p == "exch") return [](Value, Value b, Value) { return b; };
    if (p == "cas") return [](Value a, Value b, Value c) { return a == b ? c : a; };
    if (p == "inc") return [](Value a, Value b, Value) { return a >= b ? 0 : a + 1; };
    if (p == "dec") return [](Value a, Value b, Value) { return a == 0 || a > b ? b : a - 1; };
  }
  throw Violation("model.unknown", "the model does not know this operation");
}

// atom.exch.b128 and atom.cas.b128, whose registers are two of 64 bits each. PTX ISA 9.0, "atom".
Action wide_atomic(Decoder& d, const Instruction& i, const MemoryForm& f) {
  using Wide = std::array<Value, 2>;
  const bool cas = i.has("cas");
  if ((!cas && !i.has("exch")) || i.parts[0] != "atom")
    throw Violation("model.unknown", "128 bits are exchanged, or compared and swapped");
  const Type type{Type::Kind::bits, 128};
  const int out =
      i.operands.at(0).kind == Operand::Kind::discard ? -1 : d.destination(i.operands.at(0));
  const AddressOperand at = d.address(i.operands.at(1));
  const int second = d.source(i.operands.at(2), type),
            third = cas ? d.source(i.operands.at(3), type) : -1;
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      const Where where = run.resolve(w, l, f.space, address_at(w, at, l), 16, 16);
      observe(w, l, where, f);
      announce(w, l, where, f);
      const Actor actor = run.actor(w, l, f.strong);
      run.check_read(where, 16, actor);
      run.check_write(where, 16, actor);
      const auto of = [&](int slot) { return Wide{w.reg(slot)[l], w.reg(slot + 1)[l]}; };
      Wide old{};
      std::memcpy(old.data(), where.bytes, 16);
      const Wide made = !cas ? of(second) : old == of(second) ? of(third) : old;
      std::memcpy(where.bytes, made.data(), 16);
      if (out >= 0) w.reg(out)[l] = old[0], w.reg(out + 1)[l] = old[1];
      run.changed();
    });
    return Next::yield;
  };
}

Meaning atomics(bool returns) {
  return [returns](Decoder& d, const Instruction& i) -> Action {
    const MemoryForm f = form_of(i);
    if (f.type.bits == 128) return wide_atomic(d, i, f);
    const Combine in_shared = combination(i, f.type, false),
                  in_global = combination(i, f.type, true);
    const std::size_t first = returns ? 1 : 0;
    const int bits = f.type.bits * f.type.count;
    const Type type{f.type.floating() ? Type::Kind::floating : Type::Kind::bits, bits};
    const auto out = returns ? d.destinations(i.operands.at(0)) : std::vector<int>{};
    const AddressOperand at = d.address(i.operands.at(first));
    const auto in = d.sources(i.operands.at(first + 1), type);
    const bool cas = i.has("cas");
    const int third = cas ? d.source(i.operands.at(first + 2), type) : d.constant(0);
    const auto bytes = static_cast<std::size_t>(bits / 8);
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        Run& run = *w.run;
        const Address address = address_at(w, at, l);
        run.lane_now = l;
        const Where where =
            run.resolve(w, l, f.space, address, bytes * in.size(), bytes * in.size());
        observe(w, l, where, f);
        announce(w, l, where, f);
        const Combine& combine = where.shared ? in_shared : in_global;
        const Actor actor = run.actor(w, l, f.strong);
        run.check_read(where, bytes * in.size(), actor);
        run.check_write(where, bytes * in.size(), actor);
        for (std::size_t k = 0; k < in.size(); ++k) {
          Value old = 0;
          std::memcpy(&old, where.bytes + k * bytes, bytes);
          const Value made =
              low(combine(old, low(w.reg(in[k])[l], bits), low(w.reg(third)[l], bits)), bits);
          std::memcpy(where.bytes + k * bytes, &made, bytes);
          if (returns) w.reg(out[k])[l] = old;
        }
        run.changed();
      });
      return returns ? Next::yield : Next::step;
    };
  };
}

}  // namespace

void add_memory(Meanings& all) {
  all.add("ld", load);
  all.add("ldu", load);
  all.add("st", store);
}

void add_atomics(Meanings& all) {
  all.add("atom", atomics(true));
  all.add("red", atomics(false));
}

}  // namespace assay::model
