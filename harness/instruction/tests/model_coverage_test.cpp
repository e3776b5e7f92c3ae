// SPDX-License-Identifier: Apache-2.0
// Instructions that the suite measures on sm_90a have a meaning in the host model, but for a list
// of gaps that may only shrink.
#include <gtest/gtest.h>

#include <algorithm>
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

// Rows of the instruction tables by the first of their instructions that has no meaning.
std::map<std::string, std::vector<std::string>> gaps() {
  std::map<std::string, std::vector<std::string>> found;
  for (const RegisteredRow& r : instruction_rows()) {
    const auto& targets = r.row.targets;
    if (!targets.empty() && std::ranges::find(targets, Target::sm_90a) == targets.end()) continue;
    try {
      const std::string ptx =
          instruction_ptx({&r.row, 1}, {.warps = 4, .chains = 1, .unroll = 1}, "k", Target::sm_90a);
      const model::Gpu gpu(ptx);
      for (const std::string& unknown : gpu.unknown("k"))
        found[unknown.substr(0, unknown.find(':'))].push_back(r.name);
    } catch (const std::exception& e) {
      found["no PTX: " + std::string(e.what())].push_back(r.name);
    }
  }
  return found;
}

TEST(ModelCoverage, GapsAmongMeasuredInstructionsOnlyShrink) {
  std::set<std::string> known;
  std::ifstream lines(std::string(ASSAY_SOURCE_DIR) + "/harness/instruction/tests/model_gaps.txt");
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') known.insert(line);
  std::string now;
  for (const auto& [opcode, rows] : gaps()) {
    now += opcode + "\n";
    EXPECT_TRUE(known.contains(opcode)) << "'" << opcode << "' of " << rows.front()
                                        << " has no meaning in the model, and is not in "
                                        << "model_gaps.txt, which may only shrink";
    known.erase(opcode);
  }
  for (const std::string& opcode : known)
    ADD_FAILURE() << "'" << opcode << "' is no gap any more: take it out of model_gaps.txt";
  RecordProperty("gaps", now);
}

}  // namespace
}  // namespace assay
