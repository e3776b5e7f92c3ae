// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay {
namespace {

TEST(InstructionRegistry, HoldsTheRowsOfTheTables) {
  const InstructionRow* ffma = find_instruction("sass/ffma/f32");
  ASSERT_NE(ffma, nullptr);
  EXPECT_EQ(ffma->ptx, "fma.rn.f32 <d>, <d>, <a>, <b>;");
  EXPECT_EQ(find_instruction("sass/ffma"), nullptr);
}

TEST(InstructionRegistry, IsSortedAndHasNoNameTwice) {
  const auto& rows = instruction_rows();
  EXPECT_TRUE(std::ranges::is_sorted(rows, std::less{}, &RegisteredRow::name));
  const auto twice = std::ranges::adjacent_find(rows, {}, &RegisteredRow::name);
  EXPECT_TRUE(twice == rows.end()) << twice->name;
}

}  // namespace
}  // namespace assay
