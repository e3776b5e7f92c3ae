// SPDX-License-Identifier: Apache-2.0
// Kernels that are right (kernels/clean*.cu): no complaint, and the right result, in every order of
// asynchronous work. ASSAY_MODEL_SEEDS sets how many orders each is run in.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "harness/model/tests/clean_kernels.hpp"
#include "harness/model/tests/clean_odd_kernels.hpp"

namespace assay::model {
namespace {

// The kernels of one file.
void raise_no_complaint(const std::string& file, const Clean& c) {
  const char* wanted = std::getenv("ASSAY_MODEL_SEEDS");
  const std::uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : c.seeds;
  const std::string ptx = ptx_of_file(file);
  std::optional<Gpu> gpu;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    if (seed % 50 == 0) gpu.emplace(ptx);  // whose memory grows with every launch
    std::string wrong;
    const Outcome outcome = run_clean(*gpu, c, seed, wrong);
    ASSERT_EQ(all_of(outcome), "") << "seed " << seed;
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

class CleanTest : public testing::TestWithParam<Clean> {};

TEST_P(CleanTest, RaisesNoComplaint) { raise_no_complaint("clean", GetParam()); }

class CleanOddTest : public testing::TestWithParam<Clean> {};

TEST_P(CleanOddTest, RaisesNoComplaint) { raise_no_complaint("clean_odd", GetParam()); }

class CleanRareTest : public testing::TestWithParam<Clean> {};

TEST_P(CleanRareTest, RaisesNoComplaint) { raise_no_complaint("clean_rare", GetParam()); }

class CleanLibraryTest : public testing::TestWithParam<Clean> {};

TEST_P(CleanLibraryTest, RaisesNoComplaint) { raise_no_complaint("clean_library", GetParam()); }

const auto kName = [](const auto& p) { return std::string(p.param.run.kernel); };
INSTANTIATE_TEST_SUITE_P(Kernels, CleanTest, testing::ValuesIn(clean_kernels()), kName);
INSTANTIATE_TEST_SUITE_P(Kernels, CleanOddTest, testing::ValuesIn(clean_odd_kernels()), kName);
INSTANTIATE_TEST_SUITE_P(Kernels, CleanRareTest, testing::ValuesIn(clean_rare_kernels()), kName);
INSTANTIATE_TEST_SUITE_P(Kernels, CleanLibraryTest, testing::ValuesIn(clean_library_kernels()),
                         kName);

// A fence of the cluster's scope before the arrival, and one after the wait, do what the scopes of
// both do. PTX ISA 9.0, "Memory Consistency Model: Release and Acquire Patterns".
TEST(CleanTest, FencesStandForTheScopesOfMbarriers) {
  std::string ptx = ptx_of_file("clean");
  std::size_t at = ptx.find(".entry neighbours");
  const auto replace = [&](const std::string& what, const std::string& by) {  // from `at` on
    at = ptx.find(what, at);
    ASSERT_NE(at, ptx.npos) << what;
    ptx.replace(at, what.size(), by);
  };
  replace("mbarrier.arrive.release.", "fence.acq_rel.cluster;\nmbarrier.arrive.relaxed.");
  replace("mbarrier.try_wait.parity.acquire.", "mbarrier.try_wait.parity.relaxed.");
  replace("selp.u32", "fence.acq_rel.cluster;\nselp.u32");
  Gpu gpu(ptx);
  for (const Clean& c : clean_kernels())
    for (std::uint64_t seed = 0; c.run.kernel == std::string("neighbours") && seed < 20; ++seed) {
      std::string wrong;
      EXPECT_EQ(all_of(run_clean(gpu, c, seed, wrong)), "") << "seed " << seed;
      EXPECT_EQ(wrong, "");
    }
}

}  // namespace
}  // namespace assay::model
