// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "probes/tensor_core/tcgen05_kernel.hpp"

namespace assay::tcgen05 {
namespace {

const Type& type(const std::string& name) {
  for (const Type& t : types())
    if (t.name == name) return t;
  throw std::invalid_argument(name);
}

const Operands kOperands{"d", "a", "b", "m", "i", "x", "y", "p"};

TEST(Tcgen05Form, IsSpelledAsThePtxManualSays) {
  EXPECT_EQ((Form{.type = &type("bf16"), .m = 128, .n = 256}.ptx(kOperands)),
            "tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, p;");
  EXPECT_EQ(
      (Form{.type = &type("s8"), .m = 64, .n = 256, .a_in_tensor_memory = true}.ptx(kOperands)),
      "tcgen05.mma.cta_group::1.kind::i8 [d], [a], b, i, p;");
  EXPECT_EQ(
      (Form{.type = &type("nvf4"), .m = 256, .n = 256, .ctas = 2, .sparse = true}.ptx(kOperands)),
      "tcgen05.mma.sp.cta_group::2.kind::mxf4nvf4.block_scale.block16 [d], a, b, [m], i, "
      "[x], [y], p;");
  EXPECT_EQ(
      (Form{.type = &type("tf32"), .m = 32, .n = 256, .sparse = true, .weight_stationary = true}
           .ptx(kOperands)),
      "tcgen05.mma.ws.sp.cta_group::1.kind::tf32 [d], a, b, [m], i, p;");
}

TEST(Tcgen05Form, NamesSayWhatReadersFilterBy) {
  EXPECT_EQ((Form{.type = &type("bf16"), .m = 128, .n = 256}.name()), "bf16/m128n256/ss");
  EXPECT_EQ((Form{.type = &type("e4m3"),
                  .m = 256,
                  .n = 128,
                  .ctas = 2,
                  .a_in_tensor_memory = true,
                  .sparse = true,
                  .f16_sum = true}
                 .name()),
            "e4m3/m256n128/sparse_ts/cta2/acc_f16");
}

TEST(Tcgen05Form, OpcodesAreTheTargets) {
  const Form nvf4{.type = &type("nvf4"), .m = 256, .n = 256, .ctas = 2};
  EXPECT_EQ(nvf4.opcode(Target::sm_100a), "UTCOMMA.2CTA.4X");
  EXPECT_EQ(nvf4.opcode(Target::sm_103a), "UTCOMMA.2CTA.BLOCK16");
  EXPECT_EQ((Form{.type = &type("mxf8"), .m = 128, .n = 256}.opcode(Target::sm_100a)), "UTCQMMA");
  EXPECT_EQ((Form{.type = &type("bf16"), .m = 32, .n = 256, .weight_stationary = true}.opcode(
                Target::sm_100a)),
            "UTCHMMA.WS");
}

// All accumulators fit in the lanes and columns that are said to hold them.
TEST(Tcgen05Form, AccumulatorsHaveExactlyTheCellsTheyNeed) {
  const auto cells = [](const Form& form) {
    int lanes = 0;
    for (int lane = 0; lane < Kernel::kLanes; ++lane) lanes += form.in_use(lane);
    return lanes * form.columns() * form.ctas;
  };
  const Type* bf16 = &type("bf16");
  for (const int n : {64, 128, 256}) {
    for (const int m : {64, 128}) EXPECT_EQ(cells({.type = bf16, .m = m, .n = n}), m * n);
    for (const int m : {128, 256})
      EXPECT_EQ(cells({.type = bf16, .m = m, .n = n, .ctas = 2}), m * n);
    for (const int m : {32, 64, 128})
      EXPECT_EQ(cells({.type = bf16, .m = m, .n = n, .weight_stationary = true}), m * n);
  }
}

TEST(Tcgen05Form, ASparseAHasHalfTheBytesOfItsK) {
  const Form form{.type = &type("e4m3"), .m = 128, .n = 256, .sparse = true};
  EXPECT_EQ(form.k(), 64);
  EXPECT_EQ(form.bytes_of_a(), 32);
  EXPECT_EQ(form.bytes_of_b(), 64);
  EXPECT_EQ(form.descriptor() & 7u, 4u);
}

TEST(Tcgen05Form, IntegersAndAKOf96AreEachOneChips) {
  const auto exists = [](const char* name, Target target) {
    const std::vector<Target> targets = Form{.type = &type(name), .m = 128, .n = 256}.targets();
    return std::ranges::count(targets, target) > 0;
  };
  EXPECT_TRUE(exists("s8", Target::sm_100a));
  EXPECT_FALSE(exists("s8", Target::sm_103a));
  EXPECT_FALSE(exists("nvf4_k96", Target::sm_100a));
  EXPECT_TRUE(exists("nvf4_k96", Target::sm_103a));
}

TEST(Tcgen05Kernel, HoldsTheTilesItsDescriptorsPointTo) {
  const Kernel ss{{.type = &type("bf16"), .m = 256, .n = 128, .ctas = 2}, false};
  EXPECT_EQ(ss.a_bytes(), 128 * 128);
  EXPECT_EQ(ss.b_bytes(), 64 * 128);
  EXPECT_EQ(ss.out_words(), 2u * 128 * 128);
  const Kernel ts{{.type = &type("bf16"), .m = 64, .n = 128, .a_in_tensor_memory = true}, false};
  EXPECT_EQ(ts.a_bytes(), 128 * 128);
  EXPECT_EQ(ts.in_words(), static_cast<std::size_t>((128 + 128) * 128 / 4 + 3));
}

}  // namespace
}  // namespace assay::tcgen05
