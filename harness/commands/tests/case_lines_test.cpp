// SPDX-License-Identifier: Apache-2.0
#include "harness/commands/case_lines.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay::commands {
namespace {

std::vector<CaseLine> lines_of(const Probe& probe) {
  std::vector<const Case*> cases;
  for (const Case& c : probe.cases) cases.push_back(&c);
  return case_lines(probe, cases);
}

TEST(CaseLines, NameTheAxesOfAProduct) {
  Probe probe{.name = "sum", .question = "", .cases = {}, .run = {}};
  for (const char* type : {"bf16", "e4m3"})
    for (const std::int64_t bytes : {8, 64})
      for (const int gpus : {2, 4})
        for (const char* graph : {"", "/graph"})
          probe.cases.push_back({.name = std::string(type) + "/" + std::to_string(bytes) + "/" +
                                         std::to_string(gpus) + "gpus" + graph,
                                 .params = {{"type", type}, {"bytes", bytes}, {"gpus", gpus}}});
  const auto lines = lines_of(probe);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].pattern, "sum/<type>/<bytes>/<gpus>gpus[/graph]");
  EXPECT_EQ(lines[0].values,
            (std::vector<std::string>{"type: bf16, e4m3", "bytes: 8, 64", "gpus: 2, 4"}));
  EXPECT_EQ(lines[0].cases.size(), 16u);
}

TEST(CaseLines, FindAValueAmongOthers) {
  Probe probe{.name = "mma", .question = "", .cases = {}, .run = {}};
  for (const std::int64_t n : {64, 128})
    probe.cases.push_back({.name = "m64n" + std::to_string(n), .params = {{"m", 64}, {"n", n}}});
  const auto lines = lines_of(probe);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].pattern, "mma/m64n<n>");
  EXPECT_EQ(lines[0].values, std::vector<std::string>{"n: 64, 128"});
}

TEST(CaseLines, NameNoCaseThatIsNotThere) {
  Probe probe{.name = "p", .question = "", .cases = {}, .run = {}};
  for (const char* name : {"a/1", "a/2", "b/1", "b/2", "c/1"})
    probe.cases.push_back({.name = name});
  const auto lines = lines_of(probe);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].cases.size() + lines[1].cases.size(), 5u);
  std::set<const Case*> all;
  for (const CaseLine& line : lines) all.insert(line.cases.begin(), line.cases.end());
  EXPECT_EQ(all.size(), 5u);
}

TEST(CaseLines, KeepTargetsApart) {
  const Probe probe{.name = "p",
                    .question = "",
                    .cases = {{.name = "x"}, {.name = "y", .targets = {Target::host}}},
                    .run = {}};
  EXPECT_EQ(lines_of(probe).size(), 2u);
}

TEST(CaseLines, SayOnlyTheProbesNameForItsOneCase) {
  const Probe probe{.name = "p", .question = "", .run = {}};
  const auto lines = lines_of(probe);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].pattern, "p");
}

TEST(CaseLines, ShortenLongLists) {
  Probe probe{.name = "p", .question = "", .cases = {}, .run = {}};
  for (std::int64_t bytes = 1; bytes <= 512; bytes *= 2)
    probe.cases.push_back({.name = std::to_string(bytes), .params = {{"bytes", bytes}}});
  const auto lines = lines_of(probe);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].values, (std::vector<std::string>{"bytes: 1, 2, 4 ... 512"}));
}

}  // namespace
}  // namespace assay::commands
