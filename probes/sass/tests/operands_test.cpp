// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/code/assembler.hpp"
#include "harness/code/disassembly.hpp"
#include "harness/probe.hpp"

namespace assay {
namespace {

// Sources of every FFMA of a case of sass/operands: register numbers and whether the first one is
// flagged for reuse.
struct Sources {
  int a, b, c;
  bool reuse;
};

std::vector<Sources> sources_of(const std::string& choice, Target target) {
  for (const Probe* probe : probes())
    for (const Case& c : probe->cases)
      if (probe->full_name(c) == "sass/operands/ffma/" + choice) {
        const KernelUse use = probe->kernels(c, target).front();
        const std::vector<char> cubin = assemble(use, target);
        std::vector<Sources> all;
        for (const Instruction& instruction : disassemble(cubin, use.kernel)->code) {
          if (!instruction.is("FFMA")) continue;
          std::string text = instruction.operands;
          const auto reuse = text.find(".reuse");
          if (reuse != text.npos) text.erase(reuse, 6);
          Sources s{.reuse = reuse != text.npos};
          EXPECT_EQ(std::sscanf(text.c_str(), "R%*d, R%d, R%d, R%d", &s.a, &s.b, &s.c), 3) << text;
          all.push_back(s);
        }
        return all;
      }
  return {};
}

int of_one_parity(const std::vector<Sources>& all) {
  return static_cast<int>(std::ranges::count_if(
      all, [](const Sources& s) { return s.a % 2 == s.c % 2 && s.b % 2 == s.c % 2; }));
}

TEST(Operands, LieInTheBanksThatTheCaseNames) {
  for (const Target target : all_gpu_targets()) {
    ASSERT_EQ(sources_of("one_bank_of_2", target).size(), 512u);
    EXPECT_EQ(of_one_parity(sources_of("two_banks", target)), 0);
    EXPECT_EQ(of_one_parity(sources_of("one_bank_of_2", target)), 512);
    for (const Sources& s : sources_of("one_bank_of_4", target)) {
      EXPECT_EQ(s.a % 4, s.c % 4);
      EXPECT_EQ(s.b % 4, s.c % 4);
    }
  }
}

TEST(Operands, AreReusedByEverySecondFfma) {
  for (const Target target : all_gpu_targets()) {
    const auto plain = sources_of("every_second", target),
               reused = sources_of("every_second_reuse", target);
    ASSERT_EQ(reused.size(), plain.size());
    EXPECT_EQ(of_one_parity(plain), 256);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(plain[i].a, reused[i].a);
      EXPECT_EQ(plain[i].b, reused[i].b);
      EXPECT_FALSE(plain[i].reuse);
      EXPECT_EQ(reused[i].reuse, i % 2 == 0);
      if (i % 2 == 1) EXPECT_EQ(plain[i].a, plain[i - 1].a);
    }
  }
}

}  // namespace
}  // namespace assay
