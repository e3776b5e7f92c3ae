// SPDX-License-Identifier: Apache-2.0
// The model has a meaning for everything in harness/ptx/, and its rules are documented.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "harness/model/check/rules.hpp"
#include "harness/model/tests/kernel_runs.hpp"

namespace assay::model {
namespace {

// Names of the device functions that the headers of harness/ptx/ define.
std::set<std::string> functions_of_ptx() {
  std::set<std::string> names;
  const re2::RE2 definition(R"(__device__ inline [^;{(]*?\b(\w+)\()");
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(ASSAY_SOURCE_DIR) / "harness/ptx")) {
    if (file.path().extension() != ".cuh") continue;
    const std::string text = text_of(file.path());
    re2::StringPiece rest(text);
    for (std::string name; re2::RE2::FindAndConsume(&rest, definition, &name);) names.insert(name);
  }
  return names;
}

TEST(Coverage, EveryFunctionOfThePtxFolderIsTried) {
  const auto names = functions_of_ptx();
  EXPECT_GT(names.size(), 100u);
  std::string text;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(ASSAY_SOURCE_DIR) / "harness/model/tests/kernels"))
    if (file.path().extension() == ".cu") text += text_of(file.path());
  for (const std::string& name : names)
    EXPECT_TRUE(re2::RE2::PartialMatch(text, "\\b" + name + "(<[^;(]*>)?\\("))
        << name
        << "() is in no kernel of harness/model/tests/kernels: use it in every_function*.cu";
}

TEST(Coverage, EveryInstructionOfThePtxFolderHasAMeaning) {
  for (const char* file : {"every_function", "every_function_sm100", "every_function_sm120"}) {
    const Gpu gpu(ptx_of_file(file));
    for (const std::string& kernel : gpu.kernels())
      for (const std::string& unknown : gpu.unknown(kernel))
        ADD_FAILURE() << kernel << ": " << unknown;
  }
}

// Rules that the model's sources name: in the text of a report or of a refusal.
std::set<std::string> rules_of_sources() {
  std::set<std::string> rules;
  const re2::RE2 named(
      R"re((?:report|Violation|require|check|throw_if|refuse)\(\s*(?:[^"();]*,\s*)?"([a-z0-9_]+\.[a-z0-9_]+)")re");
  const re2::RE2 chosen(R"re("((?:async|proxy|race|memory|warp)\.[a-z_]+)")re");
  const std::filesystem::path root = std::filesystem::path(ASSAY_SOURCE_DIR) / "harness/model";
  for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
    const std::string path = file.path().string();
    if (path.find("/tests/") != path.npos || !file.is_regular_file()) continue;
    const std::string text = text_of(file.path());
    for (const re2::RE2* pattern : {&named, &chosen}) {
      re2::StringPiece rest(text);
      for (std::string rule; re2::RE2::FindAndConsume(&rest, *pattern, &rule);) rules.insert(rule);
    }
  }
  return rules;
}

TEST(Coverage, EveryRuleIsDocumented) {
  const std::string text = text_of(std::filesystem::path(ASSAY_SOURCE_DIR) / "docs/model.md");
  const auto rules = rules_of_sources();
  EXPECT_GT(rules.size(), 60u);
  for (const std::string& rule : rules) {
    const std::string family = rule.substr(0, rule.find('.')) + ".*";
    EXPECT_TRUE(text.find("`" + rule + "`") != text.npos ||
                text.find("`" + family + "`") != text.npos)
        << rule << " is not in docs/model.md: say in a sentence what it means and what mends it";
  }
}

// The page's tables of rules, their first column.
TEST(Coverage, TheNamesOfRulesAreThoseOfThePage) {
  const std::string text = text_of(std::filesystem::path(ASSAY_SOURCE_DIR) / "docs/model.md");
  const std::size_t begin = text.find("## The rules\n");
  ASSERT_NE(begin, text.npos);
  std::istringstream lines(text.substr(begin, text.find("\n## ", begin) - begin));
  std::set<std::string> documented;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(1, line.find('|', 1) - 1);
    re2::StringPiece rest(cell);
    for (std::string rule; re2::RE2::FindAndConsume(&rest, "`([^`]+)`", &rule);)
      documented.insert(rule);
  }
  EXPECT_EQ(documented, std::set<std::string>(std::begin(kRules), std::end(kRules)));
  for (const std::string& rule : rules_of_sources()) EXPECT_TRUE(is_rule(rule)) << rule;
  for (const char* name : {"race.shared", "deadlock", "tcgen05.form"}) EXPECT_TRUE(is_rule(name));
  for (const char* name : {"", "race", "race.", "race.sharde", "tcgen05", "tcgen05.", "nosuch"})
    EXPECT_FALSE(is_rule(name)) << name;
}

}  // namespace
}  // namespace assay::model
