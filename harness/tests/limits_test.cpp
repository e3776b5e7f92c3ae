// SPDX-License-Identifier: Apache-2.0
#include "harness/limits.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Limits, OfTheTensorCoresAreThoseOfTheDatasheet) {
  // H100 SXM, 132 SMs at 1830 MHz: 989.4 TFLOP/s of dense bf16.
  EXPECT_NEAR(limits::tensor(Target::sm_90a, "bf16").value * 132 * 1830e6, 989.4e12, 1e11);
  EXPECT_EQ(limits::tensor(Target::sm_90a, "e5m2").value, 8192);
  EXPECT_EQ(limits::tensor(Target::sm_90a, "b1").value, 65536);
  EXPECT_EQ(limits::tensor(Target::sm_103a, "nvf4").value, 49152);
}

TEST(Limits, SparsityDoublesAllButWhatHasNoSparseForm) {
  EXPECT_EQ(limits::sparse_tensor(Target::sm_90a, "bf16").value, 8192);
  EXPECT_EQ(limits::sparse_tensor(Target::sm_103a, "nvf4").value, 65536);
  EXPECT_EQ(limits::sparse_tensor(Target::sm_90a, "f64").value, 0);
  EXPECT_EQ(limits::sparse_tensor(Target::sm_90a, "b1").value, 0);
}

TEST(Limits, AnUnknownOneHasNoSourceEither) {
  for (const Limit& limit :
       {limits::tensor(Target::host, "bf16"), limits::tensor(Target::sm_90a, "nvf4"),
        limits::tensor(Target::sm_120a, "b1"), limits::sparse_tensor(Target::sm_90a, "no such")}) {
    EXPECT_EQ(limit.value, 0);
    EXPECT_TRUE(limit.source.empty());
  }
}

}  // namespace
}  // namespace assay
