// SPDX-License-Identifier: Apache-2.0
// Instructions that the suite measures on sm_90a have a meaning in the host model, but for a list
// of gaps that may only shrink.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/instruction/registry.hpp"
#include "harness/instruction/row_ptx.hpp"
#include "harness/instruction/row_values.hpp"
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

// The kernel of every measured row, executed: it leaves the values that the probe checks on the
// device, and the checker has nothing to say.
TEST(ModelCoverage, KernelsOfMeasuredInstructionsLeaveTheirValues) {
  int executed = 0;
  for (const RegisteredRow& r : instruction_rows()) {
    const InstructionRow& row = r.row;
    const auto& targets = row.targets;
    if (row.chain.name.empty() || (!row.step && !row.step_bits)) continue;
    if (!targets.empty() && std::ranges::find(targets, Target::sm_90a) == targets.end()) continue;
    const KernelShape shape{.warps = 4, .chains = std::min(row.chains, 2), .unroll = 2};
    std::vector<std::uint64_t> in;
    append_inputs(row, shape, nullptr, in);
    std::vector<std::uint64_t> out(
        static_cast<std::size_t>(shape.chains * row.chain.count * shape.warps * 32));
    model::Gpu gpu(instruction_ptx({&row, 1}, shape, "k", Target::sm_90a));
    const auto records = gpu.allocate("records", sizeof(StopwatchRecord));
    const auto from = gpu.allocate("in", std::max<std::size_t>(in.size(), 1) * 8);
    const auto to = gpu.allocate("out", out.size() * 8);
    gpu.write(records, std::vector<std::uint8_t>(sizeof(StopwatchRecord)));
    gpu.write(from, in);
    gpu.write(to, out);
    model::Arguments arguments;
    arguments.push(records).push(from).push(to);
    arguments.push(std::uint32_t{kCheckedIterations}).push(std::uint32_t{0});
    const auto outcome =
        gpu.launch("k", {.block = {shape.warps * 32, 1, 1}}, arguments, {.seed = 2});
    EXPECT_TRUE(outcome.finished) << r.name;
    for (const auto& finding : outcome.findings)
      ADD_FAILURE() << r.name << ": " << model::to_text(finding);
    std::size_t slot = 0;
    EXPECT_EQ(wrong_values(row, shape, gpu.read<std::uint64_t>(to, out.size()), slot), "")
        << r.name;
    ++executed;
  }
  EXPECT_GT(executed, 300);
}

}  // namespace
}  // namespace assay
