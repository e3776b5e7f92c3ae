// SPDX-License-Identifier: Apache-2.0
// Registers that a thread reads before it has written them hold no number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/machine/decode.hpp"
#include "harness/model/model.hpp"

namespace assay::model {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kNothing = 0xffffdead;

// A kernel in which each thread stores what it has in %x.
std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry one(.param .u64 out)\n{\n.reg .b64 %out, %off;\n"
         ".reg .b32 %t, %x, %y, %unused;\n.reg .pred %p;\nld.param.u64 %out, [out];\n"
         "mov.u32 %t, %tid.x;\nmul.wide.u32 %off, %t, 4;\nadd.s64 %out, %out, %off;\n"
         "setp.lt.u32 %p, %t, 1;\n" +
         body + "\nst.global.u32 [%out], %x;\nret;\n}\n";
}

// What the first thread and the second store.
Words stored(const std::string& body) {
  Gpu gpu(kernel(body));
  const Address out = gpu.allocate("out", 8);
  gpu.write(out, Words(2));
  gpu.launch("one", {.block = {2, 1, 1}}, Arguments().push(out));
  return gpu.read<std::uint32_t>(out, 2);
}

TEST(ModelFirstUse, WhatIsReadBeforeItIsWrittenIsNoNumber) {
  EXPECT_EQ(stored(""), Words({kNothing, kNothing}));
  EXPECT_EQ(stored("mov.u32 %x, 7;"), Words({7, 7}));
  EXPECT_EQ(stored("@%p mov.u32 %x, 7;"), Words({7, kNothing}));
  EXPECT_EQ(stored("@!%p bra LATER;\nmov.u32 %x, 7;\nLATER:"), Words({7, kNothing}));
  EXPECT_EQ(stored("and.b32 %x, %x, 0xffff;"), Words({0xdead, 0xdead}));
  EXPECT_EQ(stored("add.u32 %y, %x, 1;\nmov.u32 %x, %y;"), Words({kNothing + 1, kNothing + 1}));
  EXPECT_EQ(stored("{\n.reg .b32 %z;\nbra SECOND;\nFIRST:\nmov.u32 %z, 7;\nSECOND:\n"
                   "mov.u32 %x, %z;\n}"),
            Words({kNothing, kNothing}));
  EXPECT_EQ(stored("{\n.reg .b128 %q;\n.reg .b64 %a, %b;\nmov.b128 {%a, %b}, %q;\n"
                   "cvt.u32.u64 %x, %b;\n}"),
            Words({kNothing, kNothing}));
  EXPECT_EQ(stored("{\n.reg .b64 %z;\nmov.b64 {%x, %y}, %z;\n}"), Words({kNothing, kNothing}));
}

// Those are filled for every warp of a launch, and few are left of a compiler's thousands.
TEST(ModelFirstUse, WhatIsSurelyWrittenBeforeIsNotFilled) {
  const Module module = parse_ptx(kernel("mov.u32 %x, 7;\n@%p bra END;\nmov.u32 %y, 8;\nEND:"));
  const Function& function = *module.function_of.at("one");
  const Program program = decode(module, function, {});
  const auto filled = [&](const std::string& name) {
    const auto reg = std::ranges::find(function.registers, name, &Register::name);
    return std::ranges::count(program.maybe_unwritten, reg->slot) == 1;
  };
  EXPECT_FALSE(filled("%t"));
  EXPECT_FALSE(filled("%off"));
  EXPECT_FALSE(filled("%y"));
  EXPECT_FALSE(filled("%unused"));
  EXPECT_TRUE(filled("%x"));    // used behind a label
  EXPECT_TRUE(filled("%out"));  // too
}

}  // namespace
}  // namespace assay::model
