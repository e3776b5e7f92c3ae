// SPDX-License-Identifier: Apache-2.0
// Kernels that are right (kernels/clean.cu): no complaint, and the right result, in every order of
// asynchronous work. ASSAY_MODEL_SEEDS sets how many orders each is run in.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/model/tests/clean_kernels.hpp"

namespace assay::model {
namespace {

class CleanTest : public testing::TestWithParam<Clean> {};

TEST_P(CleanTest, RaisesNoComplaint) {
  const Clean& c = GetParam();
  const char* wanted = std::getenv("ASSAY_MODEL_SEEDS");
  const std::uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 200;
  Gpu gpu(ptx_of_file("clean"));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    std::string wrong;
    const Outcome outcome = run_clean(gpu, c, seed, wrong);
    ASSERT_EQ(all_of(outcome), "") << "seed " << seed;
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CleanTest, testing::ValuesIn(clean_kernels()),
                         [](const auto& p) { return std::string(p.param.run.kernel); });

}  // namespace
}  // namespace assay::model
