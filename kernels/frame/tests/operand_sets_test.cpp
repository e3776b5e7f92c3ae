// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/operand_sets.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/measure/state_impl.hpp"

namespace assay::kernels {
namespace {

TEST(OperandSets, AreEnoughThatL2HasForgottenOneWhenItsTurnComes) {
  EXPECT_EQ(sets_beyond_l2(50'000'000, 400'000'000), 2);  // one is larger than L2 by itself
  EXPECT_EQ(sets_beyond_l2(50'000'000, 10'000'000), 12);
  for (const std::size_t bytes : {1'000'000, 7'000'000, 49'000'000, 51'000'000, 99'000'000}) {
    const auto others = static_cast<std::size_t>(sets_beyond_l2(50'000'000, bytes) - 1);
    EXPECT_GE(others * bytes, 2 * 50'000'000u) << bytes;
  }
}

TEST(OperandSets, InputsFollowTheSeedAndOutputsArePoisoned) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "needs a GPU";
  GpuContext gpu(device(0));
  constexpr std::size_t kCount = 4096;
  using Values = std::vector<std::uint16_t>;
  const auto inputs = [&](std::uint64_t seed) {
    std::set<Values> found;
    const Probe probe{.name = "operand_sets_test",
                      .question = "",
                      .metrics = {{"sets", "Sets of operands that rotate."}},
                      .run = [&](State& s) {
                        const OperandSets sets(s, {{.bytes = kCount * 2}, uniform_bf16(kCount)});
                        for (int i : {0, 1}) {
                          const auto values = [&](std::size_t operand) {
                            return download(static_cast<const std::uint16_t*>(sets[i][operand]),
                                            kCount, s.stream());
                          };
                          EXPECT_EQ(values(0), Values(kCount, 0xffff));
                          found.insert(values(1));
                        }
                        s.add_exact("sets", "", Better::higher, sets.count());
                      }};
    RunOptions options;
    options.seed = seed;
    const Measurement m = measure_case(probe, probe.cases.front(), options, &gpu);
    EXPECT_EQ(m.status, Status::ok) << m.reason;
    EXPECT_EQ(found.size(), 2u);  // each set has its own values
    return found;
  };
  EXPECT_EQ(inputs(1), inputs(1));
  EXPECT_NE(inputs(1), inputs(2));
}

}  // namespace
}  // namespace assay::kernels
