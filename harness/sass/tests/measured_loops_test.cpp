// SPDX-License-Identifier: Apache-2.0
// Which measurement of a result file belongs to a loop: only one of the same kernel for the same
// architecture whose loop held the same instructions.
#include "harness/sass/measured_loops.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "harness/code/sass_check.hpp"
#include "harness/code/verification.hpp"
#include "harness/run/json_io.hpp"
#include "harness/run/selection.hpp"
#include "harness/tests/scratch.hpp"

namespace assay::sass {
namespace {

constexpr const char* kCase = "special_function/ex2/f32";

class Measured : public ScratchFolder {
 protected:
  Measured() {
    const auto verified =
        verify_all({{select(std::string("^") + kCase + "$", "full").at(0), Target::sm_90a}});
    code_ = verified.at(0).code.at(0);
    record_ = verified.at(0).kernels.at(0);
    analysis_ = analyse(code_.function,
                        CostTable::read(ASSAY_SOURCE_DIR "/results/h200/2026-11-22-full/run.json"),
                        {.loop = code_.loop});
  }

  const Function& function() const { return *code_.function; }
  const LoopAnalysis& loop() const { return analysis_.hot.at(0); }

  // A measurement of this loop that counted so many cycles.
  Json measurement(double cycles, const char* name = kCase) const {
    return {{"name", name},
            {"status", "ok"},
            {"metrics", {{"latency_cycles", {{"unit", ""}, {"value", 20.0}}}}},
            {"samples", {{"cycles", {cycles, cycles + 2, cycles - 2}}}},
            {"sass",
             {{"target", function().arch},
              {"kernel", function().name},
              {"loop", count_opcodes(function(), loop().shape.loop.body)}}}};
  }
  // A result file that holds these, read.
  MeasuredLoops run_of(const std::vector<Json>& measurements) const {
    const auto path = folder() / "run.json";
    std::ofstream(path) << Json{{"schema", "assay.run/1"},
                                {"environment", {{"gpu", nullptr}}},
                                {"measurements", measurements}};
    return MeasuredLoops(path);
  }

  KernelCode code_;
  SassRecord record_;
  KernelAnalysis analysis_;
};

TEST_F(Measured, TheFastestOfSeveralOfTheSameLoop) {
  const auto found =
      run_of({measurement(120, "slow"), measurement(100, "fast")}).find(function(), loop());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cycles, 100);
  EXPECT_EQ(found->name, "fast");
}

TEST_F(Measured, NothingOfAnotherKernelLoopOrArchitecture) {
  Json kernel = measurement(100), loop_of = measurement(100), arch = measurement(100),
       failed = measurement(100);
  kernel["sass"]["kernel"] = "another";
  loop_of["sass"]["loop"]["MUFU.EX2"] = 1;
  arch["sass"]["target"] = "sm_100a";
  failed["status"] = "failed";
  EXPECT_FALSE(run_of({kernel, loop_of, arch, failed}).find(function(), loop()));
}

TEST_F(Measured, TheFirstKernelOfACaseWhateverItWasCalled) {
  Json renamed = measurement(100);
  renamed["sass"]["kernel"] = "its_former_name";
  const MeasuredLoops run = run_of({renamed});
  EXPECT_TRUE(run.find(function(), loop(), kCase, record_, true));
  EXPECT_FALSE(run.find(function(), loop(), kCase, record_, false));
  EXPECT_FALSE(run.find(function(), loop(), "special_function/rcp/f32", record_, true));
}

TEST_F(Measured, AKernelForLatencyTakesThatForEachOfItsInstructions) {
  SassRecord latency = record_;
  latency.role = Role::latency;
  latency.instruction = {{"MUFU.EX2", 128}};
  const auto found = run_of({measurement(100)}).find(function(), loop(), kCase, latency, false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cycles, 128 * 20.0);
}

TEST_F(Measured, WithoutCountedCyclesOrWorkThereIsNone) {
  Json timed = measurement(100);
  timed["samples"] = {{"time_us", {1.0, 2.0}}};
  EXPECT_FALSE(run_of({timed}).find(function(), loop()));
}

// ex2 does no matrix math, so the FLOP of a matrix instruction are tried on a GEMM's loop.
TEST_F(Measured, CyclesFollowFromTheRateOfMatrixMath) {
  const auto verified = verify_all(
      {{select("^kernels/gemm/bf16/m8192n8192k8192/nt$", "full").at(0), Target::sm_90a}});
  const KernelCode& code = verified.at(0).code.at(0);
  const KernelAnalysis gemm = analyse(
      code.function, CostTable::read(ASSAY_SOURCE_DIR "/results/h200/2026-11-22-full/run.json"),
      {.loop = code.loop});
  Json m = measurement(0);
  m.erase("samples");
  m["metrics"] = {{"flop_per_clock_per_sm", {{"unit", ""}, {"value", 4096.0}}}};
  m["sass"] = {{"target", code.function->arch},
               {"kernel", code.function->name},
               {"loop", count_opcodes(*code.function, gemm.hot.at(0).shape.loop.body)}};
  const auto found = run_of({m}).find(*code.function, gemm.hot.at(0));
  ASSERT_TRUE(found);
  // Two warpgroups, eight products of 64 x N x 16 each: N / 2 cycles a product at the peak,
  // whatever tile this product takes.
  const std::string mma = "HGMMA.64x";
  int columns = 0;
  for (const auto& [opcode, count] : m["sass"]["loop"].items()) {
    if (!opcode.starts_with(mma)) continue;
    columns = std::stoi(opcode.substr(mma.size()));
    EXPECT_EQ(count, 8);
  }
  EXPECT_GT(columns, 0);
  EXPECT_NEAR(found->cycles, 2 * 8 * columns / 2, 1e-6);
}

}  // namespace
}  // namespace assay::sass
