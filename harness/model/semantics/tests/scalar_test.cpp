// SPDX-License-Identifier: Apache-2.0
// Atomics of 128 bits, stochastic rounding, reductions of floats over a warp, arrivals counted from
// an mbarrier's state, as PTX text. PTX ISA 9.0, "atom", "cvt" (.rs and rbits), "redux.sync",
// "Operand Size Exceeding Instruction-Type Size",
// "mbarrier.pending_count", "cp.async.bulk" (.cp_mask).
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "harness/model/model.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry one(.param .u64 "
         "out)\n{\n"
         ".reg .b64 %p, %lo, %hi, %x, %y, %u, %v;\n.reg .b128 %q<3>;\n.reg .b32 %r<4>, %t;\n"
         ".reg .f32 %f<4>;\n.reg .b16 %h;\n.reg .pred %same;\nld.param.u64 %p, [out];\n"
         "mov.u32 %t, %tid.x;\ncvt.u64.u32 %x, %t;\n" +
         body + "\nret;\n}\n";
}

using Longs = std::vector<std::uint64_t>;

Longs run(const std::string& body, const Longs& memory, std::uint64_t seed,
          const std::map<Reading, bool>& second = {}) {
  Gpu gpu(kernel(body));
  const Address at = gpu.allocate("out", memory.size() * 8);
  gpu.write(at, memory);
  Arguments arguments;
  arguments.push(at);
  const Outcome outcome =
      gpu.launch("one", {.block = {64, 1, 1}}, arguments, {.seed = seed, .second = second});
  EXPECT_TRUE(outcome.finished);
  for (const Finding& f : outcome.findings) ADD_FAILURE() << to_text(f);
  return gpu.read<std::uint64_t>(at, memory.size());
}

// What is signed fills a register that is wider than its type, what is unsigned leaves zeros.
TEST(Conversion, FillsAWiderRegister) {
  const Longs left = run(R"(
  setp.ne.u32 %same, %t, 0;
  @%same exit;
  mov.b32 %r0, 0x180;
  mov.f32 %f0, 0fc3480000;  // -200
  cvt.s8.s32 %r1, %r0;
  cvt.sat.s8.s32 %r2, %r0;
  mov.b64 %u, {%r1, %r2};
  st.global.u64 [%p], %u;
  cvt.u8.s32 %r1, %r0;
  cvt.rzi.s16.f32 %r2, %f0;
  mov.b64 %u, {%r1, %r2};
  st.global.u64 [%p+8], %u;
  cvt.rzi.s8.f32 %h, %f0;
  cvt.u64.u16 %u, %h;
  st.global.u64 [%p+16], %u;
  cvt.s16.s32 %u, -5;
  st.global.u64 [%p+24], %u;)",
                         Longs(4), 0);
  EXPECT_EQ(left, (Longs{0x0000007fffffff80, 0xffffff3800000080, 0xff80, 0xfffffffffffffffb}));
}

// Every thread leaves its pair, and takes one that another has left.
TEST(Atomic128, Exchanges) {
  Longs memory(2 + 128);
  memory[0] = 64, memory[1] = ~std::uint64_t{64};
  const Longs left = run(R"(
  not.b64 %y, %x;
  mov.b128 %q1, {%x, %y};
  atom.relaxed.gpu.global.exch.b128 %q0, [%p], %q1;
  mov.b128 {%u, %v}, %q0;
  mad.wide.u32 %p, %t, 16, %p;
  st.global.v2.u64 [%p+16], {%u, %v};)",
                         memory, 3);
  std::vector<bool> seen(65);
  for (std::size_t at = 0; at < left.size(); at += 2) {
    EXPECT_EQ(left[at + 1], ~left[at]);
    ASSERT_LE(left[at], 64u);
    EXPECT_FALSE(seen[left[at]]);
    seen[left[at]] = true;
  }
}

// 64 threads count, from 2^64 - 3 on: the carry goes into the upper half.
TEST(Atomic128, ComparesAndSwaps) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Longs left = run(R"(
  mov.u64 %lo, 0;
  mov.u64 %hi, 0;
AGAIN:
  add.cc.u64 %x, %lo, 1;
  addc.u64 %y, %hi, 0;
  mov.b128 %q1, {%lo, %hi};
  mov.b128 %q2, {%x, %y};
  atom.relaxed.gpu.global.cas.b128 %q0, [%p], %q1, %q2;
  mov.b128 {%u, %v}, %q0;
  setp.eq.u64 %same, %u, %lo;
  setp.eq.and.u64 %same, %v, %hi, %same;
  mov.u64 %lo, %u;
  mov.u64 %hi, %v;
  @!%same bra AGAIN;)",
                           {~std::uint64_t{2}, 0}, seed);
    EXPECT_EQ(left, (Longs{61, 1}));
  }
}

TEST(Atomic128, NeedsSixteenBytes) {
  Gpu gpu(kernel("atom.global.exch.b128 %q0, [%p+8], %q1;"));
  Arguments arguments;
  arguments.push(gpu.allocate("out", 64));
  const Outcome outcome = gpu.launch("one", {.block = {32, 1, 1}}, arguments);
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_EQ(outcome.findings[0].rule, "memory.alignment");
}

// What cvt.rs makes of two or four numbers, the uppermost first, and random bits. Those count
// against the lowest of more bits that are cut off, or against the highest.
std::uint64_t rounded(const std::string& types, const std::vector<float>& from,
                      std::uint32_t random, bool lowest = false) {
  std::string body, sources;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::string name = "%f" + std::to_string(i);
    body +=
        "mov.b32 " + name + ", " + std::to_string(std::bit_cast<std::uint32_t>(from[i])) + ";\n";
    sources += (i ? ", " : "") + name;
  }
  if (from.size() == 4) sources = "{" + sources + "}";
  const bool narrow = types.find("e2m1x4") != types.npos;
  body += "mov.b32 %r1, " + std::to_string(random) + ";\ncvt.rs." + types + ".f32 " +
          (narrow ? "%h, " : "%r0, ") + sources + ", %r1;\n";
  body += narrow ? "cvt.u64.u16 %x, %h;\n" : "cvt.u64.u32 %x, %r0;\n";
  return run(body + "setp.eq.u32 %same, %t, 0;\n@%same st.global.u64 [%p], %x;", {0}, 0,
             {{Reading::random_rounding, lowest}})[0];
}

// f16 cuts 13 bits off, bf16 16: "based on the carry out of the integer addition".
TEST(StochasticRounding, CarriesIntoTheLastPlace) {
  const float half = 1 + 0x1p-11f;  // between 1 and the next f16
  EXPECT_EQ(rounded("f16x2", {half, half}, 0x0fff0fff), 0x3c003c00u);
  EXPECT_EQ(rounded("f16x2", {half, half}, 0x10000fff), 0x3c013c00u);  // the upper half is a's
  EXPECT_EQ(rounded("f16x2", {half, half}, 0xefff1000), 0x3c003c01u);  // 3 bits are not looked at
  EXPECT_EQ(rounded("f16x2", {-half, 1}, 0x1fff1fff), 0xbc013c00u);    // away from zero; exact
  EXPECT_EQ(rounded("bf16x2", {1 + 0x1p-8f, 1 + 0x1p-23f}, 0x7fffffff), 0x3f803f81u);
  EXPECT_EQ(rounded("bf16x2", {1 + 0x1p-8f, 1 + 0x1p-23f}, 0x8000fffe), 0x3f813f80u);
}

TEST(StochasticRounding, EndsAtTheLargestOrAtInfinity) {
  const float beyond = 65535;  // 65504 is f16's largest
  EXPECT_EQ(rounded("f16x2", {beyond, -1e9f}, 0x1fff0000), 0x7c00fc00u);
  EXPECT_EQ(rounded("satfinite.f16x2", {beyond, -1e9f}, 0x1fff0000), 0x7bfffbffu);
  EXPECT_EQ(rounded("relu.f16x2", {-3, 2}, 0), 0x00004000u);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(rounded("satfinite.e4m3x4", {1e9f, -1e9f, nan, 0}, 0), 0x7efe7f00u);
}

// Two numbers share 16 bits. 1.0625 is half way from e4m3's 1 to its next; 1.25 from e2m1's.
TEST(StochasticRounding, FourNumbersShareTheRandomBits) {
  const std::vector<float> eights(4, 1.0625f), fours(4, 1.25f);
  EXPECT_EQ(rounded("satfinite.e4m3x4", eights, 0x80007fff), 0x39393838u);
  EXPECT_EQ(rounded("satfinite.e4m3x4", eights, 0x7fff8000), 0x38383939u);
  EXPECT_EQ(rounded("satfinite.e4m3x4", eights, 0x80007fff, true), 0x38383838u);
  EXPECT_EQ(rounded("satfinite.e2m1x4", fours, 0xff00ff00), 0x3322u);  // upper bytes: a and b
  EXPECT_EQ(rounded("satfinite.e2m1x4", fours, 0x00ff00ff), 0x2233u);
  // Subnormal: 2^-10 is half of e4m3's least.
  EXPECT_EQ(rounded("satfinite.e4m3x4", std::vector<float>(4, 0x1p-10f), 0x80007fff), 0x01010000u);
}

// 32 numbers of which lane 3 has a NaN, lane 5 -7 and lane 9 6.
TEST(Redux, OfFloatsLeavesNansOut) {
  const auto reduced = [](const std::string& words) {
    return run(R"(
  cvt.rn.f32.u32 %f0, %t;
  mul.f32 %f0, %f0, 0f3dcccccd;
  setp.eq.u32 %same, %t, 3;
  @%same mov.b32 %f0, 0f7fc00001;
  setp.eq.u32 %same, %t, 5;
  @%same mov.b32 %f0, 0fc0e00000;
  setp.eq.u32 %same, %t, 9;
  @%same mov.b32 %f0, 0f40c00000;
  redux.sync.)" + words +
                   R"(.f32 %f1, %f0, 0xffffffff;
  mov.b32 %r0, %f1;
  cvt.u64.u32 %x, %r0;
  setp.eq.u32 %same, %t, 0;
  @%same st.global.u64 [%p], %x;)",
               {0}, 0)[0];
  };
  EXPECT_EQ(reduced("min"), 0xc0e00000u);
  EXPECT_EQ(reduced("max"), 0x40c00000u);
  EXPECT_EQ(reduced("max.abs"), 0x40e00000u);
  EXPECT_EQ(reduced("min.NaN"), 0x7fffffffu);
}

// The state is of before the arrival.
TEST(Mbarrier, PendingCountIsThatOfTheState) {
  const Longs left = run(R"(
  .shared .align 8 .b64 bar;
  mov.b32 %r1, bar;
  setp.ne.u32 %same, %t, 0;
  @%same ret;
  mbarrier.init.shared::cta.b64 [%r1], 5;
  mbarrier.arrive.shared::cta.b64 %x, [%r1], 2;
  mbarrier.arrive.shared::cta.b64 %y, [%r1];
  mbarrier.pending_count.b64 %r2, %x;
  mbarrier.pending_count.b64 %r3, %y;
  st.global.v2.b32 [%p], {%r2, %r3};
  mbarrier.inval.shared::cta.b64 [%r1];)",
                         {0}, 0);
  EXPECT_EQ(left[0], std::uint64_t{3} << 32 | 5);
}

// "The i-th bit specifies whether the i-th byte of each 16-byte wide chunk is copied."
TEST(BulkCopy, MaskNamesBytesOfEachSixteen) {
  const Longs left = run(R"(
  .shared .align 16 .b64 from[4];
  mov.b32 %r1, from;
  setp.ne.u32 %same, %t, 0;
  @%same ret;
  mov.u64 %x, 0x1111111111111111;
  st.shared.v2.u64 [%r1], {%x, %x};
  st.shared.v2.u64 [%r1+16], {%x, %x};
  fence.proxy.async.shared::cta;
  mov.b32 %r2, 32;
  mov.b16 %h, 0x8003;
  cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%p], [%r1], %r2, %h;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)",
                         Longs(4), 2);
  EXPECT_EQ(left, (Longs{0x1111, 0x1100000000000000, 0x1111, 0x1100000000000000}));
}

}  // namespace
}  // namespace assay::model
