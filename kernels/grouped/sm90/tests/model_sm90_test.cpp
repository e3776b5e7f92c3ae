// SPDX-License-Identifier: Apache-2.0
// The grouped products in the host model: right, clean, and nothing written that is no group's.
#include <gtest/gtest.h>

#include "harness/model_case/model_case.hpp"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

TEST(GroupedModelSm90, IsRightAndClean) {
  std::size_t ran = 0;
  for (const ModelCase& c : model_cases()) {
    if (!c.name.starts_with("kernels/grouped/")) continue;
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      model::Gpu gpu(ptx_of(c.kernel));
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

TEST(GroupedSm90, FitsAnSm) {
  for (const char* type : {"bf16", "e4m3_block128"})
    EXPECT_LE(grouped_variant_sm90({Grouping::contiguous, type, 1, 8, 8, 16}).shared_bytes,
              227 * 1024)
        << type;
}

}  // namespace
}  // namespace assay::kernels
