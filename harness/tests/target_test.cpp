// SPDX-License-Identifier: Apache-2.0
#include "harness/target.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/error.hpp"

namespace assay {
namespace {

TEST(Target, NamesAreReadBack) {
  for (const TargetRow& row : kTargetTable) {
    EXPECT_EQ(parse_target(row.name), row.target);
    EXPECT_EQ(name(row.target), row.name);
  }
  try {
    parse_target("sm_70");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("sm_89, sm_90a"), std::string::npos) << error.what();
  }
}

TEST(Target, AGpuHasTheOneOfItsCapability) {
  EXPECT_EQ(target_for_capability(9, 0), Target::sm_90a);
  EXPECT_EQ(target_for_capability(10, 3), Target::sm_103a);
  EXPECT_EQ(target_for_capability(8, 0), Target::host);
  for (const Target target : all_gpu_targets())
    EXPECT_EQ(target_for_capability(row_of(target).major, row_of(target).minor), target);
}

// Fields that other places read letter by letter.
TEST(Target, RowsAreSpelledAsTheirReadersExpect) {
  for (const Target target : all_gpu_targets()) {
    const TargetRow& row = row_of(target);
    EXPECT_TRUE(row.name.starts_with("sm_")) << row.name;
    EXPECT_TRUE(row.suffix.starts_with("_sm")) << row.name;
    EXPECT_FALSE(row.chips.empty()) << row.name;
    EXPECT_EQ(std::ranges::count(words(row.assembled), row.name), 1) << row.name;
  }
  EXPECT_EQ(words(" GB100  GB102"), (std::vector<std::string_view>{"GB100", "GB102"}));
  EXPECT_TRUE(words("").empty());
}

TEST(Target, FeaturesAreSets) {
  EXPECT_TRUE(has(Target::sm_90a, Feature::wgmma));
  EXPECT_TRUE(has(Target::sm_90a, {Feature::wgmma, Feature::tma}));
  EXPECT_FALSE(has(Target::sm_90a, {Feature::wgmma, Feature::tcgen05}));
  EXPECT_TRUE(has(Target::host, {}));
  EXPECT_EQ(targets_with(Feature::wgmma), std::vector{Target::sm_90a});
  EXPECT_TRUE(targets_with({Feature::wgmma, Feature::tcgen05}).empty());
  EXPECT_EQ(std::ranges::count(all_gpu_targets(), Target::host), 0);
}

TEST(Target, ABuildIsOfTargetsOfTheTable) {
  EXPECT_FALSE(built_targets().empty());
  for (const Target target : built_targets()) EXPECT_NE(target, Target::host);
}

}  // namespace
}  // namespace assay
