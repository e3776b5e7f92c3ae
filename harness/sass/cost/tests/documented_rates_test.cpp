// SPDX-License-Identifier: Apache-2.0
// The documented rates against what was measured of the same instructions: each agrees, or is named
// here with the measurement that shows why not.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "harness/run/json_io.hpp"
#include "harness/sass/cost/cost_table.hpp"

namespace assay::sass {
namespace {

constexpr const char* kRuns[] = {ASSAY_SOURCE_DIR "/results/h200/2026-11-22-full/run.json",
                                 ASSAY_SOURCE_DIR "/results/h100/2026-11-22-full/run.json",
                                 ASSAY_SOURCE_DIR "/results/h100/2026-11-22-most/run.json"};

// The loop around the instructions takes issue slots too: HFMA2 loses 2.2% to it, the most.
constexpr double kMargin = 0.025;

std::set<std::string> opcodes_of(const Json& run) {
  std::set<std::string> all;
  for (const Json& m : run.at("measurements")) {
    if (m.value("status", "") != "ok" || !m.contains("sass")) continue;
    const Json instruction = m["sass"].value("instruction", Json::object());
    const Json opcodes = instruction.value("opcodes", Json::object());
    for (const auto& [opcode, count] : opcodes.items()) all.insert(opcode);
  }
  return all;
}

double ops_per_clock(const Json& run, const std::string& name) {
  for (const Json& m : run.at("measurements"))
    if (m.value("name", "") == name) return m["metrics"]["ops_per_clock_per_sm"]["value"];
  return NAN;
}

TEST(DocumentedRates, AgreeWithWhatWasMeasured) {
  for (const char* const path : kRuns) {
    const Json run = read_run_file(path);
    const std::string arch = run["environment"]["gpu"].at("architecture");
    const CostTable costs = CostTable::read(path);
    // DFMA.RZ is measured with three operands from registers alone, and their banks bound it, as
    // they bound DFMA with the same operands; DFMA with a uniform one shows the pipe's rate.
    const double banks = ops_per_clock(run, "sass/dfma/f64");
    EXPECT_NEAR(ops_per_clock(run, "sass/dfma/f64_uniform_factor"), 64, 64 * kMargin) << path;
    const std::map<std::string, double> deviations = {{"DFMA.RZ", banks}};

    std::size_t compared = 0;
    for (const std::string& opcode : opcodes_of(run)) {
      const Cost cost = costs.cost({.opcode = opcode});
      const auto documented = documented_rate(opcode, *cost.pipe, arch);
      if (cost.basis != Basis::measured || !documented || !documented->checked) continue;
      ++compared;
      const double measured = 32 * (cost.pipe->shared ? 1 : 4) / cost.cycles;
      const auto deviation = deviations.find(opcode);
      const double expected =
          deviation == deviations.end() ? documented->threads : deviation->second;
      EXPECT_NEAR(measured, expected, expected * kMargin) << opcode << " in " << path;
      if (deviation != deviations.end())
        EXPECT_LT(measured, documented->threads * (1 - kMargin))
            << opcode << " agrees now: it is no deviation";
    }
    EXPECT_GE(compared, 50U) << path;
  }
}

}  // namespace
}  // namespace assay::sass
