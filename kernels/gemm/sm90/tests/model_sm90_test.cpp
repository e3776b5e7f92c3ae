// SPDX-License-Identifier: Apache-2.0
// The product on Hopper in the host model: every form right and clean, and bit for bit what an H200
// made of the same inputs (silicon.txt, by assay_gemm_record).
// ASSAY_MODEL_SEEDS sets how many orders each form is run in.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/sm90/model_sm90.hpp"

namespace assay::kernels {
namespace {

std::map<std::string, std::uint32_t> silicon() {
  std::map<std::string, std::uint32_t> hashes;
  std::ifstream file(ASSAY_SOURCE_DIR "/kernels/gemm/sm90/tests/silicon.txt");
  std::string name;
  file >> std::hex;
  for (std::uint32_t hash = 0; file >> name >> hash;) hashes[name] = hash;
  return hashes;
}

ModelResult run_clean(const ModelCase& c, std::uint64_t seed) {
  model::Gpu gpu(ptx_of(c.kernels));
  ModelResult result = c.run(gpu, {.seed = seed});
  EXPECT_TRUE(result.outcome.finished) << c.name << " seed " << seed;
  EXPECT_EQ(result.wrong, "") << c.name << " seed " << seed;
  for (const model::Finding& f : result.outcome.findings)
    ADD_FAILURE() << c.name << " seed " << seed << ": " << model::to_text(f);
  return result;
}

// A GPU's bits of this very form, or of another one that adds whole tiles: these add each element's
// products in the order of k, whatever the tile.
const std::uint32_t* recorded(const std::map<std::string, std::uint32_t>& hashes,
                              const ModelFormSm90& form) {
  auto found = hashes.find(form.name);
  if (found == hashes.end() && form.plain) found = hashes.find(name_of_whole_sm90(form.problem));
  return found == hashes.end() ? nullptr : &found->second;
}

// In parts, which run beside each other.
constexpr std::size_t kParts = 4;
class GemmModelSm90 : public testing::TestWithParam<std::size_t> {};

// Each form on its inputs: right, clean, and bit for bit what a GPU left where that is known.
TEST_P(GemmModelSm90, EveryFormIsRightCleanAndAsOnSilicon) {
  const char* wanted = std::getenv("ASSAY_MODEL_SEEDS");
  const std::uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : 1;
  const auto hashes = silicon();
  std::map<std::string, const ModelCase*> cases;
  for (const ModelCase& c : model_cases()) cases[c.name] = &c;
  const auto& forms = model_forms_sm90();
  for (std::size_t i = GetParam(); i < forms.size(); i += kParts) {
    const std::uint32_t* hash = recorded(hashes, forms[i]);
    // A CTA without bytes ran ahead in the orders of seeds 2 and 3, where others' arrivals were not
    // waited for.
    const bool beyond = forms[i].name.ends_with("_beyond");
    const std::uint64_t first = beyond ? 2 + i / kParts % 2 : i / kParts % 4;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
      const ModelResult result = run_clean(*cases.at(forms[i].name), seed);
      if (hash != nullptr) EXPECT_EQ(result.hash, *hash) << forms[i].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Part, GemmModelSm90, testing::Range(std::size_t{0}, kParts));

// On an odd shape at least. Forms without a plain twin do no plain product: their results follow
// what is done to the sums, which is compared above where it is recorded.
TEST(GemmModelSm90Forms, EachOfBf16IsComparedWithSilicon) {
  const auto hashes = silicon();
  std::set<std::string> there, compared;
  std::size_t used = 0;
  for (const ModelFormSm90& form : model_forms_sm90()) {
    const GemmProblem& p = form.problem;
    used += hashes.contains(form.name);
    if (p.type != "bf16" || p.layout != "nt" || !form.choice.variant->plain) continue;
    there.insert(form.choice.variant->name);
    if (form.plain && p.m % 2 == 1 && recorded(hashes, form) != nullptr)
      compared.insert(form.choice.variant->name);
  }
  EXPECT_EQ(compared, there);
  EXPECT_GT(there.size(), 20u);
  EXPECT_EQ(used, hashes.size()) << "silicon.txt names a form that is not run";
}

}  // namespace
}  // namespace assay::kernels
