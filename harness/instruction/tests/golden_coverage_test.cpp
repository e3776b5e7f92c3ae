// SPDX-License-Identifier: Apache-2.0
// What the rows of the tables measure on sm_90a, silicon was asked for the host model too.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "harness/instruction/registry.hpp"
#include "harness/instruction/row_ptx.hpp"
#include "harness/model/ptx/module.hpp"
#include "harness/model/tests/golden/forms.hpp"

namespace assay {
namespace {

void collect(const std::string& ptx, std::set<std::string>& opcodes) {
  const model::Module module = model::parse_ptx(ptx);
  for (const auto& [name, function] : module.function_of)
    for (const model::Instruction& i : function->body) opcodes.insert(i.opcode);
}

TEST(GoldenForms, EveryMeasuredInstructionHasOne) {
  std::set<std::string> asked;
  for (const model::golden::Form& f : model::golden::all_forms()) collect(f.ptx, asked);
  std::map<std::string, std::string> missing;
  for (const RegisteredRow& r : instruction_rows()) {
    const auto& targets = r.row.targets;
    if (r.row.chain.name.empty() ||
        (!targets.empty() && std::ranges::find(targets, Target::sm_90a) == targets.end()))
      continue;
    std::set<std::string> opcodes;
    collect(
        instruction_ptx({&r.row, 1}, {.warps = 4, .chains = 1, .unroll = 1}, "k", Target::sm_90a),
        opcodes);
    for (const std::string& opcode : opcodes)
      if (!asked.contains(opcode) && !opcode.starts_with("ld.param") &&
          opcode.find("prefetch") == opcode.npos)
        missing[opcode] = r.name;
  }
  for (const auto& [opcode, row] : missing)
    ADD_FAILURE() << opcode << " of " << row << " has no golden form";
}

}  // namespace
}  // namespace assay
