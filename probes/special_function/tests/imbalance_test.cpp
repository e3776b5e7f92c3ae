// SPDX-License-Identifier: Apache-2.0
#include "probes/special_function/imbalance.hpp"

#include <gtest/gtest.h>

namespace assay::imbalance {
namespace {

TEST(Imbalance, BalanceOfPublishedRates) {
  // An H100's 989 TFLOP/s against 3.9 T 2^x: 63.4; per clock 4096 against 16: 64; 8-bit floats 128.
  EXPECT_NEAR(balance_head_dim(989, 3.9), 63.4, 0.01);
  EXPECT_EQ(balance_head_dim(4096, 16), 64);
  EXPECT_EQ(balance_head_dim(8192, 16), 128);
}

TEST(Imbalance, BothTakeAsLongAtTheBalance) {
  EXPECT_DOUBLE_EQ(exp_to_mma_time(4096, 4096, 16, balance_head_dim(4096, 16)), 1);
  EXPECT_DOUBLE_EQ(exp_to_mma_time(4096, 4096, 16, 128), 0.5);
  EXPECT_DOUBLE_EQ(exp_to_mma_time(4096, 4096, 32, 64), 0.5);
}

TEST(Imbalance, ASlowerMmaOfEitherKindHidesMore) {
  // Half the rate in one of the two products: 1.5 times the time.
  EXPECT_DOUBLE_EQ(exp_to_mma_time(2048, 4096, 16, 64), 1 / 1.5);
  EXPECT_DOUBLE_EQ(exp_to_mma_time(4096, 2048, 16, 64), 1 / 1.5);
}

}  // namespace
}  // namespace assay::imbalance
