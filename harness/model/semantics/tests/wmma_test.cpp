// SPDX-License-Identifier: Apache-2.0
// wmma as PTX text, compared with plain loops. Elements are small whole numbers, so that every sum
// is exact. PTX ISA 9.0, 9.7.14.4 "Matrix multiply-accumulate operation using wmma instructions".
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

#include "harness/element.hpp"
#include "harness/model/model.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

struct Form {
  std::string type, sum;  // of A and B, of C and D
  int m, n, k;
  int a, b, c;  // registers: 9.7.14.4.1 "Matrix Fragments for WMMA"
  bool a_is_column = false, b_is_column = true, d_is_column = false;
  std::string words = {};  // .satfinite, .xor.popc
};

int bits_of(const std::string& type) {
  for (const auto& [name, bits] : {std::pair{"f64", 64},
                                   {"f32", 32},
                                   {"tf32", 32},
                                   {"s32", 32},
                                   {"f16", 16},
                                   {"bf16", 16},
                                   {"s8", 8},
                                   {"u8", 8},
                                   {"s4", 4},
                                   {"u4", 4},
                                   {"b1", 1}})
    if (type == name) return bits;
  return 0;
}

std::uint64_t packed(const std::string& type, int value) {
  if (type == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (type == "f16") return pack("f16", 16, value) & 0xffff;
  if (type[0] == 's' || type[0] == 'u' || type == "b1")
    return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits_of(type)) - 1);
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return type == "bf16" ? bits >> 16 : bits;
}

double unpacked(const std::string& type, std::uint64_t bits) {
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "f16") return unpack("f16", static_cast<std::uint32_t>(bits));
  if (type == "s32") return static_cast<std::int32_t>(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

// A matrix in memory: lines of `stride` elements.
struct Stored {
  int rows, columns, stride, bits;
  bool is_column;
  std::vector<std::uint8_t> bytes;

  Stored(int rows, int columns, int stride, int bits, bool is_column)
      : rows(rows),
        columns(columns),
        stride(stride),
        bits(bits),
        is_column(is_column),
        bytes(static_cast<std::size_t>((is_column ? columns : rows) * stride * bits / 8)) {}
  int bit_of(int row, int column) const {
    return (is_column ? column * stride + row : row * stride + column) * bits;
  }
  void put(int row, int column, std::uint64_t value) {
    for (int b = 0; b < bits; ++b) {
      const int at = bit_of(row, column) + b;
      if ((value >> b & 1) != 0)
        bytes[static_cast<std::size_t>(at / 8)] |= static_cast<std::uint8_t>(1 << at % 8);
    }
  }
  std::uint64_t get(int row, int column) const {
    std::uint64_t value = 0;
    for (int b = 0; b < bits; ++b) {
      const int at = bit_of(row, column) + b;
      value |= static_cast<std::uint64_t>(bytes[static_cast<std::size_t>(at / 8)] >> at % 8 & 1)
               << b;
    }
    return value;
  }
};

std::string list(const char* name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + (name + std::to_string(i));
  return text + "}";
}

// D = A B + C; `between` stands between the loads and the mma.
std::string text_of(const Form& f, const std::array<int, 3>& strides,
                    const std::string& between = "", const char* mma_layouts = nullptr) {
  const std::string shape =
      ".m" + std::to_string(f.m) + "n" + std::to_string(f.n) + "k" + std::to_string(f.k);
  const auto layout = [](bool column) { return std::string(column ? ".col" : ".row"); };
  const std::string wide = f.type == "f64" ? ".b64" : ".b32";
  const std::string types = f.type == "f16"
                                ? "." + f.sum + "." + f.sum
                                : "." + f.sum + "." + f.type + "." + f.type + "." + f.sum;
  const std::string layouts =
      mma_layouts != nullptr ? mma_layouts : layout(f.a_is_column) + layout(f.b_is_column);
  const std::string popc = f.type == "b1" ? ".xor.popc" : "";
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry one(.param .u64 a, "
         ".param "
         ".u64 b, .param .u64 c, .param .u64 d)\n{\n.reg .b64 %p<4>;\n.reg " +
         wide + " %a<8>, %b<8>, %c<8>;\n" +
         "ld.param.u64 %p0, [a];\nld.param.u64 %p1, [b];\nld.param.u64 %p2, [c];\n"
         "ld.param.u64 %p3, [d];\nwmma.load.a.sync.aligned" +
         layout(f.a_is_column) + shape + ".global." + f.type + " " + list("a", f.a) + ", [%p0], " +
         std::to_string(strides[0]) + ";\nwmma.load.b.sync.aligned" + shape +
         layout(f.b_is_column) + ".global." + f.type + " " + list("b", f.b) + ", [%p1], " +
         std::to_string(strides[1]) + ";\nwmma.load.c.sync.aligned.row" + shape + ".global." +
         f.sum + " " + list("c", f.c) + ", [%p2];\n" + between + "wmma.mma" + popc +
         ".sync.aligned" + layouts + shape + types + f.words + " " + list("c", f.c) + ", " +
         list("a", f.a) + ", " + list("b", f.b) + ", " + list("c", f.c) +
         ";\nwmma.store.d.sync.aligned" + layout(f.d_is_column) + shape + ".global." + f.sum +
         " [%p3], " + list("c", f.c) + ", " + std::to_string(strides[2]) + ";\nret;\n}\n";
}

struct Ran {
  Outcome outcome;
  bool right = true;
};

// `doubled`: what `between` does to C.
Ran run(const Form& f, std::uint64_t seed, const std::string& between = "", int factor = 1,
        const char* mma_layouts = nullptr) {
  const int spare = f.type == "b1" ? 128 : f.type == "s4" || f.type == "u4" ? 64 : 32;
  Stored a(f.m, f.k, (f.a_is_column ? f.m : f.k) + spare, bits_of(f.type), f.a_is_column),
      b(f.k, f.n, (f.b_is_column ? f.k : f.n) + spare, bits_of(f.type), f.b_is_column),
      c(f.m, f.n, f.n, bits_of(f.sum), false),
      d(f.m, f.n, (f.d_is_column ? f.m : f.n) + 32, bits_of(f.sum), f.d_is_column);
  std::mt19937 random(5);
  const int most = f.type == "b1" ? 1 : 3, least = f.type[0] == 'u' || f.type == "b1" ? 0 : -3;
  const auto drawn = [&](int rows, int columns) {
    std::vector<int> values(static_cast<std::size_t>(rows * columns));
    for (int& v : values) v = std::uniform_int_distribution<int>(least, most)(random);
    return values;
  };
  const auto va = drawn(f.m, f.k), vb = drawn(f.k, f.n), vc = drawn(f.m, f.n);
  const auto fill = [](Stored& to, const std::vector<int>& from, const std::string& type) {
    for (int row = 0; row < to.rows; ++row)
      for (int column = 0; column < to.columns; ++column)
        to.put(row, column,
               packed(type, from[static_cast<std::size_t>(row * to.columns + column)]));
  };
  fill(a, va, f.type);
  fill(b, vb, f.type);
  fill(c, vc, f.sum);
  Gpu gpu(text_of(f, {a.stride, b.stride, d.stride}, between, mma_layouts));
  Arguments arguments;
  Address to = 0;
  for (Stored* s : {&a, &b, &c, &d}) {
    to = gpu.allocate("matrix", s->bytes.size());
    gpu.write(to, s->bytes);
    arguments.push(to);
  }
  Ran ran;
  ran.outcome = gpu.launch("one", {.block = {32, 1, 1}}, arguments, {.seed = seed});
  d.bytes = gpu.read<std::uint8_t>(to, d.bytes.size());
  for (int row = 0; row < f.m; ++row)
    for (int column = 0; column < f.n; ++column) {
      int sum = factor * vc[static_cast<std::size_t>(row * f.n + column)];
      for (int k = 0; k < f.k; ++k) {
        const int x = va[static_cast<std::size_t>(row * f.k + k)],
                  y = vb[static_cast<std::size_t>(k * f.n + column)];
        sum += f.type == "b1" ? x ^ y : x * y;
      }
      ran.right &= unpacked(f.sum, d.get(row, column)) == sum;
    }
  return ran;
}

std::string rule_of(const Outcome& outcome) {
  return outcome.findings.empty() ? "" : outcome.findings[0].rule;
}

TEST(Wmma, MultipliesWhatItLoads) {
  for (const Form& f : {Form{"f16", "f32", 16, 16, 16, 8, 8, 8},
                        {"f16", "f16", 16, 16, 16, 8, 8, 4, true, false, true},
                        {"f16", "f32", 8, 32, 16, 8, 8, 8, false, false},
                        {"f16", "f16", 32, 8, 16, 8, 8, 4, true, true},
                        {"bf16", "f32", 16, 16, 16, 4, 4, 8},
                        {"bf16", "f32", 8, 32, 16, 2, 8, 8, true, true},
                        {"bf16", "f32", 32, 8, 16, 8, 2, 8, false, false, true},
                        {"tf32", "f32", 16, 16, 8, 4, 4, 8},
                        {"tf32", "f32", 16, 16, 8, 4, 4, 8, true, false},
                        {"f64", "f64", 8, 8, 4, 1, 1, 2},
                        {"f64", "f64", 8, 8, 4, 1, 1, 2, true, false, true},
                        {"s8", "s32", 16, 16, 16, 2, 2, 8},
                        {"u8", "s32", 8, 32, 16, 1, 4, 8, true, false},
                        {"s8", "s32", 32, 8, 16, 4, 1, 8, false, true, true, ".satfinite"},
                        {"s4", "s32", 8, 8, 32, 1, 1, 2},
                        {"u4", "s32", 8, 8, 32, 1, 1, 2, false, true, true},
                        {"b1", "s32", 8, 8, 128, 1, 1, 2}})
    for (const std::uint64_t seed : {0, 5}) {
      const Ran ran = run(f, seed);
      EXPECT_EQ(rule_of(ran.outcome), "") << f.type << f.m;
      EXPECT_TRUE(ran.right) << f.type << " into " << f.sum << ", M = " << f.m << " seed " << seed;
    }
}

// "mul.f32 x0, x0, 0.1; // repeat for all registers": what is done to all elements alike.
TEST(Wmma, AllElementsAlikeMayBeChanged) {
  std::string twice, once;
  for (int i = 0; i < 8; ++i) {
    const std::string r = "%c" + std::to_string(i);
    twice += "mul.f32 " + r + ", " + r + ", 0f40000000;\n";
    if (i == 0) once = twice;
  }
  const Form f{"f16", "f32", 16, 16, 16, 8, 8, 8};
  EXPECT_TRUE(run(f, 3, twice, 2).right);
  EXPECT_FALSE(run(f, 3, once, 2).right);
}

// The layouts of load and mma must agree: "wmma.mma", .alayout and .blayout.
TEST(Wmma, AnotherLayoutIsAnotherMatrix) {
  EXPECT_FALSE(run({"f16", "f32", 16, 16, 16, 8, 8, 8}, 0, "", 1, ".row.row").right);
}

TEST(Wmma, RefusesWhatTheManualDoes) {
  const auto loading = [](const std::string& words, const std::string& operands) {
    const std::string ptx =
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry one(.param .u64 a)\n{\n"
        ".reg .b64 %p, %o;\n.reg .b32 %a<8>, %t, %s;\nld.param.u64 %p, [a];\nmov.u32 %t, %tid.x;\n"
        "add.u32 %s, %t, 16;\nmul.wide.u32 %o, %t, 32;\nadd.s64 %o, %o, %p;\nwmma.load." +
        words + " " + operands + ";\nret;\n}\n";
    Gpu gpu(ptx);
    Arguments arguments;
    const Address at = gpu.allocate("a", 8192);
    gpu.write(at, std::vector<std::uint8_t>(8192));
    arguments.push(at);
    try {
      return rule_of(gpu.launch("one", {.block = {32, 1, 1}}, arguments));
    } catch (const Violation& v) {
      return v.rule();
    }
  };
  const std::string a = "a.sync.aligned.row.m16n16k16.global.f16", all = list("a", 8);
  EXPECT_EQ(loading(a, all + ", [%p], 32"), "");
  EXPECT_EQ(loading(a, all + ", [%p+16], 32"), "memory.alignment");
  EXPECT_EQ(loading(a, all + ", [%p], 24"), "memory.alignment");
  EXPECT_EQ(loading(a, all + ", [%p], 8"), "matrix.operands");
  EXPECT_EQ(loading(a, all + ", [%p], %s"), "matrix.operands");
  EXPECT_EQ(loading(a, all + ", [%o], 32"), "matrix.operands");
  EXPECT_EQ(loading(a, all + ", [%p], 1024"), "memory.global_bounds");
  EXPECT_EQ(loading(a, list("a", 4) + ", [%p]"), "matrix.registers");
  EXPECT_EQ(loading("a.sync.aligned.row.m16n16k8.global.f16", all + ", [%p]"), "matrix.form");
  EXPECT_EQ(loading("a.sync.aligned.col.m8n8k32.global.s4", "{%a0}, [%p]"), "matrix.form");
}

}  // namespace
}  // namespace assay::model
