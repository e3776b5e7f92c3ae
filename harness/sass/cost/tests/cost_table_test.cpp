// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/cost/cost_table.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "harness/target_table.hpp"
#include "harness/tests/scratch.hpp"

namespace assay::sass {
namespace {

// A run of made-up figures, round ones.
constexpr const char* kRun = R"({
 "schema": "assay.run/1",
 "environment": {"gpu": {"name": "Paper GPU", "architecture": "sm_90"}},
 "measurements": [
  {"name": "sass/ffma/f32", "status": "ok",
   "metrics": {"ops_per_clock_per_sm": {"unit": "", "value": 128}, "latency_cycles": {"unit": "", "value": 4.5}},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"FFMA": 512}}}},
  {"name": "sass/imad/s32", "status": "ok", "metrics": {"ops_per_clock_per_sm": {"unit": "", "value": 64}},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"IMAD": 512}}}},
  {"name": "sass/imad/hi", "status": "ok", "metrics": {"ops_per_clock_per_sm": {"unit": "", "value": 31.6}},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"IMAD.HI": 512}}}},
  {"name": "sass/imad/wide", "status": "ok", "metrics": {"ops_per_clock_per_sm": {"unit": "", "value": 32}},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"IMAD.WIDE.U32": 512}}}},
  {"name": "sass/shfl/idx", "status": "ok", "metrics": {"ops_per_clock_per_sm": {"unit": "", "value": 32}},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"SHFL.IDX": 512}}}},
  {"name": "sass/both", "status": "ok", "metrics": {"ops_per_clock_per_sm": {"unit": "", "value": 1000}},
   "sass": {"loop": {"FMUL": 512, "POPC": 512}}},
  {"name": "sass/failed", "status": "failed", "reason": "wrong",
   "sass": {"instruction": {"role": "throughput", "opcodes": {"LOP3.LUT": 512}}}},
  {"name": "sass/pipes/mufu/rcp", "status": "ok",
   "params": {"pipe": "xu"},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"MUFU.RCP": 33}}},
   "metrics": {"cycles_per_instruction": {"unit": "", "value": 8}}},
  {"name": "sass/pipes/vimnmx", "status": "ok",
   "sass": {"instruction": {"role": "throughput", "opcodes": {"VIMNMX": 33}}},
   "counters": {"sm__inst_executed_pipe_alu.sum": 3, "sm__inst_executed_pipe_fmaheavy.sum": 512,
                "sm__inst_executed_pipe_fma.sum": 512},
   "metrics": {"cycles_per_instruction": {"unit": "", "value": 2}}},
  {"name": "tensor_core/mma_sync/f16/m16n8k16", "status": "ok",
   "metrics": {"flop_per_clock_per_sm": {"unit": "", "value": 4096}},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"HMMA.16816.F32": 32}}}},
  {"name": "tensor_core/wgmma/bf16/m64n64/ss", "status": "ok", "params": {"source": "ss"},
   "metrics": {"flop_per_clock_per_sm": {"unit": "", "value": 4096}},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"HGMMA.64x64x16.F32.BF16": 32}}}},
  {"name": "tensor_core/wgmma/bf16/m64n128/ss", "status": "ok", "params": {"source": "ss"},
   "metrics": {"flop_per_clock_per_sm": {"unit": "", "value": 4096}},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"HGMMA.64x128x16.F32.BF16": 32}}}},
  {"name": "tensor_core/wgmma/bf16/m64n64/rs", "status": "ok", "params": {"source": "rs"},
   "metrics": {"flop_per_clock_per_sm": {"unit": "", "value": 2048}},
   "sass": {"instruction": {"role": "throughput", "opcodes": {"HGMMA.64x64x16.F32.BF16": 32}}}},
  {"name": "memory/shared/read", "status": "ok",
   "metrics": {"bytes_per_clock_per_sm": {"unit": "", "value": 128}},
   "sass": {"instruction": {"role": "bandwidth", "opcodes": {"LDS.128": 4}}}}
 ]})";

class CostTableTest : public ScratchFolder {
 protected:
  CostTable table(const std::string& run = kRun) const {
    std::ofstream(folder() / "run.json") << run;
    return CostTable::read(folder() / "run.json");
  }
};

void expect(const CostTable& table, const Instruction& instruction, std::string_view pipe,
            double cycles, Basis basis) {
  const Cost cost = table.cost(instruction);
  EXPECT_EQ(cost.pipe->name, pipe) << instruction.text();
  EXPECT_NEAR(cost.cycles, cycles, 1e-9) << instruction.text();
  EXPECT_EQ(name(cost.basis), name(basis)) << instruction.text() << " " << cost.source;
}

TEST_F(CostTableTest, ArithmeticPerScheduler) {
  const CostTable costs = table();
  expect(costs, {.opcode = "FFMA"}, "fma", 1, Basis::measured);
  expect(costs, {.opcode = "FFMA.FTZ"}, "fma", 1, Basis::related);
  expect(costs, {.opcode = "IMAD"}, "fmaheavy", 2, Basis::measured);
  expect(costs, {.opcode = "FADD"}, "fma", 1, Basis::pipe);
  // A loop of two instructions tells the cost of neither, and what failed tells nothing.
  expect(costs, {.opcode = "POPC"}, "xu", 8, Basis::pipe);
  expect(costs, {.opcode = "LOP3.LUT"}, "alu", 2, Basis::documented);
  expect(costs, {.opcode = "UIADD3"}, "uniform", 1, Basis::assumed);
  EXPECT_EQ(costs.latency({.opcode = "FFMA"}).cycles, 4.5);
  EXPECT_EQ(costs.latency({.opcode = "UIADD3"}).basis, Basis::assumed);
}

TEST_F(CostTableTest, AnUnmeasuredFormIsLikeThePlainestOfItsKind) {
  const CostTable costs = table();
  for (const char* opcode : {"IMAD.MOV.U32", "IMAD.IADD", "IMAD.SHL.U32", "IMAD.X"})
    expect(costs, {.opcode = opcode}, "fmaheavy", 2, Basis::related);
  expect(costs, {.opcode = "IMAD.WIDE"}, "fmaheavy", 4, Basis::related);
  expect(costs, {.opcode = "IMAD.HI.U32"}, "fmaheavy", 128 / 31.6, Basis::related);
}

// Only what was measured of the very opcode counts, and nothing of what may not be executed.
TEST_F(CostTableTest, TheLeastThatAnInstructionTakes) {
  const CostTable costs = table();
  EXPECT_EQ(costs.least_cycles({.opcode = "IMAD"}), 2);
  EXPECT_EQ(costs.least_cycles({.opcode = "IMAD.HI"}), 4);  // 4.05 with the loop around it
  EXPECT_EQ(costs.least_cycles({.opcode = "IMAD.MOV.U32"}), 0);
  EXPECT_EQ(costs.least_cycles({.opcode = "LOP3.LUT"}), 0);
  EXPECT_EQ(costs.least_cycles({.predicate = "@P0", .opcode = "IMAD"}), 0);
  EXPECT_EQ(costs.least_cycles({.opcode = "LDS.128"}), 1);  // lanes may share an address
}

TEST_F(CostTableTest, SharedPipesPerSm) {
  const CostTable costs = table();
  expect(costs, {.opcode = "SHFL.IDX"}, "lsu", 1, Basis::measured);
  expect(costs, {.opcode = "LDS.128"}, "lsu", 4, Basis::measured);
  expect(costs, {.opcode = "LDS.64"}, "lsu", 2, Basis::related);
  expect(costs, {.opcode = "STS"}, "lsu", 1, Basis::related);
  expect(costs, {.opcode = "LDSM.16.M88.4"}, "lsu", 4, Basis::related);
}

TEST_F(CostTableTest, MeasuredPipesOverrideTheDocumentedOnes) {
  const CostTable costs = table();
  expect(costs, {.opcode = "MUFU.RCP"}, "xu", 8, Basis::measured);
  expect(costs, {.opcode = "VIMNMX"}, "fmaheavy", 2, Basis::measured);
  EXPECT_EQ(documented_pipe("VIMNMX").name, "alu");
}

TEST_F(CostTableTest, MatrixInstructionsByShape) {
  const CostTable costs = table();
  expect(costs, {.opcode = "HMMA.16816.F32"}, "tensor", 4, Basis::measured);
  expect(costs, {.opcode = "HMMA.1688.F32"}, "tensor", 2, Basis::related);
  const auto hgmma = [](int n, const char* operands) {
    return Instruction{.opcode = "HGMMA.64x" + std::to_string(n) + "x16.F32.BF16",
                       .operands = operands};
  };
  const char* const ss = "R24, gdesc[UR4], R24";
  const char* const rs = "R24, R4, gdesc[UR4], R24";
  expect(costs, hgmma(64, ss), "tensor", 32, Basis::measured);
  expect(costs, hgmma(64, rs), "tensor", 64, Basis::measured);
  expect(costs, hgmma(96, ss), "tensor", 48, Basis::related);
  expect(costs, hgmma(256, ss), "tensor", 128, Basis::related);
  expect(costs, hgmma(8, ss), "tensor", 32, Basis::related);  // the knee is not known
}

std::optional<DocumentedRate> rate(const char* opcode, std::string_view arch) {
  return documented_rate(opcode, documented_pipe(opcode), arch);
}

// "Throughput of Native Arithmetic Instructions" of the CUDA C++ Programming Guide and the Best
// Practices Guide.
TEST(DocumentedRates, WhereTargetsDiffer) {
  struct Row {
    const char* arch;
    double fadd, hfma2, dfma, iadd3, shfl;
  };
  for (const Row& row :
       {Row{"sm_75", 64, 64, 2, 64, 16}, Row{"sm_80", 64, 128, 32, 64, 32},
        Row{"sm_89", 128, 64, 2, 64, 32}, Row{"sm_90a", 128, 128, 64, 64, 32},
        Row{"sm_120a", 128, 64, 2, 128, 32}, Row{"sm_121a", 128, 64, 2, 128, 32}}) {
    EXPECT_EQ(rate("FADD", row.arch), (DocumentedRate{row.fadd, true})) << row.arch;
    EXPECT_EQ(rate("HFMA2", row.arch), (DocumentedRate{row.hfma2, true})) << row.arch;
    EXPECT_EQ(rate("DFMA", row.arch), (DocumentedRate{row.dfma, true})) << row.arch;
    EXPECT_EQ(rate("IADD3", row.arch), (DocumentedRate{row.iadd3, true})) << row.arch;
    EXPECT_EQ(rate("SHFL.BFLY", row.arch), (DocumentedRate{row.shfl, true})) << row.arch;
    EXPECT_EQ(rate("LOP3.LUT", row.arch), (DocumentedRate{64, true})) << row.arch;
  }
  EXPECT_EQ(rate("FFMA", "sm_86"), (DocumentedRate{128, true}));
  EXPECT_EQ(rate("DFMA", "sm_100"), (DocumentedRate{64, true}));
  EXPECT_EQ(rate("F2I.TRUNC.NTZ", "sm_90"), (DocumentedRate{16, true}));
  EXPECT_EQ(rate("F2I.TRUNC.NTZ", "sm_120"), (DocumentedRate{2, true}));
}

TEST(DocumentedRates, SayWhatWasNotChecked) {
  EXPECT_EQ(rate("HFMA2", "sm_86"), (DocumentedRate{64, false}));  // sources disagree
  EXPECT_EQ(rate("FADD", "sm_87"), (DocumentedRate{128, false}));  // the table has no such column
  EXPECT_EQ(rate("DFMA", "sm_103a"), (DocumentedRate{2, false}));
  EXPECT_EQ(rate("PRMT", "sm_90"), (DocumentedRate{64, false}));  // nor such a row
  EXPECT_EQ(rate("IMAD", "sm_120"), (DocumentedRate{64, true}));
  EXPECT_EQ(rate("IMAD.WIDE.U32", "sm_120"), (DocumentedRate{64, false}));
  EXPECT_EQ(rate("HFMA2.BF16_V2", "sm_80"), (DocumentedRate{128, false}));
  EXPECT_EQ(rate("HADD2.F32", "sm_90"), (DocumentedRate{64, false}));
  EXPECT_EQ(rate("HFMA2.OOB", "sm_90"), (DocumentedRate{64, false}));
  EXPECT_EQ(rate("HADD2.BF16_V2", "sm_90"), (DocumentedRate{128, false}));
  EXPECT_EQ(rate("LDS.128", "sm_90"), (DocumentedRate{32, false}));
  EXPECT_EQ(rate("F2F.F64.F32", "sm_90"), (DocumentedRate{16, false}));
  EXPECT_EQ(rate("FADD", "sm_70"), std::nullopt);  // nothing is claimed of what was not looked up
}

TEST(DocumentedRates, AgreeWithTheTableOfTargets) {
  for (const TargetRow& row : kTargetTable) {
    const auto expect_same = [&](const char* opcode, double known) {
      const auto documented = rate(opcode, row.name);
      if (known <= 0 || !documented || !documented->checked) return;
      EXPECT_EQ(documented->threads, known) << opcode << " on " << row.name;
    };
    expect_same("HFMA2", row.scalar.half2);
    expect_same("DFMA", row.scalar.f64);
    expect_same("IADD3", row.scalar.iadd3);
    expect_same("MUFU.EX2", row.scalar.ex2);
  }
}

TEST_F(CostTableTest, AnUncheckedRateSaysSo) {
  const CostTable costs = table();
  const Cost checked = costs.cost({.opcode = "LOP3.LUT"}),
             unchecked = costs.cost({.opcode = "PRMT"});
  EXPECT_EQ(name(checked.basis), "documented");
  EXPECT_EQ(name(unchecked.basis), "unchecked");
  EXPECT_EQ(checked.source.find("not checked"), std::string::npos);
  EXPECT_NE(unchecked.source.find("not checked"), std::string::npos) << unchecked.source;
  EXPECT_EQ(costs.least_cycles({.opcode = "PRMT"}), 0);
}

TEST_F(CostTableTest, FilesThatAreNoTables) {
  EXPECT_NE(
      message_of(ExitCode::usage, [&] { table("{\"schema\": \"other/1\"}"); }).find("other/1"),
      std::string::npos);
  EXPECT_NE(message_of(ExitCode::usage,
                       [&] {
                         table(R"({"schema": "assay.run/1", "environment": {"gpu": null},
                                   "measurements": []})");
                       })
                .find("no measured instruction"),
            std::string::npos);
}

TEST(MatrixShape, OfOpcodes) {
  const auto text = [](std::string_view opcode) {
    const auto shape = matrix_shape(opcode);
    return shape ? std::to_string(shape->m) + " " + std::to_string(shape->n) + " " +
                       std::to_string(shape->k)
                 : std::string("none");
  };
  EXPECT_EQ(text("HMMA.16816.F32"), "16 8 16");
  EXPECT_EQ(text("HMMA.1688.F32.TF32"), "16 8 8");
  EXPECT_EQ(text("IMMA.16832.S8.S8"), "16 8 32");
  EXPECT_EQ(text("DMMA.8x8x4"), "8 8 4");
  EXPECT_EQ(text("HGMMA.64x256x16.F32.BF16"), "64 256 16");
  EXPECT_EQ(text("FFMA.FTZ"), "none");
  EXPECT_EQ(text("LDG.E.128"), "none");
}

}  // namespace
}  // namespace assay::sass
