// SPDX-License-Identifier: Apache-2.0
// What the model has for sm_90, silicon was asked: each meaning has a golden form, but for those
// that leave nothing to compare.
#include <gtest/gtest.h>

#include <map>
#include <set>

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

std::set<std::string> meanings_asked() {
  std::set<std::string> all;
  for (const Form& f : all_forms()) {
    const Module module = parse_ptx(f.ptx);
    for (const auto& [name, function] : module.function_of)
      for (const Instruction& i : function->body) all.insert(meanings().name_of(i));
  }
  return all;
}

TEST(GoldenForms, EveryMeaningOfSm90HasOne) {
  const std::set<std::string> all = meanings_asked();
  for (const std::string& name : meanings().names()) {
    if (name.starts_with("tcgen05.")) continue;  // begins with sm_100a
    if (kNone.contains(name))
      EXPECT_FALSE(all.contains(name)) << name << " has a form: take it out of kNone";
    else
      EXPECT_TRUE(all.contains(name))
          << name << " has a meaning and no golden form: write one, or say in kNone why not";
  }
}

}  // namespace
}  // namespace assay::model::golden
