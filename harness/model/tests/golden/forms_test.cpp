// SPDX-License-Identifier: Apache-2.0
// What the model has for sm_90, silicon was asked: each meaning has a golden form, but for those
// that leave nothing to compare.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/instruction/registry.hpp"
#include "harness/instruction/row_ptx.hpp"
#include "harness/model/machine/decode.hpp"
#include "harness/model/ptx/module.hpp"
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

// Why a meaning has no form.
const std::map<std::string, std::string> kNone = {
    {"clusterlaunchcontrol.query_cancel", "begins with sm_100"},
    {"clusterlaunchcontrol.try_cancel", "begins with sm_100"},
    {"cvt.rs", "begins with sm_100a"},
    {"trap", "ends the launch, and leaves nothing"},
    {"brkpt", "stops for a debugger, and leaves nothing"},
    {"exit", "leaves nothing"},
    {"nanosleep", "takes time, and leaves nothing"},
    {"pmevent", "counts for a profiler, and leaves nothing"},
    {"applypriority", "of a cache alone"},
    {"discard", "of a cache alone; what is left is undefined"},
    {"prefetch", "of a cache alone"},
    {"prefetchu", "of a cache alone"},
    {"cp.async.bulk.prefetch", "of a cache alone"},
    {"setmaxnreg", "changes how many registers a warp has, and none of them"},
    {"griddepcontrol", "needs a grid before it; alone it leaves nothing"},
};

// Opcodes of all forms, and the meanings that these have.
struct Asked {
  std::set<std::string> opcodes, meanings;
};

void collect(const std::string& ptx, Asked& asked) {
  const Module module = parse_ptx(ptx);
  for (const auto& [name, function] : module.function_of)
    for (const Instruction& i : function->body) {
      asked.opcodes.insert(i.opcode);
      asked.meanings.insert(meanings().name_of(i));
    }
}

Asked asked() {
  Asked all;
  for (const Form& f : all_forms()) collect(f.ptx, all);
  return all;
}

TEST(GoldenForms, EveryMeaningOfSm90HasOne) {
  const Asked all = asked();
  for (const std::string& name : meanings().names()) {
    if (name.starts_with("tcgen05.")) continue;  // begins with sm_100a
    if (kNone.contains(name))
      EXPECT_FALSE(all.meanings.contains(name)) << name << " has a form: take it out of kNone";
    else
      EXPECT_TRUE(all.meanings.contains(name))
          << name << " has a meaning and no golden form: write one, or say in kNone why not";
  }
}

// The rows of the tables that are measured on sm_90a: what they are about was asked too.
TEST(GoldenForms, EveryMeasuredInstructionHasOne) {
  const Asked all = asked();
  std::map<std::string, std::string> missing;
  for (const RegisteredRow& r : instruction_rows()) {
    const auto& targets = r.row.targets;
    if (r.row.chain.name.empty() ||
        (!targets.empty() && std::ranges::find(targets, Target::sm_90a) == targets.end()))
      continue;
    Asked row;
    collect(
        instruction_ptx({&r.row, 1}, {.warps = 4, .chains = 1, .unroll = 1}, "k", Target::sm_90a),
        row);
    for (const std::string& opcode : row.opcodes)
      if (!all.opcodes.contains(opcode) && !opcode.starts_with("ld.param") &&
          opcode.find("prefetch") == opcode.npos)
        missing[opcode] = r.name;
  }
  for (const auto& [opcode, row] : missing)
    ADD_FAILURE() << opcode << " of " << row << " has no golden form";
}

}  // namespace
}  // namespace assay::model::golden
