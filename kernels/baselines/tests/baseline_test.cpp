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
  EXPECT_EQ(calls, (std::vector<Call>{{0, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {1, 2}}));
}

TEST(FindBest, IsTheFirstOfEquals) {
  std::vector<Call> calls;
  const FakeBaseline library(16, 3, &calls);
  EXPECT_EQ(find_best(library, 1, 3, fake_clock(calls, {7, 7, 7})), 0);
}

TEST(FindBest, GoesOnWithThoseThatAreCloseToTheFastest) {
  std::vector<Call> calls;
  const FakeBaseline library(32, 3, &calls);
  EXPECT_EQ(find_best(library, 4, 6, fake_clock(calls, {11.9, 12.5, 10})), 2);
  EXPECT_EQ(std::ranges::count(calls, 0, &Call::candidate), 7);
  EXPECT_EQ(std::ranges::count(calls, 1, &Call::candidate), 4);  // warm-up and three rounds
  EXPECT_EQ(std::ranges::count(calls, 2, &Call::candidate), 7);
}

// Candidate 0 is the fastest under load, candidate 1 after a rest.
TEST(FindBest, CountsWhatIsMeasuredAfterAPause) {
  std::vector<Call> calls;
  const FakeBaseline library(32, 2, &calls);
  int pauses = 0;
  const auto clock = [&](const Callable<void(cudaStream_t)>& enqueue) {
    enqueue(nullptr);
    return (calls.back().candidate == 0) == (pauses == 0) ? 10.0 : 11.0;
  };
  EXPECT_EQ(find_best(library, 4, 15, clock), 0);
  EXPECT_EQ(find_best(library, 4, 15, clock, [&] { ++pauses; }), 1);
  EXPECT_EQ(pauses, 12);
}

// Also when some have dropped out: none finds its inputs in the cache.
TEST(FindBest, NoTwoTurnsInARowHaveTheSameSet) {
  std::vector<Call> calls;
  const FakeBaseline library(32, 5, &calls);
  find_best(library, 2, 9, fake_clock(calls, {10, 20, 10, 20, 10}));
  for (std::size_t i = 1; i < calls.size(); ++i) EXPECT_NE(calls[i].set, calls[i - 1].set) << i;
}

// What cuBLASLt is not asked for, by name: no library is needed to know it.
TEST(CublasLt, RefusesWhatItsTablesDoNotHave) {
  const auto reason = [](const CublasLtProblem& problem) {
    try {
      const CublasLtGemm library(problem, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::unfit);
      return std::string(error.what());
    }
    return std::string();
  };
  CublasLtProblem p{.m = 64, .n = 32, .k = 16, .a = "e4m3", .b = "e4m3", .d = "bf16"};
  p.layout = "nn";
  EXPECT_EQ(reason(p),
            "cuBLASLt cannot do e4m3 x e4m3 -> bf16 nn m=64 n=32 k=16: 8-bit operands are done in "
            "layout nt only");
  p.layout = "xx";
  EXPECT_TRUE(reason(p).ends_with("there is no layout xx")) << reason(p);
  p.layout = "nt";
  p.a = p.b = "e5m2";
  EXPECT_TRUE(reason(p).ends_with("e5m2 is multiplied by e4m3 only")) << reason(p);
  p.b = "bf16";
  EXPECT_TRUE(reason(p).ends_with("8-bit and 16-bit operands do not mix")) << reason(p);
  p.a = "bf16";
  p.scale_a = CublasLtScale::tensor;
  EXPECT_TRUE(reason(p).ends_with("scales belong to operands of 8 and 4 bits")) << reason(p);
}

void open_cublaslt_from_nowhere() {
  setenv("ASSAY_CUBLASLT_LIBRARY", "/nowhere/libcublasLt.so.13", 1);
  try {
    CublasLtGemm({.m = 64, .n = 64, .k = 64, .a = "bf16", .b = "bf16", .d = "bf16"}, {});
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
