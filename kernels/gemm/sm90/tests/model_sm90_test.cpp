// SPDX-License-Identifier: Apache-2.0
// The product on Hopper in the host model: every form right and clean, and one of them bit for bit
// what an H200 made of the same inputs (silicon.txt, by scripts/record_golden.py --gemm).
// ASSAY_MODEL_SEEDS sets how many orders each form is run in.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "harness/model_case/model_case.hpp"

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
  model::Gpu gpu(ptx_of_alone(c.kernel));
  ModelResult result = c.run(gpu, {.seed = seed});
  EXPECT_TRUE(result.outcome.finished) << c.name << " seed " << seed;
  EXPECT_EQ(result.wrong, "") << c.name << " seed " << seed;
  for (const model::Finding& f : result.outcome.findings)
    ADD_FAILURE() << c.name << " seed " << seed << ": " << model::to_text(f);
  return result;
}

TEST(GemmModelSm90, IsRightCleanAndBitForBitAsOnSilicon) {
  const auto hashes = silicon();
  std::size_t compared = 0;
  for (const ModelCase& c : model_cases()) {
    const auto recorded = hashes.find(c.name);
    if (recorded == hashes.end()) continue;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const ModelResult result = run_clean(c, seed);
      if (seed == 0) EXPECT_EQ(result.hash, recorded->second) << c.name;
    }
    ++compared;
  }
  EXPECT_EQ(compared, hashes.size());
}

TEST(GemmModelSm90, EveryFormIsRightAndClean) {
  const char* wanted = std::getenv("ASSAY_MODEL_SEEDS");
  const std::uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : 1;
  int cases = 0;
  for (const ModelCase& c : model_cases()) {
    if (!c.name.starts_with("kernels/gemm/sm90/")) continue;
    ++cases;
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
      run_clean(c, seed + static_cast<std::uint64_t>(cases) % 4);
  }
  EXPECT_GT(cases, 90);
}

}  // namespace
}  // namespace assay::kernels
