// SPDX-License-Identifier: Apache-2.0
#include "harness/code/verification.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace assay {
namespace {

KernelCode kernel(Function function) {
  return {std::make_shared<const Function>(std::move(function)), {}};
}

Function example() {
  Function function;
  function.arch = "sm_90a";
  function.cubin_sha256 = "one image";
  function.registers = 32;
  function.code = {{.opcode = "FFMA", .words = {0x1234, 0x5678}},
                   {.address = 16, .opcode = "EXIT", .words = {0x9abc, 0xdef0}}};
  return function;
}

TEST(CodeSha256, IsOfTheInstructionsAndNotOfTheImage) {
  Function moved = example();
  moved.cubin_sha256 = "another image, with other lines of the source";
  EXPECT_EQ(code_sha256({kernel(example())}), code_sha256({kernel(moved)}));
  EXPECT_EQ(code_sha256({kernel(example())}).size(), 64u);
}

TEST(CodeSha256, TellsWaitsRegistersAndFurtherKernels) {
  Function waits = example();
  waits.code[0].words[1] |= 1ull << 41;  // a stall count; the text of the instruction is the same
  Function registers = example();
  registers.registers = 64;
  const std::string hash = code_sha256({kernel(example())});
  EXPECT_NE(hash, code_sha256({kernel(waits)}));
  EXPECT_NE(hash, code_sha256({kernel(registers)}));
  EXPECT_NE(hash, code_sha256({kernel(example()), kernel(example())}));
  EXPECT_NE(code_sha256({kernel(example()), kernel(waits)}),
            code_sha256({kernel(waits), kernel(example())}));
}

TEST(CodeSha256, IsNoneWhereAKernelIsNotKnown) {
  EXPECT_EQ(code_sha256({}), "");
  EXPECT_EQ(code_sha256({kernel(example()), KernelCode{}}), "");
}

}  // namespace
}  // namespace assay
