// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/path.hpp"

#include <gtest/gtest.h>

namespace assay::kernels {
namespace {

struct Problem {
  int size;
  std::string text() const { return "halve size=" + std::to_string(size); }
};
struct Operands {};
using HalvePaths = Paths<Problem, Operands>;

// One path for all, and one for Hopper that takes even sizes only.
class ChoiceOfPaths : public testing::Test {
 protected:
  HalvePaths paths;
  HalvePaths::Registration plain{
      paths,
      {.name = "plain",
       .targets = {Target::sm_89, Target::sm_90a},
       .refusal = [](const Problem& p) { return p.size < 100 ? "" : "takes sizes below 100"; }}};
  HalvePaths::Registration hopper{
      paths, {.name = "sm90", .targets = {Target::sm_90a}, .refusal = [](const Problem& p) {
                return p.size % 2 == 0 ? "" : "takes even sizes only";
              }}};
};

TEST_F(ChoiceOfPaths, IsTheArchitecturesOwnBeforeOneForAll) {
  EXPECT_EQ(paths.choose({8}, Target::sm_90a).name, "sm90");
  EXPECT_EQ(paths.choose({8}, Target::sm_89).name, "plain");
}

TEST_F(ChoiceOfPaths, FallsBackWhereTheArchitecturesOwnRefuses) {
  EXPECT_EQ(paths.choose({7}, Target::sm_90a).name, "plain");
}

TEST_F(ChoiceOfPaths, SaysWhereAProblemCanBeDone) {
  EXPECT_EQ(paths.targets({7}), (std::vector{Target::sm_89, Target::sm_90a}));
  EXPECT_EQ(paths.targets({108}), std::vector{Target::sm_90a});
  EXPECT_TRUE(paths.targets({101}).empty());
}

TEST_F(ChoiceOfPaths, SaysOfEachPathWhyItCannot) {
  const auto refusal = [&](const HalvePaths& from, Problem problem, Target target) {
    try {
      from.choose(problem, target);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::unfit);
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(refusal(paths, {101}, Target::sm_89),
            "halve size=101 cannot run here; path plain takes sizes below 100; path sm90 runs on "
            "sm_90a, not sm_89");
  EXPECT_EQ(refusal({}, {8}, Target::sm_89), "halve size=8 cannot run here; no path was built");
}

}  // namespace
}  // namespace assay::kernels
