// SPDX-License-Identifier: Apache-2.0
// The analysis of machine code against what was measured on a GPU: results/h200 holds both the cost
// of instructions and the time of loops that the analysis has not seen.
#include "harness/sass/analysis.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "harness/code/assembler.hpp"
#include "harness/code/verification.hpp"
#include "harness/measurement.hpp"
#include "harness/run/json_io.hpp"
#include "harness/run/selection.hpp"
#include "harness/sass/measured_loops.hpp"
#include "harness/sass/stages.hpp"
#include "harness/tests/scratch.hpp"

namespace assay::sass {
namespace {

// A result of every family, kernels as well.
const CostTable& table() {
  static const CostTable instance =
      CostTable::read(ASSAY_SOURCE_DIR "/results/h200/2026-11-22-full/run.json");
  return instance;
}

KernelAnalysis analysis_of_case(const std::string& name, const CostTable& costs = table()) {
  const auto selected = select("^" + name + "$", "full");
  const auto verified = verify_all({{selected.at(0), Target::sm_90a}});
  const KernelCode& code = verified.at(0).code.at(0);
  return analyse(code.function, costs, {.loop = code.loop});
}

const MeasuredLoops& measured() {
  static const MeasuredLoops instance{table().file()};
  return instance;
}

class Prediction : public ScratchFolder, public testing::WithParamInterface<const char*> {};

// The costs are those of a table that has never seen the case: what it measured is left out.
TEST_P(Prediction, IsWithinATenthOfWhatWasMeasured) {
  const std::string name = GetParam();
  Json run = read_json(table().file());
  Json others = Json::array();
  for (const Json& m : run["measurements"])
    if (!m.value("name", "").starts_with(name)) others.push_back(m);
  run["measurements"] = others;
  std::ofstream(folder() / "run.json") << run;
  const CostTable costs = CostTable::read(folder() / "run.json");

  const KernelAnalysis kernel = analysis_of_case(name, costs);
  const LoopAnalysis& loop = kernel.hot.at(0);
  const auto found = measured().find(*kernel.function, loop, name, SassRecord{}, true);
  if (!found) GTEST_SKIP() << "the committed result is of another loop than the probe has now";
  EXPECT_NEAR(loop.predicted() / found->cycles, 1, 0.1) << loop.bound_by();
}

INSTANTIATE_TEST_SUITE_P(Loops, Prediction,
                         testing::Values("tensor_core/wgmma/bf16/m64n256/ss",
                                         "kernels/gemm/bf16/m8192n8192k8192/nt",
                                         "special_function/ex2/f32"));

// Everything that the committed result and this program agree on. A loop cannot be faster than its
// bound; the costs themselves have an error, and predictions for one warp are no bounds.
TEST(SassAnalysis, BoundsHoldWhereverLoopsWereMeasured) {
  std::vector<std::pair<Selected, Target>> wanted;
  for (const Selected& s :
       select("^(sass|special_function|tensor_core|memory/(shared|l1))/", "quick"))
    if (s.probe->kernels && s.probe->exists_on(*s.which, Target::sm_90a))
      wanted.emplace_back(s, Target::sm_90a);
  const auto verified = verify_all(wanted);
  int compared = 0, near = 0;
  for (const Verification& v : verified)
    for (std::size_t i = 0; i < v.code.size(); ++i) {
      if (!v.code[i].function || !v.code[i].loop) continue;
      const KernelAnalysis kernel = analyse(v.code[i].function, table(), {.loop = v.code[i].loop});
      const auto found =
          measured().find(*kernel.function, kernel.hot.at(0), v.name, v.kernels[i], i == 0);
      if (!found) continue;
      const double share = kernel.hot[0].predicted() / found->cycles;
      EXPECT_LT(share, 1.05) << v.name << " " << kernel.function->name;
      ++compared;
      near += share > 0.9;
    }
  EXPECT_GT(compared, 20);
  EXPECT_GT(near, compared * 9 / 10);
}

TEST(SassAnalysis, WarpSpecializedGemm) {
  const KernelAnalysis kernel = analysis_of_case("kernels/gemm/bf16/m8192n8192k8192/nt");
  EXPECT_EQ(kernel.warps, 12);
  const LoopAnalysis& loop = kernel.hot.at(0);
  EXPECT_EQ(loop.bound_by(), "tensor");
  EXPECT_EQ(loop.shape.depth, 2);
  ASSERT_EQ(loop.parts.size(), 1u);
  EXPECT_EQ(text_of(loop.parts[0].who), "4-11");  // two consumer warpgroups

  const auto stages = stages_of(*kernel.function, loop.parts[0].schedule, table());
  const auto wait = std::ranges::find_if(
      stages, [](const Stage& stage) { return stage.what.starts_with("groups of MMAs"); });
  ASSERT_NE(wait, stages.end());
  ASSERT_TRUE(wait->awaited);
  EXPECT_EQ(wait->awaited->iterations_ago, 1);  // one group stays in flight
  const auto work = std::ranges::find_if(stages, [](const Stage& s) { return !s.matrix.empty(); });
  ASSERT_NE(work, stages.end());
  ASSERT_EQ(work->matrix.size(), 1u);
  const auto& [opcode, mmas] = *work->matrix.begin();
  EXPECT_EQ(mmas, 8);
  // Of 64 x N x 16 in N / 2 cycles each, whatever tile the product takes.
  ASSERT_TRUE(opcode.starts_with("HGMMA.64x")) << opcode;
  const int columns = std::stoi(opcode.substr(std::string("HGMMA.64x").size()));
  EXPECT_NEAR(loop.predicted(), 2 * 8 * columns / 2, 4);

  // Full and empty barriers: who waits for one signals the other.
  const auto found = handshakes(*kernel.function, kernel.reach);
  ASSERT_EQ(found.size(), 2u);
  const auto use = [](const Handshake& handshake, const std::string& does) {
    for (const Handshake::Use& use : handshake.uses)
      if (use.does == does) return text_of(use.who);
    return std::string("nobody");
  };
  EXPECT_EQ(use(found[0], "waits"), "4-11");
  // Warp 0 loads. That the consumers never come here is more than the analysis can tell of this
  // code.
  EXPECT_TRUE(use(found[0], "bulk copies signal").starts_with("0"));
  EXPECT_TRUE(use(found[1], "waits").starts_with("0"));
  EXPECT_EQ(use(found[1], "arrives"), "4-11");
}

// Warps 0-3 multiply, warps 4-7 take square roots, in one loop; often enough that ptxas branches.
std::string two_roles() {
  std::string multiplies, roots;
  for (int i = 0; i < 16; ++i) {
    multiplies += "  fma.rn.f32 %x, %x, %x, %x;\n";
    roots += "  rsqrt.approx.ftz.f32 %x, %x;\n";
  }
  return R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry roles(.param .u64 p_out, .param .u32 p_n) .maxntid 256 {
  .reg .pred %second, %more;
  .reg .b32 %t, %group, %n, %zero;
  .reg .f32 %x;
  .reg .b64 %out;
  ld.param.u64 %out, [p_out];
  ld.param.u32 %n, [p_n];
  mov.u32 %t, %tid.x;
  mov.u32 %zero, %ctaid.y;
  shr.u32 %group, %t, 7;
  shfl.sync.idx.b32 %group, %group, 0, 31, 0xffffffff;
  setp.ne.u32 %second, %group, 0;
  cvt.rn.f32.u32 %x, %t;
.pragma "nounroll";
again:
.pragma "nounroll";
  @%second bra roots;
)" + multiplies +
         R"(  st.global.f32 [%out], %x;
  bra joined;
roots:
)" + roots +
         R"(  st.global.f32 [%out+4], %x;
joined:
  sub.u32 %n, %n, 1;
  setp.ne.u32 %more, %n, %zero;
  @%more bra again;
  ret;
}
)";
}

TEST(SassAnalysis, RolesWithinOneLoop) {
  const Assembled assembled = assemble(two_roles(), Target::sm_90a);
  const KernelAnalysis kernel = analyse(disassemble(assembled.cubin, "roles"), table());
  ASSERT_EQ(kernel.hot.size(), 1u);
  const LoopAnalysis& loop = kernel.hot[0];
  ASSERT_EQ(loop.parts.size(), 2u);
  const auto on = [](const PartAnalysis& part, std::string_view pipe) {
    const auto found = std::ranges::find(part.pipes, pipe, &PipeLoad::pipe);
    return found == part.pipes.end() ? 0 : found->instructions;
  };
  EXPECT_EQ(text_of(loop.parts[0].who), "0-3");
  EXPECT_EQ(on(loop.parts[0], "fma"), 16);
  EXPECT_EQ(on(loop.parts[0], "xu"), 0);
  EXPECT_EQ(text_of(loop.parts[1].who), "4-7");
  EXPECT_EQ(on(loop.parts[1], "fma"), 0);
  EXPECT_EQ(on(loop.parts[1], "xu"), 16);
  EXPECT_EQ(loop.warps(), 8);
}

}  // namespace
}  // namespace assay::sass
