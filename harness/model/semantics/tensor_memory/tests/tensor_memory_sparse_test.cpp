// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma.sp and .ashift. Model, not silicon: expectations are the manual's (PTX ISA 9.0,
// 9.7.16.10.8 "Sparse Matrices", 9.7.16.10.9.1 "tcgen05.mma", 9.7.16.10.9.2 "tcgen05.mma.sp").
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "harness/model/semantics/tensor_memory/tests/tensor_memory_kernel.hpp"
#include "harness/model/tensor_memory/metadata.hpp"

namespace assay::model {
namespace {

using ptx::tcgen05::Accumulator;
using ptx::tcgen05::Element;
using ptx::tcgen05::Instruction;
using ptx::tcgen05::instruction_descriptor;
using ptx::tcgen05::Kind;

void replace(std::string& text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
}

// Each thread stores two words of `in`, from 5120 on, into its lane's columns 32 and 33: metadata.
constexpr int kMetadata = 5120;
std::string sparse(const std::string& kind, std::uint32_t instruction) {
  std::string work = multiply(kind, instruction);
  replace(work, "tcgen05.mma.", "tcgen05.mma.sp.");
  replace(work, "%y, %r3, %p;", "%y, [%r8], %r3, %p;");
  return R"(
  mad.wide.u32 %x, %tid, 4, %in;
  ld.global.b32 %w0, [%x+5120];
  ld.global.b32 %w1, [%x+5632];
  add.u32 %r7, %lanes, 32;
  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r7], {%w0, %w1};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  add.u32 %r8, %t, 32;
)" + by_one(work);
}

void put(std::vector<std::uint8_t>& to, int at, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to[static_cast<std::size_t>(at + i)] |= static_cast<std::uint8_t>(value >> (8 * i));
}

struct SparseKind {
  const char* name;
  Instruction instruction;
  MetadataWidth width;
  int bytes;  // of an element
};

// Whole numbers, as each kind spells them.
std::uint32_t code(const SparseKind& kind, int value) {
  if (kind.instruction.kind == Kind::i8) return static_cast<std::uint32_t>(value) & 0xff;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return kind.instruction.kind == Kind::f16 ? bits >> 16 : bits;
}

Instruction described(Kind kind, Element element, Accumulator d, int m = 128, int selector = 0) {
  return {.kind = kind,
          .a = element,
          .b = element,
          .m = m,
          .n = 8,
          .sparse = true,
          .sparsity_selector = selector,
          .d = d};
}

// A stored element counts where the nibble of its group says: two of four, of tf32 one of two.
TEST(TensorMemoryModel, MultipliesASparseA) {
  std::mt19937 random(7);
  for (const SparseKind& kind :
       {SparseKind{"f16", described(Kind::f16, Element::bf16, Accumulator::f32), MetadataWidth::f16,
                   2},
        {"f16", described(Kind::f16, Element::bf16, Accumulator::f32, 128, 1), MetadataWidth::f16,
         2},
        {"tf32", described(Kind::tf32, Element::tf32, Accumulator::f32), MetadataWidth::tf32, 4},
        {"i8", described(Kind::i8, Element::s8, Accumulator::s32), MetadataWidth::bits8, 1}}) {
    const int stored = 32 / kind.bytes, k = 2 * stored;
    const bool halves = kind.width == MetadataWidth::tf32;
    const int group = halves ? 2 : 4;
    std::vector<std::uint8_t> in(8192);
    std::vector<int> a(static_cast<std::size_t>(128 * k)), b(static_cast<std::size_t>(8 * k));
    for (int row = 0; row < 128; ++row)
      for (int g = 0; g < k / group; ++g) {
        constexpr std::uint32_t kPairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110};
        const std::uint32_t nibble =
            halves ? (random() % 2 ? 0b0100 : 0b1110) : kPairs[random() % 7];
        for (int i = 0; i < group / 2; ++i) {
          const int value = static_cast<int>(random() % 9) - 4;
          const int index = halves ? static_cast<int>(nibble >> 3) : nibble >> (2 * i) & 3;
          a[static_cast<std::size_t>(row * k + g * group + index)] = value;
          put(in, offset(row, (g * group / 2 + i) * kind.bytes), code(kind, value), kind.bytes);
        }
        const PackedCell cell = metadata_cell(kind.width, row, g * group);
        const int column = cell.cell.column + kind.instruction.sparsity_selector;
        put(in, kMetadata + column * 512 + cell.cell.lane * 4, nibble << cell.bit, 4);
      }
    for (int column = 0; column < 8; ++column)
      for (int at = 0; at < k; ++at) {
        const int value = static_cast<int>(random() % 9) - 4;
        b[static_cast<std::size_t>(column * k + at)] = value;
        put(in, kB + offset(column, at * kind.bytes), code(kind, value), kind.bytes);
      }
    const Ran ran = run(kernel(sparse(kind.name, instruction_descriptor(kind.instruction))), in, 3);
    expect_clean(ran.outcome);
    for (int row = 0; row < 128; ++row)
      for (int column = 0; column < 8; ++column) {
        int sum = 0;
        for (int at = 0; at < k; ++at)
          sum += a[static_cast<std::size_t>(row * k + at)] *
                 b[static_cast<std::size_t>(column * k + at)];
        const std::uint32_t d = ran.out[static_cast<std::size_t>(row * 8 + column)];
        const int found = kind.instruction.kind == Kind::i8
                              ? static_cast<int>(d)
                              : static_cast<int>(std::bit_cast<float>(d));
        ASSERT_EQ(found, sum) << kind.name << " row " << row << " column " << column;
      }
  }
}

// Of 64 and 32 rows with .ws, every part of the lanes that holds a part of D's columns has the
// metadata too, as CUTLASS's tmem_e_frg_ws lays them out.
TEST(TensorMemoryModel, MultipliesASparseAOfFewRows) {
  std::mt19937 random(9);
  for (const int m : {32, 64}) {
    constexpr int kN = 64, kK = 64, kWords = 2048;
    std::vector<std::uint8_t> in(8192);
    std::vector<int> a(static_cast<std::size_t>(m * kK)), b(kN * kK);
    for (int row = 0; row < m; ++row)
      for (int g = 0; g < kK / 4; ++g) {
        constexpr std::uint32_t kPairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110};
        const std::uint32_t nibble = kPairs[random() % 7];
        for (int i = 0; i < 2; ++i) {
          const int value = static_cast<int>(random() % 9) - 4;
          a[static_cast<std::size_t>(row * kK + g * 4) + (nibble >> (2 * i) & 3)] = value;
          put(in, offset(row, g * 2 + i), static_cast<std::uint32_t>(value) & 0xff, 1);
        }
        for (int lane = row; lane < 128; lane += m)
          put(in, kWords + g / 8 * 512 + lane * 4, nibble << (g % 8 * 4), 4);
      }
    for (int column = 0; column < kN; ++column)
      for (int k = 0; k < kK; ++k) {
        const int value = static_cast<int>(random() % 9) - 4;
        b[static_cast<std::size_t>(column * kK + k)] = value;
        put(in, kB + column / 8 * 512 + k / 16 * 128 + column % 8 * 16 + k % 16,
            static_cast<std::uint32_t>(value) & 0xff, 1);
      }
    Instruction described_ws = described(Kind::i8, Element::s8, Accumulator::s32, m);
    described_ws.n = kN;
    std::string work = sparse("i8", instruction_descriptor(described_ws));
    const auto descriptor = [](std::uint32_t stride) {
      return std::to_string(
          ptx::tcgen05::matrix_descriptor({1024 + kB, 128, stride, ptx::Swizzle::none}));
    };
    replace(work, "mma.sp.", "mma.ws.sp.");
    replace(work, descriptor(256), descriptor(512));
    replace(work, "[%x+5120]", "[%x+2048]");
    replace(work, "[%x+5632]", "[%x+2560]");
    const Ran ran = run(kernel(work), in, 3);
    expect_clean(ran.outcome);
    for (int lane = 0; lane < 128; ++lane)
      for (int j = 0; j < 8; ++j) {
        const int row = lane % m, column = lane / m * (kN / (128 / m)) + j;
        int sum = 0;
        for (int k = 0; k < kK; ++k)
          sum += a[static_cast<std::size_t>(row * kK + k)] *
                 b[static_cast<std::size_t>(column * kK + k)];
        ASSERT_EQ(static_cast<int>(ran.out[static_cast<std::size_t>(lane * 8 + j)]), sum)
            << "M = " << m << ", lane " << lane << ", column " << j;
      }
  }
}

TEST(TensorMemoryModel, RefusesMetadataThatMeanNothing) {
  const auto rule_of = [](const char* kind, const Instruction& i) {
    const Ran ran = run(kernel(sparse(kind, instruction_descriptor(i))), {}, 0);
    return ran.outcome.findings.empty() ? "" : ran.outcome.findings.back().rule;
  };
  const auto f16 = [](int m, int selector) {
    return described(Kind::f16, Element::bf16, Accumulator::f32, m, selector);
  };
  EXPECT_EQ(rule_of("f16", f16(128, 0)), "sparse.metadata");  // zeros: one index twice
  EXPECT_EQ(rule_of("f16", f16(128, 2)), "model.unknown");    // unspecified
  EXPECT_EQ(rule_of("f16", f16(64, 0)), "model.unknown");     // figures alone
  EXPECT_EQ(rule_of("i8", described(Kind::i8, Element::s8, Accumulator::s32, 128, 1)),
            "sparse.selector");
}

// 4-bit kinds: pairs of neighbours, two of four. 9.7.16.10.8.3.
TEST(TensorMemoryModel, MetadataOfFoursCountPairs) {
  const TensorMetadata m =
      tensor_metadata(Kind::mxf4, {.m = 128, .n = 8, .sparse = true}, 128, 0x20, 0);
  EXPECT_EQ(m.groups(), 16);
  std::vector<std::uint8_t> columns(4);
  m.columns(3, 0b1101, columns);
  EXPECT_EQ(columns, (std::vector<std::uint8_t>{26, 27, 30, 31}));
  m.columns(0, 0b0110, columns);
  EXPECT_EQ(columns, (std::vector<std::uint8_t>{4, 5, 2, 3}));
  EXPECT_THROW(m.columns(0, 0b0001, columns), Violation);
}

// "This requires a previous fill to the collector buffer to be still valid": 9.7.16.10.9.1.
TEST(TensorMemoryModel, ACollectorIsFilledBeforeItIsUsed) {
  const std::uint32_t instruction = instruction_descriptor({.kind = Kind::i8,
                                                            .a = Element::u8,
                                                            .b = Element::u8,
                                                            .m = 128,
                                                            .n = 8,
                                                            .d = Accumulator::s32});
  const auto rules_of = [&](const std::vector<std::string>& uses) {
    std::string work;
    for (const std::string& use : uses)
      work += multiply(use.empty() ? "i8" : "i8.collector::a::" + use, instruction);
    std::string rules;
    for (const Finding& f : run(kernel(by_one(work)), {}, 0).outcome.findings) rules += f.rule;
    return rules;
  };
  EXPECT_EQ(rules_of({"fill", "use", "lastuse", "fill", "discard"}), "");
  EXPECT_EQ(rules_of({"use"}), "tcgen05.collector");
  EXPECT_EQ(rules_of({"fill", "lastuse", "use"}), "tcgen05.collector");
  EXPECT_EQ(rules_of({"fill", "", "lastuse"}), "tcgen05.collector");  // none is discard
}

// "D = A*B + D * (2 ^ - scale-input-d)", of a D of f16 too. 9.7.16.10.9.1.
TEST(TensorMemoryModel, ScalesADOfHalves) {
  const std::uint32_t instruction = instruction_descriptor({.kind = Kind::f16,
                                                            .a = Element::f16,
                                                            .b = Element::f16,
                                                            .m = 128,
                                                            .n = 8,
                                                            .d = Accumulator::f16});
  std::vector<std::uint8_t> in(8192);
  for (int row = 0; row < 128; ++row) put(in, offset(row, 0), 0x3c00, 2);                 // 1
  for (int column = 0; column < 8; ++column) put(in, kB + offset(column, 0), 0x4400, 2);  // 4
  std::string again = multiply("f16", instruction, "1");
  replace(again, "%r3, %p;", "%r3, %p, 3;");
  const Ran ran = run(kernel(by_one(multiply("f16", instruction) + again)), in, 2);
  expect_clean(ran.outcome);
  for (const std::uint32_t d : ran.out) ASSERT_EQ(d, 0x4480u);  // 4 / 8 + 4
  std::string wrong = multiply("f16", instruction, "1");
  replace(wrong, "%r3, %p;", "%r3, %p, 16;");
  EXPECT_THROW(run(kernel(by_one(wrong)), in, 0), Violation);
}

// "shifts the rows of the A matrix down by one row, except for the last row".
TEST(TensorMemoryModel, ShiftsTheRowsOfA) {
  // Byte 0 of each row of A is its number, as each thread loads it; byte 0 of B's column 1 is 1.
  std::vector<std::uint8_t> in(8192);
  for (int row = 0; row < 128; ++row)
    in[static_cast<std::size_t>(row * 64)] = static_cast<std::uint8_t>(row);
  in[static_cast<std::size_t>(kB + offset(1, 0))] = 1;
  const std::string store = R"(
  mad.wide.u32 %x, %tid, 64, %in;
  ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%x];
  mov.b32 %w4, 0;
  add.u32 %r7, %lanes, 32;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r7], {%w0, %w4, %w4, %w4, %w4, %w4, %w4, %w4};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  add.u32 %r8, %t, 32;
)";
  const std::uint32_t instruction = instruction_descriptor({.kind = Kind::i8,
                                                            .a = Element::u8,
                                                            .b = Element::u8,
                                                            .m = 128,
                                                            .n = 8,
                                                            .d = Accumulator::s32});
  for (const bool up : {false, true}) {
    const Ran ran = run(kernel(store + by_one(multiply("i8.ashift", instruction, "0", "[%r8]"))),
                        in, 4, {{Reading::tcgen05_shift, up}});
    expect_clean(ran.outcome);
    for (int row = 0; row < 128; ++row) {
      const int from = up ? std::max(row - 1, 0) : std::min(row + 1, 127);
      EXPECT_EQ(ran.out[static_cast<std::size_t>(row * 8 + 1)], static_cast<std::uint32_t>(from));
    }
  }
  // Of an A in shared memory there is none, nor with a collector that keeps A.
  EXPECT_THROW(run(kernel(store + by_one(multiply("i8.ashift", instruction))), in, 0), Violation);
  const std::string filling = multiply("i8.ashift.collector::a::fill", instruction, "0", "[%r8]");
  EXPECT_TRUE(found(run(kernel(store + by_one(filling)), in, 0).outcome, "tcgen05.collector"));
}

}  // namespace
}  // namespace assay::model
