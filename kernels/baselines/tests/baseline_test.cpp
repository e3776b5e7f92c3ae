// SPDX-License-Identifier: Apache-2.0
#include "kernels/baselines/baseline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "harness/callable.hpp"
#include "harness/error.hpp"
#include "kernels/baselines/cublaslt.hpp"
#include "kernels/baselines/tests/fake_baseline.hpp"

namespace assay::kernels {
namespace {

TEST(FindBest, IsTheLeastMedian) {
  std::vector<Call> calls;
  const FakeBaseline library(16, 3, &calls);
  EXPECT_EQ(find_best(library, 4, 5, fake_clock(calls, {30, 10, 20})), 1);
}

// The slowest call of the candidate that is fastest otherwise, here its first, decides nothing.
TEST(FindBest, IgnoresTheWarmUpAndAnOutlier) {
  std::vector<Call> calls;
  const FakeBaseline library(16, 2, &calls);
  const auto clock = [&](const Callable<void(cudaStream_t)>& enqueue) {
    enqueue(nullptr);
    if (calls.back().candidate == 1) return 20.0;
    return std::ranges::count(calls, 0, &Call::candidate) <= 2 ? 1000.0 : 10.0;
  };
  EXPECT_EQ(find_best(library, 4, 5, clock), 0);
}

TEST(FindBest, LetsCandidatesTakeTurnsOnRotatingSets) {
  std::vector<Call> calls;
  const FakeBaseline library(16, 2, &calls);
  find_best(library, 3, 2, fake_clock(calls, {1, 2}));
  EXPECT_EQ(calls, (std::vector<Call>{{0, 0}, {1, 1}, {0, 1}, {1, 2}, {0, 2}, {1, 0}}));
}

TEST(FindBest, IsTheFirstOfEquals) {
  std::vector<Call> calls;
  const FakeBaseline library(16, 3, &calls);
  EXPECT_EQ(find_best(library, 1, 3, fake_clock(calls, {7, 7, 7})), 0);
}

void open_cublaslt_from_nowhere() {
  setenv("ASSAY_CUBLASLT_LIBRARY", "/nowhere/libcublasLt.so.13", 1);
  try {
    CublasLtGemm({.m = 64, .n = 64, .k = 64, .ab = "bf16", .d = "bf16"}, {});
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(static_cast<int>(error.code()));
  }
  std::exit(0);
}

// In a process of its own, which has not opened the library yet.
TEST(CublasLtDeathTest, SaysWhyItCannotBeOpened) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(open_cublaslt_from_nowhere(),
              testing::ExitedWithCode(static_cast<int>(ExitCode::unfit)), "cuBLASLt");
}

}  // namespace
}  // namespace assay::kernels
