// SPDX-License-Identifier: Apache-2.0
#include "probes/tensor_core/mma_sync.hpp"

#include <gtest/gtest.h>

namespace assay::mma_sync {
namespace {

TEST(MmaSyncForm, NamesSayWhatReadersFilterBy) {
  EXPECT_EQ(name_of({"bf16", "bf16", "f32", 16}), "bf16/m16n8k16");
  EXPECT_EQ(name_of({"f16", "f16", "f16", 16}), "f16/m16n8k16/acc_f16");
  EXPECT_EQ(name_of({.a = "e4m3", .b = "e5m2", .accumulator = "f16", .k = 64, .sparse = true}),
            "e4m3_e5m2/m16n8k64/acc_f16/sparse");
  EXPECT_EQ(name_of({.a = "e4m3", .b = "e4m3", .accumulator = "f32", .k = 32, .kind = "f8f6f4"}),
            "e4m3/m16n8k32/kind_f8f6f4");
  EXPECT_EQ(name_of({.a = "e3m2", .b = "e2m1", .accumulator = "f32", .k = 32, .kind = "f8f6f4"}),
            "e3m2_e2m1/m16n8k32");
}

TEST(MmaSyncForm, FragmentsHaveTheRegistersOfThePtxManual) {
  const auto counts = [](const Form& form) {
    const InstructionRow row = row_of(form);
    return std::vector<int>{row.chain.count, row.inputs[0].count, row.inputs[1].count};
  };
  EXPECT_EQ(counts({"f16", "f16", "f32", 4, 8}), (std::vector{8, 2, 2}));
  EXPECT_EQ(counts({"f16", "f16", "f16", 16}), (std::vector{2, 4, 2}));
  EXPECT_EQ(counts({"tf32", "tf32", "f32", 4}), (std::vector{4, 2, 1}));
  EXPECT_EQ(counts({"f64", "f64", "f64", 4, 8}), (std::vector{2, 1, 1}));
  EXPECT_EQ(counts({"f64", "f64", "f64", 16}), (std::vector{4, 8, 4}));
  EXPECT_EQ(counts({"s8", "s8", "s32", 16, 8}), (std::vector{2, 1, 1}));
  EXPECT_EQ(counts({"u4", "u4", "s32", 64}), (std::vector{4, 4, 2}));
  EXPECT_EQ(counts({"b1", "b1", "s32", 256}), (std::vector{4, 4, 2}));
  EXPECT_EQ(counts({.a = "e2m1", .b = "e4m3", .accumulator = "f32", .k = 32, .kind = "f8f6f4"}),
            (std::vector{4, 4, 2}));
  EXPECT_EQ(counts({.a = "e2m1", .b = "e2m1", .accumulator = "f32", .k = 64, .kind = "mxf4"}),
            (std::vector{4, 4, 2}));
  EXPECT_EQ(counts({.a = "f16", .b = "f16", .accumulator = "f32", .k = 32, .sparse = true}),
            (std::vector{4, 4, 4}));
}

TEST(MmaSyncForm, ASparseStepIsHalfTheProductsAndAllTheFlop) {
  const InstructionRow dense = row_of({"f16", "f16", "f32", 16});
  const InstructionRow sparse =
      row_of({.a = "f16", .b = "f16", .accumulator = "f32", .k = 32, .sparse = true});
  EXPECT_EQ(sparse.flop, 2 * dense.flop);
  EXPECT_EQ(sparse.step(1, 0.5, 0.25, 0), dense.step(1, 0.5, 0.25, 0));
  EXPECT_EQ(sparse.limit(Target::sm_90a).value, 2 * dense.limit(Target::sm_90a).value);
}

TEST(MmaSyncForm, BitsAreCountedWhereTheOperationSays) {
  Form form{"b1", "b1", "s32", 256};
  form.operation = "and";
  EXPECT_EQ(row_of(form).step(5, 1, 1, 0), 5 + 256);
  form.operation = "xor";
  EXPECT_EQ(row_of(form).step(5, 1, 0, 0), 5 + 256);
  EXPECT_EQ(row_of(form).step(5, 1, 1, 0), 5);
}

TEST(MmaSyncForm, ExistsWhereTheAssemblerTakesIt) {
  const auto targets = [](const Form& form) { return row_of(form).targets; };
  EXPECT_EQ(targets({"bf16", "bf16", "f32", 16}), all_gpu_targets());
  EXPECT_EQ(targets({"f64", "f64", "f64", 8}), targets_with(Feature::mma_f64_m16));
  EXPECT_EQ(targets({.a = "e4m3", .b = "e4m3", .accumulator = "f32", .k = 32, .kind = "f8f6f4"}),
            targets_with(Feature::mma_kinds));
  EXPECT_EQ(targets({.a = "e4m3", .b = "e2m1", .accumulator = "f32", .k = 32, .kind = "f8f6f4"}),
            targets_with(Feature::mma_narrow_floats));
}

TEST(MmaSyncForm, SaysWhatBecomesOfItElsewhere) {
  const InstructionRow fp8 = row_of({"e4m3", "e4m3", "f32", 32});
  EXPECT_FALSE(fp8.emulated(Target::sm_89));
  EXPECT_TRUE(fp8.emulated(Target::sm_90a));
  EXPECT_EQ(fp8.sass(Target::sm_90a)[0].opcode, "HMMA.16816.F32");
  EXPECT_EQ(fp8.sass(Target::sm_90a)[0].at_least, 2);
  EXPECT_EQ(fp8.sass(Target::sm_120a)[0].opcode, "QMMA.16832.F32.E4M3.E4M3");
  const InstructionRow f64 = row_of({"f64", "f64", "f64", 16});
  EXPECT_EQ(f64.sass(Target::sm_90a)[0].opcode, "DMMA.16x8x16");
  EXPECT_EQ(f64.sass(Target::sm_103a)[0].opcode, "DMMA.8x8x4");
  EXPECT_EQ(f64.sass(Target::sm_103a)[0].at_least, 8);
}

}  // namespace
}  // namespace assay::mma_sync
