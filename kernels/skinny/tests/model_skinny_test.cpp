// SPDX-License-Identifier: Apache-2.0
// The skinny product in the host model: right and clean, in several orders of its copies, and the
// same bits in all of them.
#include <gtest/gtest.h>

#include "harness/model_case/model_case.hpp"

namespace assay::kernels {
namespace {

TEST(SkinnyModel, IsRightAndClean) {
  int cases = 0;
  for (const ModelCase& c : model_cases()) {
    if (!c.name.starts_with("kernels/gemv/")) continue;
    ++cases;
    model::Gpu gpu(ptx_of(c.kernels));
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      const ModelResult result = c.run(gpu, {.seed = seed});
      EXPECT_TRUE(result.outcome.finished) << c.name << " seed " << seed;
      EXPECT_EQ(result.wrong, "") << c.name << " seed " << seed;
      for (const model::Finding& f : result.outcome.findings)
        ADD_FAILURE() << c.name << " seed " << seed << ": " << model::to_text(f);
    }
  }
  EXPECT_GE(cases, 20);
}

}  // namespace
}  // namespace assay::kernels
