// SPDX-License-Identifier: Apache-2.0
// tcgen05 instructions in small kernels of PTX: what they compute, and what is found wrong. Model,
// not silicon: expectations are the manual's (PTX ISA 9.0, 9.7.16).
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/model.hpp"
#include "harness/model/semantics/tensor_memory/tests/tensor_memory_kernel.hpp"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"

namespace assay::model {
namespace {

using ptx::tcgen05::Accumulator;
using ptx::tcgen05::Element;
using ptx::tcgen05::instruction_descriptor;
using ptx::tcgen05::Kind;

TEST(TensorMemoryModel, StoresAndLoadsOfAnyShapeMeetInTheSameCells) {
  // Thread t's register i of 16x64b.x2 is lane t / 4 + 8 (t % 2), column t / 2 % 2 + 2 i.
  const std::string body = R"(
  mul.lo.u32 %r4, %tid, 10;
  add.u32 %r5, %r4, 1;
  add.u32 %r6, %r4, 2;
  add.u32 %r7, %r4, 3;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%lanes], {%r4, %r5, %r6, %r7, %r4, %r4, %r4, %r4};
  tcgen05.wait::st.sync.aligned;
  tcgen05.ld.sync.aligned.16x64b.x2.b32 {%r8, %r9}, [%lanes];
  tcgen05.wait::ld.sync.aligned;
  tcgen05.st.sync.aligned.32x32b.x2.b32 [%lanes], {%r8, %r9};
  tcgen05.wait::st.sync.aligned;
)";
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Ran ran = run(kernel(body), {}, seed);
    expect_clean(ran.outcome);
    for (std::uint32_t t = 0; t < 128; ++t) {
      const std::uint32_t l = t % 32, lane = t - l + l / 4 + 8 * (l % 2);
      EXPECT_EQ(ran.out[t * 8], lane * 10 + l / 2 % 2) << t;
      EXPECT_EQ(ran.out[t * 8 + 1], lane * 10 + l / 2 % 2 + 2) << t;
    }
  }
}

TEST(TensorMemoryModel, MultipliesIntegers) {
  std::vector<std::uint8_t> in(8192);
  for (int row = 0; row < 128; ++row)
    for (int k = 0; k < 32; ++k)
      in[static_cast<std::size_t>(offset(row, k))] = static_cast<std::uint8_t>(row * 3 + k);
  for (int row = 0; row < 8; ++row)
    for (int k = 0; k < 32; ++k)
      in[static_cast<std::size_t>(kB + offset(row, k))] = static_cast<std::uint8_t>(row - k);
  const std::uint32_t instruction = instruction_descriptor({.kind = Kind::i8,
                                                            .a = Element::u8,
                                                            .b = Element::s8,
                                                            .m = 128,
                                                            .n = 8,
                                                            .d = Accumulator::s32});
  // Twice: the second adds to the first.
  const Ran ran =
      run(kernel(by_one(multiply("i8", instruction) + multiply("i8", instruction, "1"))), in, 2);
  expect_clean(ran.outcome);
  for (int row = 0; row < 128; ++row)
    for (int column = 0; column < 8; ++column) {
      int sum = 0;
      for (int k = 0; k < 32; ++k) sum += static_cast<std::uint8_t>(row * 3 + k) * (column - k);
      EXPECT_EQ(static_cast<int>(ran.out[static_cast<std::size_t>(row * 8 + column)]), 2 * sum);
    }
}

// Elements of e4m3 that are 1.0 (0x38), 2.0 (0x40) and 0.5 (0x30); bf16 and tf32 as f32's upper
// bits.
TEST(TensorMemoryModel, MultipliesFloats) {
  struct Case {
    const char* kind;
    Kind number;
    Element element;
    int bytes;
    std::uint32_t one, two;
  };
  for (const Case& c : {Case{"f8f6f4", Kind::f8f6f4, Element::e4m3, 1, 0x38, 0x40},
                        Case{"f16", Kind::f16, Element::bf16, 2, 0x3f80, 0x4000},
                        Case{"f16", Kind::f16, Element::f16, 2, 0x3c00, 0x4000},
                        Case{"tf32", Kind::tf32, Element::tf32, 4, 0x3f800000, 0x40000000}}) {
    std::vector<std::uint8_t> in(8192);
    const auto put = [&](int base, int row, int k, std::uint32_t value) {
      for (int b = 0; b < c.bytes; ++b)
        in[static_cast<std::size_t>(base + offset(row, k * c.bytes + b))] =
            static_cast<std::uint8_t>(value >> (8 * b));
    };
    const int ks = 32 / c.bytes;
    for (int row = 0; row < 128; ++row)
      for (int k = 0; k < ks; ++k) put(0, row, k, row % 2 == 0 ? c.one : c.two);
    for (int row = 0; row < 8; ++row)
      for (int k = 0; k < ks; ++k) put(kB, row, k, k <= row % ks ? c.one : 0);
    const std::uint32_t instruction = instruction_descriptor(
        {.kind = c.number, .a = c.element, .b = c.element, .m = 128, .n = 8});
    const Ran ran = run(kernel(by_one(multiply(c.kind, instruction))), in, 3);
    expect_clean(ran.outcome);
    for (int row = 0; row < 128; ++row)
      for (int column = 0; column < 8; ++column)
        EXPECT_EQ(std::bit_cast<float>(ran.out[static_cast<std::size_t>(row * 8 + column)]),
                  static_cast<float>((column % ks + 1) * (row % 2 + 1)))
            << c.kind << " " << row << " " << column;
  }
}

TEST(TensorMemoryModel, TakesAFromTensorMemory) {
  // A is 1.0 everywhere: column 32 to 39 hold 16 bf16 of each row.
  const std::string ones = R"(
  mov.b32 %r4, 0x3f803f80;
  add.u32 %r5, %lanes, 32;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r5], {%r4, %r4, %r4, %r4, %r4, %r4, %r4, %r4};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  add.u32 %r6, %t, 32;
)";
  std::vector<std::uint8_t> in(8192);
  for (int row = 0; row < 8; ++row)
    for (int k = 0; k <= row; ++k)
      in[static_cast<std::size_t>(kB + offset(row, 2 * k + 1))] = 0x40;  // 2.0
  const std::uint32_t instruction = instruction_descriptor(
      {.kind = Kind::f16, .a = Element::bf16, .b = Element::bf16, .m = 128, .n = 8});
  const Ran ran = run(kernel(ones + by_one(multiply("f16", instruction, "0", "[%r6]"))), in, 4);
  expect_clean(ran.outcome);
  for (std::size_t i = 0; i < 1024; ++i)
    EXPECT_EQ(std::bit_cast<float>(ran.out[i]), static_cast<float>(2 * (i % 8 + 1))) << i;
}

TEST(TensorMemoryModel, MultipliesByBlockScales) {
  // Scales of ue8m0 in byte 1: 4.0 of rows 0 to 31 of A, which column 32 holds, else 2.0; of B 0.5.
  const std::string scales = R"(
  mov.b32 %r4, 0x7f7f817f;
  mov.b32 %r5, 0x7f7f807f;
  mov.b32 %r6, 0x7f7f7e7f;
  add.u32 %r7, %lanes, 32;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r7], {%r4, %r5, %r5, %r5, %r6, %r6, %r6, %r6};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  add.u32 %r8, %t, 32;
  add.u32 %r9, %t, 36;
)";
  const std::vector<std::uint8_t> in(8192, 0x38);  // 1.0 of e4m3
  const std::uint32_t instruction = instruction_descriptor(
      {.kind = Kind::mxf8f6f4, .a = Element::e4m3, .b = Element::e4m3, .m = 128, .n = 8},
      {.type = ptx::tcgen05::Scale::ue8m0, .a_byte = 1, .b_byte = 1});
  std::string work = multiply("mxf8f6f4.block_scale.scale_vec::1X", instruction);
  const std::string accumulate = "%r3, %p;";
  work.replace(work.find(accumulate), accumulate.size(), "%r3, [%r8], [%r9], %p;");
  const Ran ran = run(kernel(scales + by_one(work)), in, 6);
  expect_clean(ran.outcome);
  for (std::size_t i = 0; i < 1024; ++i)
    EXPECT_EQ(std::bit_cast<float>(ran.out[i]), i / 8 < 32 ? 64.0f : 32.0f) << i;
}

TEST(TensorMemoryModel, CopiesRowsAndShiftsLanes) {
  std::vector<std::uint8_t> in(8192);
  for (int row = 0; row < 128; ++row)
    in[static_cast<std::size_t>(offset(row, 0))] = static_cast<std::uint8_t>(row);
  const std::string descriptor =
      std::to_string(ptx::tcgen05::matrix_descriptor({1024, 128, 256, ptx::Swizzle::none}));
  const std::string copy =
      "  mov.b64 %x, " + descriptor + ";\n  tcgen05.cp.cta_group::1.128x256b [%t], %x;\n";
  const Ran copied = run(kernel(by_one(copy)), in, 5);
  expect_clean(copied.outcome);
  for (std::uint32_t t = 0; t < 128; ++t) EXPECT_EQ(copied.out[t * 8], t);
  for (const bool up : {false, true}) {
    const Ran shifted = run(kernel(by_one(copy + "  tcgen05.shift.cta_group::1.down [%t];\n")), in,
                            5, {{Reading::tcgen05_shift, up}});
    expect_clean(shifted.outcome);
    EXPECT_TRUE(shifted.outcome.second.contains(Reading::tcgen05_shift));
    for (std::uint32_t t = 0; t < 128; ++t) {
      const std::uint32_t from = t >= 32 ? t : up ? (t == 0 ? 0 : t - 1) : (t == 31 ? t : t + 1);
      EXPECT_EQ(shifted.out[t * 8], from) << "one warp's lanes move";
    }
  }
}

// 1 and three quarters of f32's next place: nearest, or cut off.
TEST(TensorMemoryModel, RoundsSumsEitherWay) {
  std::vector<std::uint8_t> in(8192);
  const auto put = [&](int at, std::uint32_t value) {
    in[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(value);
    in[static_cast<std::size_t>(at + 1)] = static_cast<std::uint8_t>(value >> 8);
  };
  for (int k = 0; k < 4; ++k) {  // f16: 1, then 2^-13 times 2^-12
    put(offset(0, 2 * k), k == 0 ? 0x3c00 : 0x0800);
    put(kB + offset(0, 2 * k), k == 0 ? 0x3c00 : 0x0c00);
  }
  const std::uint32_t instruction = instruction_descriptor(
      {.kind = Kind::f16, .a = Element::f16, .b = Element::f16, .m = 128, .n = 8});
  for (const bool cut : {false, true}) {
    const Ran ran = run(kernel(by_one(multiply("f16", instruction))), in, 0,
                        {{Reading::tcgen05_rounding, cut}});
    expect_clean(ran.outcome);
    EXPECT_EQ(ran.out[0], cut ? 0x3f800000u : 0x3f800001u);
  }
}

// What each edit of a right kernel breaks.
TEST(TensorMemoryModel, NamesWhatIsWrong) {
  const std::uint32_t instruction = instruction_descriptor({.kind = Kind::i8,
                                                            .a = Element::u8,
                                                            .b = Element::u8,
                                                            .m = 128,
                                                            .n = 8,
                                                            .d = Accumulator::s32});
  const std::string right = kernel(by_one(multiply("i8", instruction)));
  const std::vector<std::uint8_t> in(8192);
  expect_clean(run(right, in, 1).outcome);
  struct Edit {
    const char* rule;
    std::string from, to;
  };
  for (const Edit& e :
       {Edit{"tensor_memory.leaked", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 64;", ""},
        Edit{"tensor_memory.dealloc", "aligned.b32 %t, 64;", "aligned.b32 %t, 32;"},
        Edit{"tensor_memory.columns", "[%r2], 64;", "[%r2], 48;"},
        Edit{"tensor_memory.wrong_warp", "@!%warp0 bra FREED;",
             "setp.eq.u32 %p, %r15, %r15; shr.u32 %r9, %tid, 5; setp.ne.u32 %p, %r9, 1; @%p bra "
             "FREED;"},
        Edit{"tensor_memory.uninitialized", "setp.ne.u32 %p, 0, 0;", "setp.eq.u32 %p, 0, 0;"},
        Edit{"tensor_memory.read_before_complete", "@!%done bra WAIT;", ""},
        Edit{"tensor_memory.fence_after", "@!%done bra WAIT;\n  tcgen05.fence::after_thread_sync;",
             "@!%done bra WAIT;"},
        Edit{"tensor_memory.lane", "and.b32 %lanes, %tid, 0x60;", "and.b32 %lanes, %tid, 0x20;"},
        Edit{"tensor_memory.not_allocated",
             "x8.b32 {%g0, %g1, %g2, %g3, %g4, %g5, %g6, %g7}, "
             "[%lanes]",
             "x8.b32 {%g0, %g1, %g2, %g3, %g4, %g5, %g6, %g7}, [%lanes+64]"},
        Edit{"tensor_memory.register_in_flight", "tcgen05.wait::ld.sync.aligned;", ""},
        Edit{"deadlock",
             "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];", ""},
        Edit{"tcgen05.cta_group", "tcgen05.dealloc.cta_group::1", "tcgen05.dealloc.cta_group::2"},
        Edit{"proxy.shared", "fence.proxy.async.shared::cta;", ""}}) {
    std::string wrong = right;
    const auto at = wrong.rfind(e.from);
    ASSERT_NE(at, wrong.npos) << e.from;
    wrong.replace(at, e.from.size(), e.to);
    bool named = false;
    std::string others;
    for (std::uint64_t seed = 0; seed < 10 && !named; ++seed) {
      const Ran ran = run(wrong, in, seed);
      named = found(ran.outcome, e.rule);
      for (const Finding& f : ran.outcome.findings) others += to_text(f) + "\n";
    }
    EXPECT_TRUE(named) << e.rule << " is not among\n" << others;
  }
}

}  // namespace
}  // namespace assay::model
