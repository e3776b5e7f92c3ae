// SPDX-License-Identifier: Apache-2.0
#include "probes/tensor_core/mma_sync.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/assembler.hpp"
#include "harness/sass_check.hpp"

namespace assay::mma_sync {
namespace {

Table everything() {
  Table all;
  add_dense(all);
  add_sparse(all);
  add_scaled(all);
  return all;
}

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

TEST(MmaSyncTable, NamesAreUnique) {
  const Table all = everything();
  std::set<std::string> names;
  for (const auto* rows : {&all.timed, &all.listed})
    for (const InstructionRow& row : *rows) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

// The timed ones are checked by `assay sass --check`.
TEST(MmaSyncTable, ListedFormsBecomeWhatTheySay) {
  const Table all = everything();
  for (const Target target : kGpuTargets) {
    std::vector<Assembled> cubins;
    std::vector<SassRequest> requests;
    cubins.reserve(all.listed.size());
    for (const InstructionRow& row : all.listed) {
      if (std::ranges::find(row.targets, target) == row.targets.end()) continue;
      const KernelShape shape{1, 1, 2, row.emulated(target)};
      const KernelUse use = row_kernel(row, shape, "k", target);
      cubins.push_back(assemble(use.ptx, target));
      requests.push_back({cubins.back().cubin, "k", target, use});
    }
    const std::vector<SassFindings> findings = check_sass(requests);
    for (std::size_t i = 0; i < findings.size(); ++i)
      EXPECT_TRUE(findings[i].verified())
          << name(target) << ": " << findings[i].problems.front() << "\n"
          << requests[i].use.ptx;
  }
}

}  // namespace
}  // namespace assay::mma_sync
