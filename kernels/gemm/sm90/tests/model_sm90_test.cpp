// SPDX-License-Identifier: Apache-2.0
// The bf16 product in the host model: right, clean, and bit for bit what an H200 made of the same
// inputs (silicon.txt, by scripts/record_golden.py --gemm).
#include <gtest/gtest.h>

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

TEST(GemmModelSm90, IsRightCleanAndBitForBitAsOnSilicon) {
  const auto hashes = silicon();
  std::size_t compared = 0;
  for (const ModelCase& c : model_cases()) {
    if (!c.name.starts_with("kernels/gemm/bf16/")) continue;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      model::Gpu gpu(ptx_of(c.kernel));
      const ModelResult result = c.run(gpu, {.seed = seed});
      EXPECT_TRUE(result.outcome.finished) << c.name << " seed " << seed;
      EXPECT_EQ(result.wrong, "") << c.name << " seed " << seed;
      for (const model::Finding& f : result.outcome.findings)
        ADD_FAILURE() << c.name << " seed " << seed << ": " << model::to_text(f);
      if (seed != 0) continue;
      ASSERT_TRUE(hashes.contains(c.name)) << c.name << " was not recorded";
      EXPECT_EQ(result.hash, hashes.at(c.name)) << c.name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, hashes.size());
}

}  // namespace
}  // namespace assay::kernels
