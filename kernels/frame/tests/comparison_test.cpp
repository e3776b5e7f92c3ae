// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/comparison.hpp"

#include <gtest/gtest.h>

#include "harness/error.hpp"
#include "kernels/baselines/tests/fake_baseline.hpp"

namespace assay::kernels {
namespace {

TEST(BurstAndSustained, EachCaseIsThereTwice) {
  const std::vector<Case> both =
      burst_and_sustained({{.name = "bf16/m8", .params = {{"m", 8}}, .targets = {Target::sm_90a}},
                           {.name = "bf16/m9"}});
  ASSERT_EQ(both.size(), 4u);
  EXPECT_EQ(both[0].name, "bf16/m8");
  EXPECT_EQ(both[0].text("state"), "burst");
  EXPECT_EQ(both[0].suite, Suite::quick);
  EXPECT_EQ(both[1].name, "bf16/m8/sustained");
  EXPECT_EQ(both[1].text("state"), "sustained");
  EXPECT_EQ(both[1].suite, Suite::full);
  EXPECT_EQ(both[1].i64("m"), 8);
  EXPECT_EQ(both[1].targets, std::vector{Target::sm_90a});
  EXPECT_EQ(both[2].name, "bf16/m9");
}

// What line_up() does with libraries, without a GPU.
class LineUp : public testing::Test {
 protected:
  std::vector<Call> calls;
  std::vector<std::string> checked;
  std::vector<double> times{30, 10, 20};

  OpenBaseline library(int asked, int candidates) {
    return [=, this] { return std::make_unique<FakeBaseline>(asked, candidates, &calls); };
  }
  Field line_up(const std::vector<OpenBaseline>& libraries) {
    return kernels::line_up(libraries, {.sets = 4,
                                        .nanoseconds = fake_clock(calls, times),
                                        .must_be_right = [&](const Contender& contender) {
                                          checked.push_back(contender.name);
                                          contender.run(nullptr, 0);
                                        }});
  }
};

TEST_F(LineUp, ALibraryTakesPartWithItsBestCandidateAndItsFirst) {
  const Field field = line_up({library(16, 3)});
  ASSERT_EQ(field.baselines.size(), 2u);
  EXPECT_EQ(field.baselines[0].name, "fake_best16");
  EXPECT_EQ(field.baselines[1].name, "fake_first");
  EXPECT_TRUE(field.flags.empty());
  calls.clear();
  field.baselines[0].run(nullptr, 3);
  field.baselines[1].run(nullptr, 2);
  EXPECT_EQ(calls, (std::vector<Call>{{1, 3}, {0, 2}}));
}

TEST_F(LineUp, ItsNamesDoNotDependOnHowManyCandidatesItHas) {
  const Field field = line_up({library(16, 1)});
  ASSERT_EQ(field.baselines.size(), 2u);
  EXPECT_EQ(field.baselines[0].name, "fake_best16");
  EXPECT_EQ(calls.size(), 2u);  // checked, but there was nothing to choose from
}

TEST_F(LineUp, OneThatIsAskedForOneTakesPartUnderItsOwnName) {
  const Field field = line_up({library(1, 1)});
  ASSERT_EQ(field.baselines.size(), 1u);
  EXPECT_EQ(field.baselines[0].name, "fake");
}

TEST_F(LineUp, EverybodyIsCheckedAfterCandidatesWereTimed) {
  line_up({library(16, 2), library(1, 1)});
  EXPECT_EQ(checked, (std::vector<std::string>{"fake_best16", "fake_first", "fake"}));
}

TEST_F(LineUp, OneThatIsMissingBecomesAFlagAndTheOthersTakePart) {
  const Field field = line_up(
      {[]() -> std::unique_ptr<Baseline> { throw Error(ExitCode::unfit, "fake is not installed"); },
       library(1, 1)});
  EXPECT_EQ(field.flags, std::vector<std::string>{"no baseline: fake is not installed"});
  ASSERT_EQ(field.baselines.size(), 1u);
}

TEST_F(LineUp, OneThatDoesSomethingElseIsTimedAndSaysSo) {
  const Field field =
      line_up({[this] { return std::make_unique<FakeBaseline>(1, 1, &calls, "it rounds down"); }});
  EXPECT_EQ(field.flags,
            std::vector<std::string>{"fake takes part with its time alone: it rounds down"});
  ASSERT_EQ(field.baselines.size(), 1u);
  EXPECT_TRUE(checked.empty());
}

TEST_F(LineUp, AWrongResultOfABaselineIsNoFlagButAnError) {
  const Referee referee{.sets = 4,
                        .nanoseconds = fake_clock(calls, times),
                        .must_be_right = [](const Contender& contender) {
                          throw Error(ExitCode::failed, contender.name + ": wrong");
                        }};
  EXPECT_THROW(kernels::line_up({library(16, 2)}, referee), Error);
}

}  // namespace
}  // namespace assay::kernels
