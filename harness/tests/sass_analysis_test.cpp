// SPDX-License-Identifier: Apache-2.0
// The analysis of machine code against what was measured on a GPU: results/h200 holds both the cost
// of instructions and the time of loops that the analysis has not seen.
#include "harness/sass/analysis.hpp"

#include <gtest/gtest.h>

#include <string>

#include "harness/cubin.hpp"
#include "harness/error.hpp"
#include "harness/sass/measured_loops.hpp"
#include "harness/sass/stages.hpp"
#include "harness/verification.hpp"

namespace assay {
namespace {

std::string results() {
  return std::string(ASSAY_SOURCE_DIR) + "/results/h200/2026-11-21-full/run.json";
}

const CostTable& table() {
  static const CostTable instance = CostTable::read(results());
  return instance;
}

KernelAnalysis analysis_of_case(const std::string& name, std::size_t kernel = 0) {
  const auto selected = select("^" + name + "$", "full");
  const auto verified = verify_all({{selected.at(0), Target::sm_90a}});
  const KernelCode& code = verified.at(0).code.at(kernel);
  return analyse(code.function, table(), {.loop = code.loop});
}

// Predicted over measured cycles of the loop that a case measures.
double ratio(const std::string& name, std::size_t kernel = 0) {
  static const MeasuredLoops measured{results()};
  const KernelAnalysis analysis = analysis_of_case(name, kernel);
  const LoopAnalysis& loop = analysis.hot.at(0);
  const auto found = measured.find(*analysis.function, loop, name);
  if (!found) return 0;
  return loop.predicted() / found->cycles;
}

TEST(SassAnalysis, PredictsTheLoopsItsTableIsFrom) {
  EXPECT_NEAR(ratio("tensor_core/wgmma/bf16/m64n256/ss"), 1, 0.1);
  EXPECT_NEAR(ratio("special_function/ex2/f32"), 1, 0.1);
  EXPECT_NEAR(ratio("memory/shared/read"), 1, 0.1);
  // Latency kernels: one warp, by stall counts and scoreboards.
  EXPECT_NEAR(ratio("special_function/ex2/f32", 1), 1, 0.1);
  EXPECT_NEAR(ratio("sass/ffma/f32", 1), 1, 0.1);
  EXPECT_NEAR(ratio("tensor_core/wgmma/bf16/m64n256/ss", 1), 1, 0.1);
}

// Nothing of the table was measured on these.
TEST(SassAnalysis, PredictsOtherLoops) {
  EXPECT_NEAR(ratio("kernels/gemm/bf16/m8192n8192k8192/nt"), 1, 0.1);
  EXPECT_NEAR(ratio("memory/l1/latency/index"), 1, 0.1);
  // Two units at once get into each other's way, by how much is what was measured: the bound holds.
  for (const char* overlap :
       {"special_function/overlap/mma_sync", "special_function/overlap_wgmma/m64n256"}) {
    EXPECT_GT(ratio(overlap), 0.75) << overlap;
    EXPECT_LT(ratio(overlap), 1.0) << overlap;
  }
}

TEST(SassAnalysis, WarpSpecializedGemm) {
  const KernelAnalysis kernel = analysis_of_case("kernels/gemm/bf16/m8192n8192k8192/nt");
  EXPECT_EQ(kernel.warps, 12);
  const LoopAnalysis& loop = kernel.hot.at(0);
  EXPECT_EQ(loop.bound_by(), "tensor");
  EXPECT_EQ(loop.shape.depth, 2);
  ASSERT_EQ(loop.parts.size(), 1u);
  EXPECT_EQ(text_of(loop.parts[0].who), "4-11");  // two consumer warpgroups
  EXPECT_NEAR(loop.predicted(), 2 * 4 * 128, 4);

  const auto stages = stages_of(*kernel.function, loop.parts[0].schedule, table());
  const auto wait = std::ranges::find_if(
      stages, [](const Stage& stage) { return stage.what.starts_with("groups of MMAs"); });
  ASSERT_NE(wait, stages.end());
  ASSERT_TRUE(wait->awaited);
  EXPECT_EQ(wait->awaited->iterations_ago, 1);  // one group stays in flight
  const auto work = std::ranges::find_if(stages, [](const Stage& s) { return !s.matrix.empty(); });
  ASSERT_NE(work, stages.end());
  EXPECT_EQ(work->matrix.at("HGMMA.64x256x16.F32.BF16"), 4);

  // Full and empty barriers: who waits for one signals the other.
  const auto found = handshakes(*kernel.function, kernel.reach);
  ASSERT_EQ(found.size(), 2u);
  const auto use = [](const Handshake& handshake, const std::string& does) {
    for (const Handshake::Use& use : handshake.uses)
      if (use.does == does) return text_of(use.who);
    return std::string("nobody");
  };
  EXPECT_EQ(use(found[0], "waits"), "4-11");
  EXPECT_EQ(use(found[0], "bulk copies signal"), "0");
  EXPECT_EQ(use(found[1], "waits"), "0");
  EXPECT_EQ(use(found[1], "arrives"), "4-11");
}

TEST(SassAnalysis, RolesWithinOneLoop) {
  const KernelAnalysis kernel = analysis_of_case("special_function/overlap_wgmma/m64n256");
  const LoopAnalysis& loop = kernel.hot.at(0);
  ASSERT_EQ(loop.parts.size(), 2u);
  EXPECT_EQ(text_of(loop.parts[0].who), "0-3");
  EXPECT_EQ(loop.parts[0].pipes[0].pipe, "tensor");
  EXPECT_EQ(text_of(loop.parts[1].who), "4-7");
  EXPECT_EQ(loop.parts[1].pipes[0].pipe, "xu");
}

}  // namespace
}  // namespace assay
