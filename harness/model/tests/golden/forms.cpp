// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tests/golden/forms.hpp"

#include <algorithm>

namespace assay::model::golden {
namespace {

constexpr int kInputs = 12;  // words of a thread
constexpr int kCases = 24;

// A finite number near 1, or one of the values that go wrong.
std::uint32_t number(Random& random, int exponent_bits, int fraction_bits) {
  const int bits = 1 + exponent_bits + fraction_bits;
  const auto any = static_cast<std::uint32_t>(random.next());
  const std::uint32_t mask = bits == 32 ? 0xffffffffu : (1u << bits) - 1;
  if (random.below(16) == 0) return any & mask;  // any bits
  const std::uint32_t bias = (1u << (exponent_bits - 1)) - 1;
  if (random.below(24) == 0) {
    const std::uint32_t top = ((1u << exponent_bits) - 1) << fraction_bits;
    const std::uint32_t special[] = {0, 1u << (bits - 1),    top,    top | 1u << (bits - 1),
                                     1, 1u << fraction_bits, top - 1};
    return special[random.below(7)];
  }
  const std::uint32_t spread = exponent_bits > 4 ? 6 : 2;
  const auto exponent = static_cast<std::uint32_t>(bias - spread + random.below(2 * spread + 1));
  return ((any & 1) << (bits - 1) | exponent << fraction_bits |
          (any >> 8 & ((1u << fraction_bits) - 1))) &
         mask;
}

// A value that goes wrong more often than not: NaNs of all kinds, infinities, zeros, subnormal
// numbers, the largest ones, those about the ends of integers' ranges, halves, and others near 1.
std::uint64_t special(Random& random, int exponent_bits, int fraction_bits) {
  const std::uint64_t any = random.next(), bias = (1u << (exponent_bits - 1)) - 1;
  const std::uint64_t fractions = (std::uint64_t{1} << fraction_bits) - 1;
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  const auto power = [&](std::uint64_t exponent) { return (bias + exponent) << fraction_bits; };
  std::uint64_t magnitude = 0;
  switch (random.below(10)) {
    case 0:  // NaNs, quiet or not
      magnitude = infinity | (any & fractions) | 1;
      break;
    case 1:
      magnitude = random.below(2) == 0 ? 0 : infinity;
      break;
    case 2:  // subnormal numbers
      magnitude = random.below(3) == 0 ? 1 : any & fractions;
      break;
    case 3:  // the largest number, the least normal one
      magnitude = random.below(2) == 0 ? infinity - 1 : std::uint64_t{1} << fraction_bits;
      break;
    case 4:
    case 5:
    case 6: {  // powers of two, and the numbers beside them
      const std::uint64_t ends[] = {6, 7, 8, 14, 15, 16, 30, 31, 32, 62, 63, 64};
      magnitude = std::min(power(ends[random.below(12)]), infinity - 1) + random.below(3) - 1;
      break;
    }
    case 7: {  // an integer and a half
      const auto exponent = random.below(std::min(fraction_bits, 12));
      magnitude = power(exponent) | (any & fractions & ~(fractions >> (exponent + 1)));
      break;
    }
    default:
      magnitude = power(random.below(5) - 2) | (any & fractions);
  }
  return magnitude | random.below(2) << (exponent_bits + fraction_bits);
}

}  // namespace

std::uint32_t draw(Random& random, Draw kind) {
  switch (kind) {
    case Draw::bits:
      // Small numbers, ends of ranges and any bits.
      switch (random.below(6)) {
        case 0:
          return static_cast<std::uint32_t>(random.below(64));
        case 1:
          return static_cast<std::uint32_t>(0 - random.below(64));
        case 2:
          return static_cast<std::uint32_t>(0x80000000u + random.below(5) - 2);
        default:
          return static_cast<std::uint32_t>(random.next());
      }
    case Draw::small:
      return static_cast<std::uint32_t>(random.below(40));
    case Draw::f32:
      return number(random, 8, 23);
    case Draw::f64:
      return static_cast<std::uint32_t>(random.next());
    case Draw::f16:
      return number(random, 5, 10) | number(random, 5, 10) << 16;
    case Draw::bf16:
      return number(random, 8, 7) | number(random, 8, 7) << 16;
    case Draw::special_f32:
      return static_cast<std::uint32_t>(special(random, 8, 23));
    case Draw::special_f64:  // a half of one: thread_form() draws them whole
      return static_cast<std::uint32_t>(random.next());
    case Draw::special_f16:
      return static_cast<std::uint32_t>(special(random, 5, 10) | special(random, 5, 10) << 16);
    case Draw::special_bf16:
      return static_cast<std::uint32_t>(special(random, 8, 7) | special(random, 8, 7) << 16);
    case Draw::e4m3:
    case Draw::e5m2: {
      std::uint32_t word = 0;
      for (int k = 0; k < 4; ++k)
        word |= (kind == Draw::e4m3 ? number(random, 4, 3) : number(random, 5, 2)) << (8 * k);
      return word;
    }
  }
  return 0;
}

Form thread_form(const std::string& name, const std::string& body, int outputs,
                 std::vector<Draw> kinds, const std::string& declarations) {
  Form f;
  f.name = name;
  f.cases = kCases;
  f.output_bytes = outputs * 32 * 4;
  std::string p =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry form(.param .u64 in, .param "
      ".u64 out)\n{\n"
      ".reg .b64 %in, %out, %off;\n.reg .b32 %t, %c, %i;\n.reg .b32 %a<12>;\n.reg .b64 "
      "%q<6>;\n.reg .b32 %o<8>;\n" +
      declarations +
      "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmov.u32 %c, "
      "%ctaid.x;\n"
      "mad.lo.u32 %i, %c, 32, %t;\n"
      "mul.wide.u32 %off, %i, 48;\nadd.s64 %in, %in, %off;\n";
  for (int k = 0; k < kInputs; k += 4)
    p += "ld.global.v4.u32 {%a" + std::to_string(k) + ", %a" + std::to_string(k + 1) + ", %a" +
         std::to_string(k + 2) + ", %a" + std::to_string(k + 3) + "}, [%in+" +
         std::to_string(4 * k) + "];\n";
  for (int k = 0; k < kInputs / 2; ++k)
    p += "mov.b64 %q" + std::to_string(k) + ", {%a" + std::to_string(2 * k) + ", %a" +
         std::to_string(2 * k + 1) + "};\n";
  for (int k = 0; k < outputs; ++k) p += "mov.b32 %o" + std::to_string(k) + ", 0;\n";
  p += "{\n" + body + "\n}\n";
  p += "mul.wide.u32 %off, %i, " + std::to_string(4 * outputs) + ";\nadd.s64 %out, %out, %off;\n";
  for (int k = 0; k < outputs; ++k)
    p += "st.global.u32 [%out+" + std::to_string(4 * k) + "], %o" + std::to_string(k) + ";\n";
  f.ptx = p + "ret;\n}\n";
  Random random(name);
  f.input.resize(static_cast<std::size_t>(kCases) * 32 * kInputs * 4);
  std::uint64_t whole = 0;
  for (std::size_t at = 0; at < f.input.size(); at += 4) {
    const Draw kind = kinds[std::min(at / 4 % kInputs, kinds.size() - 1)];
    std::uint32_t word = 0;
    if (kind == Draw::special_f64) {
      if (at % 8 == 0) whole = special(random, 11, 52);
      word = static_cast<std::uint32_t>(at % 8 == 0 ? whole : whole >> 32);
    } else {
      word = draw(random, kind);
    }
    if (kind == Draw::f64 && at % 8 == 4)  // the upper half of a number near 1
      word = (word & 0x800fffffu) | static_cast<std::uint32_t>(1017 + random.below(12)) << 20;
    for (std::size_t k = 0; k < 4; ++k)
      f.input[at + k] = static_cast<std::uint8_t>(word >> (8 * k));
  }
  return f;
}

// Of tf32 one of two elements, 0b0100 or 0b1110, of other types also two of four that a pair of
// bits each chooses, 0b1x0y.
std::string metadata(const std::string& type, const std::string& from, const std::string& to,
                     const std::string& x, const std::string& y) {
  std::string text = "mul.lo.u32 " + x + ", " + from + ", 2654435761;\nshr.u32 " + y + ", " + x +
                     ", 15;\nxor.b32 " + x + ", " + x + ", " + y + ";\nmul.lo.u32 " + x + ", " + x +
                     ", 2246822519;\nshr.u32 " + y + ", " + x + ", 13;\nxor.b32 " + x + ", " + x +
                     ", " + y + ";\nand.b32 " + to + ", " + x + ", 0x11111111;\nmul.lo.u32 " + to +
                     ", " + to + ", 10;\nxor.b32 " + to + ", " + to + ", 0x44444444;\n";
  if (type == "tf32") return text;
  return text + "shr.u32 " + y + ", " + x + ", 1;\nand.b32 " + y + ", " + y +
         ", 0x11111111;\nmul.lo.u32 " + y + ", " + y + ", 15;\nand.b32 " + to + ", " + to + ", " +
         y + ";\nnot.b32 " + y + ", " + y + ";\nshr.u32 " + x + ", " + x + ", 2;\nand.b32 " + x +
         ", " + x + ", 0x55555555;\nor.b32 " + x + ", " + x + ", 0x88888888;\nand.b32 " + x + ", " +
         x + ", " + y + ";\nor.b32 " + to + ", " + to + ", " + x + ";\n";
}

std::vector<Form> all_forms() {
  std::vector<Form> all;
  for (auto make :
       {integer_forms,     floating_forms,    conversion_forms,  warp_forms,     matrix_forms,
        wgmma_forms,       load_forms,        store_forms,       atomic_forms,   comparison_forms,
        bit_forms,         approximate_forms, async_forms,       together_forms, tensor_map_forms,
        more_tensor_forms, wmma_forms,        more_matrix_forms, measured_forms, special_forms})
    for (Form& f : make()) all.push_back(std::move(f));
  return all;
}

}  // namespace assay::model::golden
