// SPDX-License-Identifier: Apache-2.0
// Text that is damaged, or meant to take all memory, time or stack, is refused in a sentence.
#include <gtest/gtest.h>

#include <string>

#include "harness/model/model.hpp"

namespace assay::model {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// What is said of a module, or of its kernel `k` as it is launched; empty: nothing.
std::string said_of(const std::string& text) {
  try {
    Gpu gpu(kHead + text);
    gpu.launch("k", {.block = {32, 1, 1}}, {});
  } catch (const Violation& violation) {
    return violation.rule() + ": " + violation.what();
  }
  return "";
}

std::string body(const std::string& statements) {
  return ".visible .entry k() {\n" + statements + "\nret; }\n";
}

TEST(RefusedText, SaysWhatIsWrong) {
  struct {
    std::string text;
    const char* said;
  } const cases[] = {
      {body(repeated("{", 100'000)), "nested more than 100 deep"},
      {body("mov.u32 " + repeated("{", 100'000)), "nested more than 100 deep"},
      {body("mov.u32 " + repeated("!", 100'000)), "nested more than 100 deep"},
      {body("mov.u32 " + repeated("[a,", 100'000)), "nested more than 100 deep"},
      {".global .b32 a[1] = " + repeated("{", 100'000), "nested more than 100 deep"},
      {body("") + body(""), "'k' has a body already"},
      {".global .attribute(", "a parenthesis is not closed"},
      {".visible .entry k() { call f, a", "a call has no end"},
      {".global .align 0 .b8 a;", "an alignment is a power of two"},
      {".global .align 24 .b8 a;", "an alignment is a power of two"},
      {".global .align 1073741824 .b8 a;", "an alignment is a power of two"},
      {".global .b8 a[4294967297];", "an array of more than 4 GiB"},
      {".global .b8 a[65536][65536][65536][65536];", "an array of more than 4 GiB"},
      {".global .b8 a[67108865];", "memory.size: 'a' has 67108865 bytes"},
      {".global .b8 a[40000000];\n.global .b8 b[40000000];", "memory.size: 'b' has 40000000 bytes"},
      {".global .b8 a[2] = {1, 2, 3};", "more initial values than 'a' has elements"},
      {".global .b32 b;\n.global .b32 a = b;", "an address as an initial value has 8 bytes"},
      {body(".reg .b32 %a<1000001>;"), "too many registers"},
      {body(".reg .b32 %a<600000>;\n{ .reg .b32 %a<600000>; }"), "too many registers"},
      {body(".reg .b32 %a<-1>;"), "too many registers"},
      {body(".local .b8 a[524289];"), "ptx.size: 'a' has 524289 bytes"},
      {body(".shared .b8 a[4294967296];"), "ptx.size: 'a' has 4294967296 bytes"},
      {".visible .entry k(.param .b8 a[524289]) { ret; }", "ptx.size: 'a' has 524289 bytes"},
      {body("mov.f32 a, 0f12;"), "0f has 8 hexadecimal digits"},
      {body("mov.f32 a, 0d0123456789ABCDEG;"), "0d has 16"},
      {repeated(";", 4'000'001), "the model reads at most 4000000 words and signs"},
  };
  for (const auto& c : cases) {
    const std::string said = said_of(c.text);
    EXPECT_NE(said.find(c.said), said.npos) << c.text.substr(0, 60) << "\n" << said;
    EXPECT_LT(said.size(), 300u);
  }
}

// A comment's end is no part of its begin: ptxas reads these alike.
TEST(RefusedText, CommentsEndWhereTheyEnd) {
  EXPECT_EQ(said_of(body("/*/ bogus */")), "");
  EXPECT_EQ(said_of(body("/*/**/")), "");
  EXPECT_EQ(said_of(body("/**/ .pragma \"/* \";")), "");
}

TEST(RefusedText, StateOfACluster) {
  Gpu gpu(kHead + body(".reg .b64 %a<100000>;"));
  try {
    gpu.launch("k", {.block = {1024, 1, 1}}, {});
    FAIL() << "800 MB of registers";
  } catch (const Violation& violation) {
    EXPECT_EQ(violation.rule(), "launch.state");
  }
  EXPECT_TRUE(gpu.launch("k", {.block = {32, 1, 1}}, {}).finished);
}

TEST(RefusedText, NumbersAtTheirEdges) {
  Gpu gpu(kHead + ".global .b64 a = -9223372036854775808;\n.global .b8 b[] = {1, 2, 3};\n" +
          body(".reg .b64 %a;\nmov.u64 %a, -9223372036854775808;\n"
               "ld.global.b64 %a, [a + -9223372036854775808];"));
  EXPECT_FALSE(gpu.launch("k", {.block = {1, 1, 1}}, {}).findings.empty());
}

}  // namespace
}  // namespace assay::model
