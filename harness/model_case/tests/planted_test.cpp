// SPDX-License-Identifier: Apache-2.0
// Single bugs planted into the PTX of right kernels (planted_*.hpp): each is found and named.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "harness/model/tests/clean_kernels.hpp"
#include "harness/model/tests/planted_in_c.hpp"
#include "harness/model/tests/planted_in_clean.hpp"
#include "harness/model/tests/planted_in_mma_sync.hpp"
#include "harness/model/tests/planted_in_scaled.hpp"
#include "harness/model/tests/planted_in_skinny.hpp"
#include "harness/model/tests/planted_in_skinny_ring.hpp"
#include "harness/model/tests/planted_in_tcgen05.hpp"
#include "harness/model_case/model_case.hpp"

namespace assay::model {
namespace {

// Kernels of the suite: what a list calls them, their case, and a part of their name in PTX.
struct SuiteKernel {
  std::string_view name;
  const char *at, *kernel;
};
constexpr SuiteKernel kSuite[] = {
    {"gemm", "kernels/gemm/f16/m300n248k320/nt",
     "gemm_plain_sm90ILi0ELi0ELi0ELi128ELi256ELi4ELi2ELi1ELb0ELb0E"},
    {"gemm_c", "kernels/gemm/sm90/bf16/m504n216k512/nt/pingpong_128x112_c2x1_s6_c",
     "gemm_sm90ILi0ELi0ELi0ELi128ELi112ELi6ELi2ELi1ELb0ELb1E"},
    {"tcgen05", "kernels/gemm/tcgen05/bf16/m520n264k72/128x128x64_p1_s4",
     "gemm_bf16_nt_sm100ILi1E"},
    {"tcgen05_pair", "kernels/gemm/tcgen05/bf16/m520n264k72/256x256x64_p2_s4",
     "gemm_bf16_nt_sm100ILi2E"},
    {"mma_sync", "kernels/gemm/mma_sync/bf16/m65n72k136/nt/64x64x32_s4",
     "gemm_mma_syncILi0ELi0ELi1ELi1ELi64E"},
    {"scaled", "kernels/gemm_block_scaled/e4m3_block128/m257n264k400/nt/128x128x128_c1x2_s5",
     "gemm_e4m3_block_scaled_sm90ILi128ELi128ELi5ELi1ELi2E"},
    {"grouped_scaled", "kernels/grouped/e4m3_block128_masked/g4rows136n264k144/128x256x128_c1x2_s4",
     "grouped_e4m3_block128_sm90ILi128ELi256ELi4ELi1ELi2E"},
    {"gradients", "kernels/grouped/bf16_gradient/g5rows300n72k264/128x256_c1x2_s4",
     "grouped_bf16_sm90ILb1ELi128ELi256ELi4ELi1ELi2E"},
    {"skinny", "kernels/gemv/s4/m1n45k2688/cluster2", "skinny_productINS0_2S4ELi1ELb1E"},
    {"skinny_ring", "kernels/gemv/s4/m32n45k3968/128x32x256_s6_c2",
     "skinny_sm90INS0_2S4ELi32ELi128ELi1E"},
};
const SuiteKernel* of_suite(std::string_view name) {
  for (const SuiteKernel& k : kSuite)
    if (k.name == name) return &k;
  return nullptr;
}

// The text with the edit made in the kernel of that name; an empty one if it does not fit.
std::string edited(const std::string& ptx, const std::string& kernel, const Edit& edit) {
  auto begin = ptx.find(".entry ");
  while (begin != ptx.npos &&
         ptx.substr(begin, ptx.find('(', begin) - begin).find(kernel) == std::string::npos)
    begin = ptx.find(".entry ", begin + 1);
  if (begin == ptx.npos) return {};
  const auto end = std::min(ptx.find(".entry ", begin + 1), ptx.size());
  const re2::RE2 pattern(edit.pattern);
  const std::string body = ptx.substr(begin, end - begin);
  std::string made;
  std::size_t from = 0;
  int count = 0;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) +
                                       1);
  while (pattern.Match(body, from, body.size(), re2::RE2::UNANCHORED, groups.data(),
                       static_cast<int>(groups.size()))) {
    const auto at = static_cast<std::size_t>(groups[0].data() - body.data());
    const std::size_t after = at + groups[0].size();
    made += body.substr(from, at - from);
    if (edit.which < 0 || count == edit.which)
      pattern.Rewrite(&made, edit.replacement, groups.data(), static_cast<int>(groups.size()));
    else
      made += body.substr(at, after - at);
    from = after;
    ++count;
  }
  if (count == 0 || count <= edit.which) return {};
  return ptx.substr(0, begin) + made + body.substr(from) + ptx.substr(end);
}

Outcome run(Gpu& gpu, const Planted& p, std::uint64_t seed, std::string& wrong) {
  if (const SuiteKernel* suite = of_suite(p.kernel)) {
    for (const ModelCase& c : model_cases())
      if (c.name == suite->at) {
        ModelResult result = c.run(gpu, {.seed = seed});
        wrong = result.wrong;
        return std::move(result.outcome);
      }
  } else {
    for (const Clean& c : clean_kernels())
      if (std::string_view(c.run.kernel) == p.kernel) return run_clean(gpu, c, seed, wrong);
  }
  throw std::runtime_error(std::string("there is no kernel ") + p.kernel);
}

class PlantedTest : public testing::TestWithParam<Planted> {};

TEST_P(PlantedTest, IsFoundAndNamed) {
  const Planted& p = GetParam();
  const SuiteKernel* suite = of_suite(p.kernel);
  std::string ptx = suite ? ptx_of({suite->kernel}) : ptx_of_file("clean");
  for (const Edit& edit : p.edits) {
    ptx = edited(ptx, suite ? suite->kernel : p.kernel, edit);
    ASSERT_FALSE(ptx.empty()) << "'" << edit.pattern << "' is not in the PTX";
  }
  Gpu gpu(ptx);
  std::string others;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::string wrong;
    Outcome outcome;
    try {
      outcome = run(gpu, p, seed, wrong);
    } catch (const Violation& v) {  // refused before it runs
      outcome.findings.push_back({.rule = v.rule(), .text = v.what()});
    }
    for (const std::string& rule : p.rules) {
      bool found = rule == "wrong result" && !wrong.empty();
      for (const Finding& f : outcome.findings) found |= f.rule == rule;
      if (!found) continue;
      RecordProperty("seeds", static_cast<int>(seed) + 1);
      RecordProperty("rule", rule);
      return;
    }
    others += all_of(outcome) + wrong;
  }
  FAIL() << "not found, but\n" << others.substr(0, 3000);
}

const auto kName = [](const auto& p) { return std::string(p.param.kernel) + "_" + p.param.name; };
INSTANTIATE_TEST_SUITE_P(Gemm, PlantedTest, testing::ValuesIn(planted_in_gemm()), kName);
INSTANTIATE_TEST_SUITE_P(C, PlantedTest, testing::ValuesIn(planted_in_c()), kName);
INSTANTIATE_TEST_SUITE_P(Tcgen05, PlantedTest, testing::ValuesIn(planted_in_tcgen05()), kName);
INSTANTIATE_TEST_SUITE_P(MmaSync, PlantedTest, testing::ValuesIn(planted_in_mma_sync()), kName);
INSTANTIATE_TEST_SUITE_P(Scaled, PlantedTest, testing::ValuesIn(planted_in_scaled()), kName);
INSTANTIATE_TEST_SUITE_P(Skinny, PlantedTest, testing::ValuesIn(planted_in_skinny()), kName);
INSTANTIATE_TEST_SUITE_P(SkinnyRing, PlantedTest, testing::ValuesIn(planted_in_skinny_ring()),
                         kName);
INSTANTIATE_TEST_SUITE_P(Clean, PlantedTest, testing::ValuesIn(planted_in_clean()), kName);

}  // namespace
}  // namespace assay::model
