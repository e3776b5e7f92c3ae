// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/sm90/plan_sm90.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "harness/cuda.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/gemm_block_scaled/operands.hpp"
#include "kernels/gemm_block_scaled/reference.hpp"

namespace assay::kernels {
namespace {

// Each SASS check names the kernel that a launch on such a GPU takes: no GPU is asked for it.
TEST(BlockScaledSm90, ChoosesNarrowTilesWhereWideOnesLeaveSmsIdle) {
  const auto kernel = [](const BlockScaledProblem& p) {
    return block_scaled_paths().choose(p, Target::sm_90a).kernels(p).front().kernel;
  };
  EXPECT_EQ(kernel({4096, 7168, 16384}), "gemm_e4m3_block_scaled_sm90<128, 256, 4, 2, 1>");
  EXPECT_EQ(kernel({4096, 2112, 7168}), "gemm_e4m3_block_scaled_sm90<128, 192, 5, 2, 1>");
  EXPECT_EQ(kernel({1000, 2048, 3008}), "gemm_e4m3_block_scaled_sm90<128, 128, 5, 2, 1>");
  // Few rows: a pair of CTAs shares A where it has two tiles of rows.
  EXPECT_EQ(kernel({128, 7168, 16384}), "gemm_e4m3_block_scaled_sm90<64, 128, 7, 1, 2>");
  EXPECT_EQ(kernel({64, 7168, 16384}), "gemm_e4m3_block_scaled_sm90<64, 128, 7, 1, 1>");
}

TEST(BlockScaledSm90, SplitsFewTilesOfLongSums) {
  const auto kernels = [](const BlockScaledProblem& p) {
    return block_scaled_paths().choose(p, Target::sm_90a).kernels(p);
  };
  const auto split = kernels({256, 256, 65536});
  ASSERT_EQ(split.size(), 2u);
  EXPECT_TRUE(split[0].kernel.starts_with("gemm_e4m3_block_scaled_parts_sm90<")) << split[0].kernel;
  EXPECT_TRUE(split[1].kernel.starts_with("gemm_reduce_sm90<")) << split[1].kernel;
  EXPECT_EQ(kernels({256, 256, 512}).size(), 1u);
  EXPECT_EQ(kernels({4096, 4096, 65536}).size(), 1u);
}

class BlockScaledOnGpuSm90 : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 ||
        current_target() != Target::sm_90a)
      GTEST_SKIP() << "needs an sm_90 GPU";
  }

  // Valid until the next call.
  BlockScaledOperands filled(const BlockScaledProblem& p, cudaStream_t stream) {
    buffers_.clear();
    std::vector<void*> at;
    std::uint64_t seed = 1;
    for (const Operand& operand : block_scaled_operands(p)) {
      at.push_back(buffers_.emplace_back(operand.bytes).data());
      if (operand.fill) operand.fill(at.back(), seed++, stream);
    }
    return block_scaled_operands_of(at);
  }
  std::size_t bytes_of_d() const { return buffers_[0].bytes(); }

 private:
  std::vector<Buffer> buffers_;
};

// Of forms that split tiles, every number of parts, which need not be alike.
TEST_F(BlockScaledOnGpuSm90, PartsAddUp) {
  const BlockScaledProblem p{300, 264, 16400};
  const Stream stream;
  const BlockScaledOperands operands = filled(p, stream);
  int ran = 0;
  for (const BlockScaledVariantSm90& v : block_scaled_variants_sm90()) {
    for (const int parts : parts_of_block_scaled_sm90(v, p)) {
      poison(operands.d, bytes_of_d(), stream);
      const Plan plan = plan_gemm_block_scaled_sm90(p, operands, {.variant = &v, .parts = parts});
      for (int launch = 0; launch < 2; ++launch) plan.run(stream);
      const GemmErrors errors = check_gemm_block_scaled(p, operands, 1 << 14, 1, stream);
      EXPECT_TRUE(errors.right()) << plan.variant << ": " << errors.describe();
      ++ran;
    }
  }
  EXPECT_GT(ran, 0);
}

// One sum over k in a fixed order, whatever the order of the tiles and the size of the grid.
TEST_F(BlockScaledOnGpuSm90, GivesTheSameBitsForEveryRasterAndGrid) {
  const BlockScaledProblem p{1024, 2048, 512};
  const Stream stream;
  const BlockScaledOperands operands = filled(p, stream);
  std::vector<std::uint16_t> first;
  for (const auto& [band, ctas] : {std::pair{1, 0}, {3, 0}, {0, 16}, {16, 2}}) {
    poison(operands.d, bytes_of_d(), stream);
    plan_gemm_block_scaled_sm90(p, operands, {.band = band, .max_ctas = ctas}).run(stream);
    check(cudaStreamSynchronize(stream));
    std::vector<std::uint16_t> bits(bytes_of_d() / 2);
    check(cudaMemcpy(bits.data(), operands.d, bytes_of_d(), cudaMemcpyDeviceToHost));
    if (first.empty()) first = bits;
    EXPECT_EQ(bits, first);
  }
}

}  // namespace
}  // namespace assay::kernels
