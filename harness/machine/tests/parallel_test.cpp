// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace assay {
namespace {

TEST(Parallel, DoesEachPieceOnce) {
  for (const std::size_t count : {0, 1, 1000}) {
    std::vector<std::atomic<int>> done(count);
    on_every_core(count, [&](std::size_t i) { ++done[i]; });
    for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(Parallel, AFailureEndsTheWorkAndIsThrownAgain) {
  std::atomic<int> begun = 0;
  EXPECT_THROW(on_every_core(1'000'000,
                             [&](std::size_t) {
                               if (++begun == 3) throw std::runtime_error("third");
                             }),
               std::runtime_error);
  EXPECT_LT(begun, 1'000'000);
}

}  // namespace
}  // namespace assay
