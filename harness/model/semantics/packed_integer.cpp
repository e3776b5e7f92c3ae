// SPDX-License-Identifier: Apache-2.0
// Integers packed in a register. PTX ISA 9.0, 9.7.9.22 "cvt.pack", and of 9.7.18 "Video
// Instructions" the SIMD ones: vadd, vsub, vabsdiff, vmin, vmax of two and of four.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/number.hpp"

namespace assay::model {
namespace {

std::int64_t clamped(std::int64_t value, int bits, bool is_signed) {
  const std::int64_t most = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(value, is_signed ? -most - 1 : 0, most);
}

std::vector<int> words_of(Decoder& d, const Instruction& i) {
  std::vector<int> slots;
  for (std::size_t k = 1; k < i.operands.size(); ++k)
    slots.push_back(d.source(i.operands[k], {Type::Kind::bits, 32}));
  return slots;
}

// cvt.pack.sat.to.s32[.b32] d, a, b[, c]: a above b, both clamped; narrower than 16 bits above them
// what c has in its lower bits.
Action pack(Decoder& d, const Instruction& i) {
  const std::string_view to = i.parts.at(3);
  const bool is_signed = to[0] == 's';
  const int width = to.ends_with("16") ? 16 : to.back() - '0';
  const int out = d.destination(i.operands.at(0));
  const std::vector<int> in = words_of(d, i);
  if (!i.has("sat") || i.parts.at(4) != "s32" ||
      (width != 16 && width != 8 && width != 4 && width != 2) ||
      in.size() != (width == 16 ? 2u : 3u))
    throw Violation("model.unknown", "this form of cvt.pack is not modelled");
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      const auto cut = [&](int slot) {
        return low(static_cast<Value>(clamped(extend(w.reg(slot)[l], 32), width, is_signed)),
                   width);
      };
      const Value above = in.size() > 2 ? w.reg(in[2])[l] << 2 * width : 0;
      w.reg(out)[l] = low(above | cut(in[0]) << width | cut(in[1]), 32);
    });
    return Next::step;
  };
}

using Combine = std::int64_t (*)(std::int64_t a, std::int64_t b);

// vop2 and vop4.dtype.atype.btype[.sat][.add] d, a, b, c: each part for itself; .add sums them all,
// with c. Without .add the manual's default mask takes all parts, and c gives nothing.
Meaning of_parts(int count, Combine combine) {
  return [=](Decoder& d, const Instruction& i) -> Action {
    std::array<bool, 3> is_signed{};  // of d, a, b
    for (std::size_t k = 0; k < 3; ++k) {
      if (i.parts.at(k + 1) != "u32" && i.parts[k + 1] != "s32")
        throw Violation("model.unknown", "a video instruction has the types u32 and s32");
      is_signed[k] = i.parts[k + 1] == "s32";
    }
    const bool sat = i.has("sat"), sum = i.has("add");
    const int out = d.destination(i.operands.at(0)), width = 32 / count;
    const std::vector<int> in = words_of(d, i);
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        const auto part = [&](int slot, int k, bool with_sign) {
          const Value bits = low(w.reg(slot)[l] >> k * width, width);
          return with_sign ? extend(bits, width) : static_cast<std::int64_t>(bits);
        };
        Value result = sum ? w.reg(in.at(2))[l] : 0;
        for (int k = 0; k < count; ++k) {
          std::int64_t t = combine(part(in[0], k, is_signed[1]), part(in[1], k, is_signed[2]));
          if (sat) t = clamped(t, width, is_signed[0]);
          if (sum)
            result += static_cast<Value>(t);
          else
            result |= low(static_cast<Value>(t), width) << k * width;
        }
        w.reg(out)[l] = low(result, 32);
      });
      return Next::step;
    };
  };
}

}  // namespace

void add_packed_integers(Meanings& all) {
  all.add("cvt.pack", pack);
  for (const int count : {2, 4}) {
    const std::string n = std::to_string(count);
    using Int = std::int64_t;
    all.add("vadd" + n, of_parts(count, [](Int a, Int b) { return a + b; }));
    all.add("vsub" + n, of_parts(count, [](Int a, Int b) { return a - b; }));
    all.add("vabsdiff" + n, of_parts(count, [](Int a, Int b) { return std::abs(a - b); }));
    all.add("vmin" + n, of_parts(count, [](Int a, Int b) { return std::min(a, b); }));
    all.add("vmax" + n, of_parts(count, [](Int a, Int b) { return std::max(a, b); }));
  }
}

}  // namespace assay::model
