// SPDX-License-Identifier: Apache-2.0
#include "harness/run/selection.hpp"

#include <gtest/gtest.h>

#include "harness/error.hpp"

namespace assay {
namespace {

const Registration on_gpu{{.name = "selection_test/gpu",
                           .question = "Is it chosen?",
                           .cases = {{.name = "bf16/m64n8"},
                                     {.name = "bf16/m64n16"},
                                     {.name = "f16/m64n8", .suite = Suite::full}},
                           .run = [](State&) {}}};
const Registration on_host{{.name = "selection_test/cpu",
                            .question = "Is it chosen?",
                            .targets = {Target::host},
                            .run = [](State&) {}}};

// The names chosen out of those of this file.
std::vector<std::string> chosen(const std::string& filter, const std::string& suite) {
  std::vector<std::string> names;
  for (const Selected& s : select(filter, suite))
    if (s.name.starts_with("selection_test/")) names.push_back(s.name.substr(15));
  return names;
}

std::string error_of(const std::string& filter, const std::string& suite) {
  try {
    select(filter, suite);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "nothing was thrown";
}

using Names = std::vector<std::string>;

TEST(Select, ByRegularExpressionAnywhereInTheName) {
  EXPECT_EQ(chosen("^selection_test/", "quick"),
            (Names{"cpu", "gpu/bf16/m64n8", "gpu/bf16/m64n16"}));
  EXPECT_EQ(chosen("selection_test.*m64n8", "full"), (Names{"gpu/bf16/m64n8", "gpu/f16/m64n8"}));
  EXPECT_EQ(chosen("selection_test/gpu/(bf|f)16/m64n8$", "full").size(), 2u);
}

TEST(Select, AllByDefault) {
  EXPECT_EQ(chosen("", "quick").size(), 3u);
  EXPECT_EQ(chosen("", "full").size(), 4u);
  EXPECT_EQ(chosen("", "host"), Names{"cpu"});
}

TEST(Select, LeavesOutAfterADash) {
  EXPECT_EQ(chosen("-gpu", "full"), Names{"cpu"});
  EXPECT_EQ(chosen("-selection_test/cpu", "full").size(), 3u);
}

// A name without an end anchor also begins longer names; whole, it means that one from any suite.
TEST(Select, AnExactNameFromAnySuite) {
  EXPECT_EQ(chosen("selection_test/gpu/f16/m64n8", "quick"), Names{"gpu/f16/m64n8"});
  EXPECT_EQ(chosen("^selection_test/gpu/f16/m64n8$", "quick"), Names{"gpu/f16/m64n8"});
}

TEST(Select, SaysWhatWouldHaveHelped) {
  EXPECT_EQ(error_of("selection_test/gpu/f16", "quick"),
            "filter 'selection_test/gpu/f16' matches only cases outside the suite 'quick': add "
            "--suite full");
  EXPECT_EQ(error_of("", "qick"), "unknown suite 'qick': choose quick, full or host");
  EXPECT_EQ(error_of("(bf16", "full"),
            "filter '(bf16' is not a regular expression: put a backslash before characters like "
            "( [ * that are meant as they are");
  EXPECT_TRUE(error_of("selection_tst/gpu/bf16/m64n8", "full")
                  .starts_with("no case matches 'selection_tst/gpu/bf16/m64n8'; the nearest are "
                               "selection_test/gpu/bf16/m64n8, "));
}

TEST(Nearest, ByAWholeNameOrByItsParts) {
  const Names names = {"tensor_core/wgmma/bf16/m64n256/ss", "tensor_core/mma_sync/f16/m16n8k16",
                       "memory/hbm/copy", "memory/l1/latency"};
  EXPECT_EQ(nearest("wgma", names, 1), Names{names[0]});
  EXPECT_EQ(nearest("mma_sync/f15", names, 1), Names{names[1]});
  EXPECT_EQ(nearest("memory/hmb/copy", names, 2)[0], names[2]);
  EXPECT_EQ(nearest("hbm", names, 9).size(), 4u);
  EXPECT_TRUE(nearest("hbm", {}, 3).empty());
}

}  // namespace
}  // namespace assay
