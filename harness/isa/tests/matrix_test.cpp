// SPDX-License-Identifier: Apache-2.0
// The whole way: forms assembled, disassembled and judged, against what is known of the targets.
#include "harness/isa/matrix.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "harness/error.hpp"
#include "harness/isa/assembly.hpp"
#include "harness/isa/render.hpp"

namespace assay::isa {
namespace {
namespace fs = std::filesystem;

class IsaStore : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("assay-isa-" + std::to_string(getpid()));
    setenv("ASSAY_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("ASSAY_CACHE_DIR");
    fs::remove_all(folder_);
  }
  Matrix judged(const std::string& ptx) {
    return judge_all(forms_from(ptx), {"sm_90a", "sm_120f"}, [](std::size_t, std::size_t) {});
  }
  fs::path folder_;
};

// What is known of these targets, in their order.
const std::vector<std::string> kTargets = {"sm_89",   "sm_90",   "sm_90a",  "sm_100",
                                           "sm_100a", "sm_100f", "sm_103a", "sm_110a",
                                           "sm_120",  "sm_120a", "sm_120f", "sm_121a"};

struct Known {
  std::string ptx, cells;
};

const std::string kF32 = "{%f[0:4]}, {%r[0:4]}, {%r[4:6]}, {%f[0:4]};";  // D, A, B, C
const std::string kS32 = "{%r[10:14]}, {%r[0:4]}, {%r[4:6]}, {%r[10:14]};";
const std::string kF64 = "{%fd[0:4]}, {%fd[4:8]}, {%fd[8:10]}, {%fd[0:4]};";

const Known kKnown[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + kF32, "N N N N N N N N N N N N"},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 " + kF32, "N E E E E E E E N N N N"},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 " + kF32,
     ". . . . . . . . . N N N"},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 " + kS32, "N E E E E E E E E E E E"},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc " + kS32,
     "N N N E E E E E E E E E"},
    {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 " + kF64,
     ". N N x4 x4 x4 x4 x4 x4 x4 x4 x4"},
    {"wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%f[0:128]}, %adesc, %bdesc, %enable, "
     "1, 1, 0, 0;",
     ". . N . . . . . . . . ."},
    {"tcgen05.mma.cta_group::1.kind::i8 [%tmem], %adesc, %bdesc, %idesc, %enable;",
     ". . . . N . . N . . . ."},
    {"fma.rn.f32x2 %rd0, %rd1, %rd2, %rd3;", ". . . N N N N x2 x2 x2 x2 x2"},
    {"min.f32 %f0, %f1, %f2, %f3;", ". . . N N N N N x2 x2 x2 x2"},
    {"tanh.approx.f16x2 %r0, %r1;", "x2 x2 x2 x2 x2 x2 x2 x2 x2 x2 x2 x2"},
    {"ex2.approx.f16x2 %r0, %r1;", "x2 x2 x2 x2 x2 x2 N x2 x2 x2 x2 x2"},
    {"ex2.approx.f32 %f0, %f1;", "N N N N N N N N N N N N"},
    {"div.rn.f32 %f0, %f1, %f2;", "E E E E E E E E E E E E"},
    {"atom.shared.add.f32 %f0, [%smem], %f1;", "E E E E E E E E E E E E"},
    {"redux.sync.min.f32 %f0, %f1, -1;", ". . . . N N N . . . . ."},
    {"cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%usmem], "
     "[%map, {%x, %y}], [%bar];",
     ". N N N N N N N N N N N"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%usmem], "
     "[%map, {%x, %y}], [%bar];",
     ". N N N N N N N E E E E"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
     "[%usmem], [%ugmem], %bytes, [%bar], %ctas;",
     ". N! N N! N N N N E! E! E! E!"},
    {"tensormap.replace.tile.global_address.global.b1024.b64 [%gmem], %rd0;",
     ". . N . N N N N . N N N"},
    {".shared .b8 much[65536]; st.shared.b32 [much], %r0;", ". . N . N . N N . N . N"},
};

TEST_F(IsaStore, TheMatrixIsAsKnown) {
  std::vector<Form> forms;
  for (const Known& known : kKnown) forms.push_back(forms_from(known.ptx).front());
  const Matrix matrix = judge_all(forms, kTargets, [](std::size_t, std::size_t) {});
  for (std::size_t f = 0; f < forms.size(); ++f) {
    std::string cells;
    for (const Verdict& verdict : matrix.verdicts[f])
      cells += (cells.empty() ? "" : " ") + cell(verdict);
    EXPECT_EQ(cells, kKnown[f].cells) << forms[f].ptx;
  }
}

// A form's neighbours in a module do not change its verdict, and each gets its own words.
TEST(IsaMatrix, RejectedFormsLeaveTheirNeighboursAlone) {
  std::vector<Form> forms;
  for (const char* ptx :
       {"add.s32 %r0, %r1, %r2;", "foo.s32 %r0, %r1;", "add.s32 %r0, %r1, , ;",
        "wgmma.fence.sync.aligned;", "add.s32 %r0, %zz, %r2;",
        ".shared .b8 much[65536]; st.shared.b32 [much], %r0;", "fma.rn.f32 %f0, %f1, %f2, %f3;"})
    forms.push_back(forms_from(ptx).front());
  std::vector<const Form*> pointers;
  for (const Form& form : forms) pointers.push_back(&form);
  const std::vector<Evidence> together = examine(pointers, "sm_89");
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Evidence alone = examine({&pointers[i], 1}, "sm_89").front();
    EXPECT_EQ(together[i].accepted, alone.accepted) << forms[i].ptx;
    EXPECT_EQ(together[i].words, alone.words) << forms[i].ptx;
    EXPECT_EQ(together[i].opcodes, alone.opcodes) << forms[i].ptx;
  }
  EXPECT_TRUE(together[0].accepted);
  EXPECT_NE(together[1].words.find("Not a name of any known instruction: 'foo'"),
            std::string::npos);
  EXPECT_NE(together[2].words.find("syntax error"), std::string::npos);
  EXPECT_NE(together[3].words.find("sm_89"), std::string::npos);
  EXPECT_NE(together[4].words.find("%zz"), std::string::npos);
  EXPECT_NE(together[5].words.find("too much shared data"), std::string::npos);
  EXPECT_EQ(together[6].opcodes, (OpcodeCount{{"FFMA", 1}}));
}

TEST(IsaMatrix, AnErrorWithoutAPlaceIsToldOfTheFormAlone) {
  const Form form = forms_from("add.u32 %r0, %r1, \xc3\xa9;").at(0);
  const Form* const pointer = &form;
  EXPECT_EQ(examine({&pointer, 1}, "sm_90a").at(0).words, "Unexpected non-ASCII character");
}

// ptxas assembles alone what nvJitLink ignores: the others must still be read in their own cubin.
TEST(IsaMatrix, FormsThatNvJitLinkIgnoresLeaveTheirNeighboursAlone) {
  const char* const ignored = "setmaxnreg.inc.sync.aligned.u32 240;";
  const std::vector<std::string> texts = {"add.u32 %r0, %r1, %r2;", "activemask.b32 %r0;", ignored,
                                          "mul.lo.u32 %r0, %r1, %r2;"};
  std::vector<Form> all;
  std::vector<Evidence> alone;
  for (const std::string& text : texts) {
    all.push_back(forms_from(text).at(0));
    const Form* const form = &all.back();
    alone.push_back(examine({&form, 1}, "sm_90a").at(0));
    EXPECT_TRUE(alone.back().readable) << text;
  }
  std::vector<const Form*> together;
  for (const Form& form : all) together.push_back(&form);
  const std::vector<Evidence> found = examine(together, "sm_90a");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(found[i].readable) << texts[i];
    EXPECT_EQ(found[i].opcodes, alone[i].opcodes) << texts[i];
  }
  EXPECT_TRUE(found[2].opcodes.contains("USETMAXREG.TRY_ALLOC.CTAPOOL"));
}

TEST_F(IsaStore, KeepsVerdictsRejectionsToo) {
  const std::string ptx = "setmaxnreg.inc.sync.aligned.u32 240;\nadd.cc.u32 %r0, %r1, %r2;\nfoo;";
  const Matrix first = judged(ptx), second = judged(ptx);
  EXPECT_EQ(first.judged_now, 6U);
  EXPECT_EQ(second.judged_now, 0U);
  EXPECT_EQ(to_json(first), to_json(second));
  EXPECT_EQ(judged(ptx + "\nbar;").judged_now, 2U);
}

TEST_F(IsaStore, ADamagedFileOnlyCostsTime) {
  const Matrix first = judged("add.u32 %r0, %r1, %r2;");
  for (const auto& file : fs::directory_iterator(folder_))
    std::ofstream(file.path()) << "{\"not\": \"one\"}\n[1,2]\n[\"cut sho";
  const Matrix again = judged("add.u32 %r0, %r1, %r2;");
  EXPECT_EQ(again.judged_now, 2U);
  EXPECT_EQ(to_json(first), to_json(again));
}

TEST_F(IsaStore, UnknownTargetsAreNamed) {
  const auto error = [](const std::string& target) -> std::string {
    try {
      judge_all(forms_from("exit;"), {target}, [](std::size_t, std::size_t) {});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error("hopper").find("unknown target 'hopper'"), std::string::npos);
  EXPECT_NE(error("sm_42").find("sm_42"), std::string::npos);
}

// Columns that result files and pages have, in this order.
TEST(IsaMatrix, TheTableOfTargetsSaysItsColumns) {
  std::vector<std::string> known;
  std::ranges::copy_if(default_targets(), std::back_inserter(known), [](const std::string& target) {
    return std::ranges::count(kTargets, target) > 0;
  });
  EXPECT_EQ(known, kTargets);
  EXPECT_NO_THROW(std::ranges::for_each(default_targets(), require_target));
}

// Registered forms: what is asked of the tables themselves.
TEST(IsaForms, TextsAreDifferentAndTimedRowsAreFound) {
  const std::vector<Form> forms = all_forms();
  EXPECT_GT(forms.size(), 900U);
  std::set<std::string> texts;
  std::size_t timed = 0;
  for (const Form& form : forms) {
    EXPECT_TRUE(texts.insert(form.ptx).second) << form.ptx;
    EXPECT_EQ(form.ptx.find_first_of("<#"), std::string::npos) << form.ptx;
    timed += !form.timed.empty();
  }
  EXPECT_GT(timed, 10U);
}

// Two rows time one form: each is found by its own name.
TEST(IsaForms, EveryTimedRowLeadsToItsForm) {
  const auto texts = [](const std::string& filter) {
    std::vector<std::string> found;
    for (const Form& form : select_forms(filter)) found.push_back(form.ptx);
    return found;
  };
  EXPECT_EQ(texts("^sass/imad/s32$"), texts("^sass/imad/s32_uniform$"));
  EXPECT_EQ(texts("^sass/imad/s32$").size(), 1U);
}

}  // namespace
}  // namespace assay::isa
