// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/cost/control_code.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "harness/code/cubin.hpp"

namespace assay::sass {
namespace {

std::string decoded(std::uint64_t upper) { return text_of(control_code({.words = {0, upper}})); }

TEST(ControlCode, Fields) {
  // stall 5, yield bit 1 (no), no barriers
  EXPECT_EQ(decoded(std::uint64_t{5} << 41 | std::uint64_t{1} << 45 | std::uint64_t{0x3f} << 46),
            "B------ R- W- - S05");
  // waits for 1 and 5, write barrier 2, read barrier 0, yields, stall 13
  EXPECT_EQ(decoded(std::uint64_t{13} << 41 | std::uint64_t{2} << 46 | std::uint64_t{0} << 49 |
                    std::uint64_t{0b100010} << 52),
            "B-1---5 R0 W2 Y S13");
  EXPECT_EQ(control_code({.words = {0, std::uint64_t{0b101} << 58}}).reuse, 0b101);
}

// nvdisasm prints the reuse bits, and nothing else of the control code: where it writes `.reuse`, a
// bit must be set. Barriers: whatever is waited for must have been raised somewhere.
TEST(ControlCode, AgreesWithTheDisassemblerOnRealKernels) {
  const std::vector<DeviceCode> codes = extract("/proc/self/exe");
  int reuses = 0, waits = 0;
  for (const Target target : built_targets()) {
    const auto kernel = find_kernel(codes, target, "read_l2");
    ASSERT_TRUE(kernel);
    const auto function = disassemble(kernel->code->elf, kernel->symbol);
    unsigned raised = 0;
    for (const Instruction& instruction : function->code) {
      const ControlCode control = control_code(instruction);
      if (control.write_barrier >= 0) raised |= 1u << control.write_barrier;
      if (control.read_barrier >= 0) raised |= 1u << control.read_barrier;
    }
    for (const Instruction& instruction : function->code) {
      const ControlCode control = control_code(instruction);
      int marked = 0;
      for (std::size_t at = 0; (at = instruction.operands.find(".reuse", at)) != std::string::npos;
           ++at)
        ++marked;
      EXPECT_EQ(marked, std::popcount(control.reuse)) << instruction.text();
      EXPECT_EQ(control.wait_mask & ~raised, 0u) << instruction.text();
      reuses += marked;
      waits += std::popcount(control.wait_mask);
    }
  }
  EXPECT_GT(reuses, 0);
  EXPECT_GT(waits, 0);
}

}  // namespace
}  // namespace assay::sass
