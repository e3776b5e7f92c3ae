// SPDX-License-Identifier: Apache-2.0
#include "harness/run/selection.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>

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

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

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
            "filter '(bf16' is not a regular expression (missing ): (bf16): put a backslash before "
            "characters like ( [ * that are meant as they are");
  EXPECT_TRUE(error_of("selection_tst/gpu/bf16/m64n8", "full")
                  .starts_with("no case matches 'selection_tst/gpu/bf16/m64n8'; the nearest are "
                               "selection_test/gpu/bf16/m64n8, "));
}

// Each of these kept a backtracking matcher busy for minutes, or overflowed its stack.
TEST(Select, RefusesOrAnswersHostileFiltersAtOnce) {
  const std::vector<std::string> filters = {std::string(50'000, 'a'),
                                            repeated("(", 50'000) + repeated(")", 50'000),
                                            repeated("(", 4'000) + repeated(")", 4'000),
                                            repeated("(a*", 2'000) + repeated(")*", 2'000),
                                            "(a|aa)+$(.*)*b",
                                            "((((a*)*)*)*)*[^/]*/([^/]*)*c$",
                                            repeated("a?", 1'000) + repeated("a", 1'000),
                                            repeated("(.*m.*)", 1'000),
                                            repeated("x{1,1000}", 1'000),
                                            "((a{1,1000}){1,1000}){1,1000}",
                                            repeated("[m/]|", 1'999) + "z",
                                            repeated("(m|/)*..", 1'200),
                                            "[[:alpha:]-\xff",
                                            std::string("a\0b", 3),
                                            "\\",
                                            "(?P<a",
                                            "(a)\\1"};
  for (const std::string& filter : filters) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      select(filter, "full");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << filter.substr(0, 50);
      EXPECT_LT(std::strlen(error.what()), 1'000u) << filter.substr(0, 50);
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(taken.count(), 5) << filter.substr(0, 50);
  }
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
