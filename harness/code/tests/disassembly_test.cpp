// SPDX-License-Identifier: Apache-2.0
#include "harness/code/disassembly.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "harness/code/assembler.hpp"
#include "harness/code/control_flow.hpp"
#include "harness/code/tests/samples.hpp"
#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/files.hpp"

namespace assay {
namespace {
namespace fs = std::filesystem;

// A function from lines such as "@P0 BRA 0x10", 16 bytes apart.
Function written(const std::vector<std::string>& lines) {
  std::string listing = "\t.headerflags\t@\"EF_CUDA_SM90\"\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    char address[32];
    std::snprintf(address, sizeof address, "        /*%04zx*/   ", 16 * i);
    listing += address + lines[i] + (i % 2 ? ";\n" : " ;\n");
  }
  return {.name = "written",
          .arch = "sm_90a",
          .cubin_sha256 = {},
          .code = parse_listing(listing),
          .routines = {}};
}

TEST(Disassembly, ParsesALine) {
  const Function function =
      written({"@!UP1 LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10]", "@P0 BRA 0x0",
               "BRA.U UP0, 0x10", "NOP", "@!PT UIADD3 URZ",
               "FSETP.NEU.AND P0, PT, |R15|, +INF , PT", "STL [R1], R4      (*\"SpillRefill\"*)"});
  ASSERT_EQ(function.code.size(), 7u);
  const Instruction& load = function.code[0];
  EXPECT_EQ(load.address, 0u);
  EXPECT_EQ(load.predicate, "@!UP1");
  EXPECT_EQ(load.opcode, "LDG.E.128.CONSTANT");
  EXPECT_EQ(load.operands, "R4, desc[UR4][R2.64+0x10]");
  EXPECT_EQ(load.text(), "@!UP1 LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10]");
  EXPECT_FALSE(load.target);
  EXPECT_TRUE(load.is("LDG.E"));
  EXPECT_FALSE(load.is("LD"));
  EXPECT_EQ(function.code[1].target, 0u);
  EXPECT_EQ(function.code[2].target, 0x10u);
  EXPECT_EQ(function.code[3].operands, "");
  EXPECT_TRUE(function.code[4].never_executes());
  EXPECT_EQ(function.code[5].operands, "P0, PT, |R15|, +INF , PT");
  EXPECT_EQ(function.code[6].operands, "[R1], R4");
  EXPECT_THROW(parse_listing("/*zz*/ NOP ;\n"), Error);
  EXPECT_THROW(parse_listing("/*0000*/ NOP\n"), Error);
}

std::vector<std::vector<std::size_t>> bodies(const Function& function) {
  std::vector<std::vector<std::size_t>> result;
  for (const Loop& loop : find_loops(function)) result.push_back(loop.body);
  return result;
}

using Bodies = std::vector<std::vector<std::size_t>>;

TEST(ControlFlow, LoopAndTrap) {
  EXPECT_EQ(bodies(written(
                {"MOV R0, R1", "FFMA R0, R0, R1, R2", "@P0 BRA 0x10", "EXIT", "BRA 0x40", "NOP"})),
            (Bodies{{1, 2}}));
}

TEST(ControlFlow, NestedLoopsAndUniformBranch) {
  EXPECT_EQ(bodies(written({"NOP", "FADD R0, R0, R1", "FFMA R0, R0, R1, R2", "BRA.U UP0, 0x20",
                            "@!P0 BRA 0x10", "EXIT"})),
            (Bodies{{1, 2, 3, 4}, {2, 3}}));
}

// The fallback of BRA.DIV lies behind EXIT and jumps back into the straight code: no loop.
TEST(ControlFlow, OutOfLineCodeIsNoLoop) {
  EXPECT_EQ(bodies(written({"BRA.DIV UR4, 0x40", "SHFL.IDX PT, R0, R1, R2, R3",
                            "STG.E desc[UR4][R2.64], R0", "EXIT", "WARPSYNC.COLLECTIVE R6, 0x50",
                            "BRA 0x20"})),
            Bodies{});
}

// The same fallback of code in a loop belongs to the loop, although it lies outside.
TEST(ControlFlow, LoopWithPartOutOfLine) {
  EXPECT_EQ(bodies(written({"NOP", "@P1 BRA 0x50", "FADD R0, R0, R1", "@P0 BRA 0x10", "EXIT",
                            "FMUL R0, R0, R1", "BRA 0x20"})),
            (Bodies{{1, 2, 3, 5, 6}}));
}

TEST(ControlFlow, DivergenceBarriersAndNeverExecuted) {
  EXPECT_EQ(bodies(written({"BSSY B0, 0x40", "@P0 BRA 0x30", "FADD R0, R0, R1", "BSYNC B0",
                            "@!PT BRA 0x0", "EXIT"})),
            Bodies{});
}

class DisassemblyTarget : public ::testing::TestWithParam<Target> {};

TEST_P(DisassemblyTarget, ChainOfMultiplyAdds) {
  const Target target = GetParam();
  const Assembled assembled = assemble(samples::fma_chain(target), target);
  const auto function = disassemble(assembled.cubin, "fma_chain");
  EXPECT_EQ(function->arch, name(target));
  EXPECT_EQ(function->stack_bytes, 0u);
  EXPECT_GE(function->registers, 8u);
  EXPECT_EQ(function->cubin_sha256.size(), 64u);
  for (std::size_t i = 0; i < function->code.size(); ++i) {
    EXPECT_EQ(function->code[i].address, 16 * i);
    EXPECT_NE(function->code[i].words[0], 0u);
  }
  const std::vector<Loop> loops = find_loops(*function);
  ASSERT_EQ(loops.size(), 1u);
  const auto chain = std::ranges::count_if(
      loops[0].body, [&](std::size_t i) { return function->code[i].is("FFMA"); });
  EXPECT_EQ(chain, 8);
}

INSTANTIATE_TEST_SUITE_P(Gpu, DisassemblyTarget, ::testing::ValuesIn(all_gpu_targets()),
                         [](const auto& target) { return std::string(name(target.param)); });

TEST(Disassembly, ManyAtOnceEqualOneByOne) {
  std::vector<std::vector<char>> cubins;
  for (const Target target : all_gpu_targets()) {
    cubins.push_back(assemble(samples::mma_s4(target), target).cubin);
    cubins.push_back(assemble(samples::fma_chain(target), target).cubin);
  }
  std::vector<FunctionRef> refs;
  for (std::size_t i = 0; i < cubins.size(); ++i)
    refs.push_back({cubins[i], i % 2 ? "fma_chain" : "mma_s4"});
  const auto together = disassemble(refs);
  ASSERT_EQ(together.size(), refs.size());
  for (std::size_t i = 0; i < refs.size(); ++i) {
    EXPECT_EQ(together[i]->name, refs[i].kernel);
    EXPECT_EQ(together[i], disassemble(refs[i].elf, refs[i].kernel));  // remembered
    for (const Instruction& instruction : together[i]->code) {
      EXPECT_TRUE(!instruction.is("BRA") || instruction.target) << instruction.text();
    }
  }
}

// nvdisasm, with a line in a file for each time that it is called, and a folder for what is kept.
class KeptListings : public ::testing::Test {
 protected:
  KeptListings() {
    const fs::path tool = folder_.path() / "nvdisasm";
    std::ofstream(tool) << "#!/bin/sh\necho once >> " << calls_.string() << "\nexec "
                        << find_tool("nvdisasm") << " \"$@\"\n";
    fs::permissions(tool, fs::perms::owner_all);
    setenv("ASSAY_NVDISASM", tool.c_str(), 1);
    setenv("ASSAY_CACHE_DIR", kept_.c_str(), 1);
  }
  ~KeptListings() override {
    unsetenv("ASSAY_NVDISASM");
    unsetenv("ASSAY_CACHE_DIR");
  }
  int calls() const {
    std::ifstream file(calls_);
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }
  // Of the same machine code under another name, so that nothing in memory is of use.
  static std::vector<char> named(const std::string& name) {
    return assemble(samples::loop_kernel(Target::sm_90a, name, "add.f32 %f0, %f0, %f1;\n"),
                    Target::sm_90a)
        .cubin;
  }

  PrivateFolder folder_;
  fs::path calls_ = folder_.path() / "calls", kept_ = folder_.path() / "kept";
};

TEST_F(KeptListings, AreReadByTheNextProgram) {
  const auto first = disassemble(named("first"), "first");
  ASSERT_EQ(calls(), 1);
  const auto second = disassemble(named("second"), "second");
  EXPECT_EQ(calls(), 1);
  ASSERT_EQ(first->code.size(), second->code.size());
  for (std::size_t i = 0; i < first->code.size(); ++i)
    EXPECT_EQ(first->code[i].text(), second->code[i].text());
}

TEST_F(KeptListings, AreMadeAnewWhereTheyAreDamaged) {
  disassemble(named("whole"), "whole");
  for (const auto& file : fs::directory_iterator(kept_))
    if (file.path().extension() == ".sass")
      fs::resize_file(file.path(), fs::file_size(file.path()) / 2);
  EXPECT_FALSE(disassemble(named("damaged"), "damaged")->code.empty());
  EXPECT_EQ(calls(), 2);
}

TEST_F(KeptListings, AreNoneOfAnotherTool) {
  disassemble(named("before"), "before");
  std::ofstream(folder_.path() / "nvdisasm", std::ios::app) << "# a newer one\n";
  disassemble(named("after"), "after");
  EXPECT_EQ(calls(), 2);
}

TEST_F(KeptListings, AreNoneOfThousandsThatAreLookedAtOnce) {
  const std::vector<char> cubin = named("once");
  const FunctionRef ref{cubin, "once"};
  EXPECT_EQ(disassemble_anew(std::span(&ref, 1)).size(), 1u);
  EXPECT_EQ(disassemble_anew(std::span(&ref, 1)).size(), 1u);
  EXPECT_EQ(calls(), 2);
}

std::string callee_of(const Function& function) {
  const auto call = std::ranges::find_if(
      function.code, [](const Instruction& instruction) { return instruction.is("CALL"); });
  return call == function.code.end() ? "" : call->callee;
}

TEST(Disassembly, CallsHaveNames) {
  for (const Target target : {Target::sm_90a, Target::sm_100a}) {
    const Assembled multiply = assemble(samples::mma_s4(target), target);
    const std::string callee = callee_of(*disassemble(multiply.cubin, "mma_s4"));
    EXPECT_NE(callee.find("mma_sub_byte"), std::string::npos) << callee;
  }
  for (const Target target : all_gpu_targets()) {
    const Assembled division =
        assemble(samples::loop_kernel(target, "divide", "div.rn.f32 %f0, %f0, %f1;\n"), target);
    const auto function = disassemble(division.cubin, "divide");
    EXPECT_NE(callee_of(*function).find("div"), std::string::npos) << callee_of(*function);
  }
}

TEST(Disassembly, UnknownKernelsAndDamage) {
  std::vector<char> cubin = assemble(samples::fma_chain(Target::sm_90a), Target::sm_90a).cubin;
  EXPECT_THROW(disassemble(cubin, "no_such_kernel"), Error);
  EXPECT_THROW(disassemble(std::span(cubin).first(cubin.size() / 2), "fma_chain"), Error);
  std::mt19937 random(1);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<char> bytes = cubin;
    for (int i = 0; i < 32; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      find_loops(*disassemble(bytes, "fma_chain"));
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace assay
