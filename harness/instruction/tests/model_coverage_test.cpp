// SPDX-License-Identifier: Apache-2.0
// Instructions that the suite measures on sm_90a have a meaning in the host model, but for a list
// of gaps that may only shrink.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/instruction/registry.hpp"
#include "harness/instruction/row_ptx.hpp"
#include "harness/model/model.hpp"

namespace assay {
namespace {

// Rows of the tables that are measured, by the first of their instructions that has no meaning.
std::map<std::string, std::vector<std::string>> gaps(int& looked_at) {
  std::map<std::string, std::vector<std::string>> found;
  for (const RegisteredRow& r : instruction_rows()) {
    if (r.row.chain.name.empty()) continue;  // a row of the instruction x target matrix alone
    const auto& targets = r.row.targets;
    if (!targets.empty() && std::ranges::find(targets, Target::sm_90a) == targets.end()) continue;
    ++looked_at;
    try {
      const std::string ptx =
          instruction_ptx({&r.row, 1}, {.warps = 4, .chains = 1, .unroll = 1}, "k", Target::sm_90a);
      const model::Gpu gpu(ptx);
      for (const std::string& unknown : gpu.unknown("k"))
        found[unknown.substr(0, unknown.find(": "))].push_back(r.name);
    } catch (const std::exception& e) {
      found[r.name + " has no PTX"].push_back(e.what());
    }
  }
  return found;
}

TEST(ModelCoverage, GapsAmongMeasuredInstructionsOnlyShrink) {
  std::set<std::string> known;
  std::ifstream lines(std::filesystem::path(ASSAY_SOURCE_DIR) /
                      "harness/instruction/tests/model_gaps.txt");
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') known.insert(line);
  std::string now;
  int looked_at = 0;
  for (const auto& [opcode, rows] : gaps(looked_at)) {
    now += opcode + "\n";
    EXPECT_TRUE(known.contains(opcode)) << "'" << opcode << "' of " << rows.front()
                                        << " has no meaning in the model, and is not in "
                                        << "model_gaps.txt, which may only shrink";
    known.erase(opcode);
  }
  for (const std::string& opcode : known)
    ADD_FAILURE() << "'" << opcode << "' is no gap any more: take it out of model_gaps.txt";
  RecordProperty("gaps", now);
  EXPECT_GT(looked_at, 300);
}

}  // namespace
}  // namespace assay
