// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/element_type.hpp"

#include <array>
#include <bit>
#include <string>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

struct Row {
  const char* name;
  int bits;
};
// In the order of Type.
constexpr std::array kRows = {
    Row{"f16", 16}, Row{"bf16", 16}, Row{"tf32", 32}, Row{"f32", 32},
    Row{"f64", 64}, Row{"e4m3", 8},  Row{"e5m2", 8},  Row{"e2m3", 6},
    Row{"e3m2", 6}, Row{"e2m1", 4},  Row{"s8", 8},    Row{"u8", 8},
    Row{"s4", 4},   Row{"u4", 4},    Row{"b1", 1},    Row{"s32", 32},
};

const Row& row(Type type) { return kRows[static_cast<std::size_t>(type)]; }

// Of all patterns of a type of eight bits or less, that a multiplication need not decode them.
using Values = std::array<double, 256>;
const Values& small_values(Type type) {
  constexpr auto kFirst = static_cast<std::size_t>(Type::e4m3);
  static const std::array tables = [] {
    std::array<Values, static_cast<std::size_t>(Type::e2m1) - kFirst + 1> all{};
    for (std::size_t at = 0; at < all.size(); ++at) {
      const numerics::FloatFormat format = numerics::float_format(kRows[kFirst + at].name);
      for (numerics::Bits bits = 0; bits < 2 * format.sign_bit(); ++bits)
        all[at][bits] = numerics::value(format, bits);
    }
    return all;
  }();
  return tables[static_cast<std::size_t>(type) - kFirst];
}

}  // namespace

const char* name(Type type) { return row(type).name; }

std::optional<Type> find_type(std::string_view name) {
  for (std::size_t at = 0; at < kRows.size(); ++at)
    if (kRows[at].name == name) return static_cast<Type>(at);
  return std::nullopt;
}

int bits_of(Type type) { return row(type).bits; }

bool is_integer(Type type) { return type >= Type::s8; }

bool is_signed(Type type) { return type == Type::s8 || type == Type::s4 || type == Type::s32; }

const numerics::FloatFormat& format_of(Type type) {
  static const std::array formats = [] {
    std::array<numerics::FloatFormat, static_cast<std::size_t>(Type::e2m1) + 1> all;
    for (std::size_t at = 0; at < all.size(); ++at)
      if (static_cast<Type>(at) != Type::f64) all[at] = numerics::float_format(kRows[at].name);
    return all;
  }();
  if (is_integer(type) || type == Type::f64)
    throw Violation("matrix.type", std::string(name(type)) + " has no floating-point format here");
  return formats[static_cast<std::size_t>(type)];
}

double value_of(Type type, Word element) {
  switch (type) {
    case Type::f32:
      return std::bit_cast<float>(element);
    case Type::tf32:  // its low bits are not looked at
      return std::bit_cast<float>(element & ~Word{0x1fff});
    case Type::bf16:
      return std::bit_cast<float>(element << 16);
    case Type::e4m3:
    case Type::e5m2:
    case Type::e2m3:
    case Type::e3m2:
    case Type::e2m1:
      return small_values(type)[element & ((1u << bits_of(type)) - 1)];
    default:
      break;
  }
  if (!is_integer(type)) return numerics::value(format_of(type), element);
  const int bits = bits_of(type);
  if (bits == 32) return static_cast<std::int32_t>(element);
  const int value = static_cast<int>(element & ((Word{1} << bits) - 1));
  return is_signed(type) && value >> (bits - 1) ? value - (1 << bits) : value;
}

}  // namespace assay::model::matrix
