// SPDX-License-Identifier: Apache-2.0
// The block-scaled product in the host model: right and clean.
#include <gtest/gtest.h>

#include "harness/model_case/model_case.hpp"
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

TEST(BlockScaledModelSm90, IsRightAndClean) {
  std::size_t ran = 0;
  for (const ModelCase& c : model_cases()) {
    if (!c.name.starts_with("kernels/gemm_block_scaled/")) continue;
    model::Gpu gpu(ptx_of(c.kernels));
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      const ModelResult result = c.run(gpu, {.seed = seed});
      EXPECT_TRUE(result.outcome.finished) << c.name << " seed " << seed;
      EXPECT_EQ(result.wrong, "") << c.name << " seed " << seed;
      for (const model::Finding& f : result.outcome.findings)
        ADD_FAILURE() << c.name << " seed " << seed << ": " << model::to_text(f);
    }
    ++ran;
  }
  EXPECT_GT(ran, 0u);
}

TEST(BlockScaledSm90, FitsAnSm) {
  for (const BlockScaledVariantSm90& v : block_scaled_variants_sm90())
    EXPECT_LE(v.shared_bytes, 227 * 1024) << v.name;
}

}  // namespace
}  // namespace assay::kernels
