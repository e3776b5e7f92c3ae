// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/sm90/plan_sm90.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "harness/cuda.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/grouped/operands.hpp"
#include "kernels/grouped/reference.hpp"
#include "kernels/grouped/shapes.hpp"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

// Of a raster's tile.
int rows_of(const GemmVariantSm90& v) {
  return v.swapped ? v.tile_n * v.cluster_n : v.tile_m * v.cluster_m;
}

TEST(GroupedSm90, FormsFitAnSm) {
  for (const Grouping grouping : {Grouping::contiguous, Grouping::masked, Grouping::gradient})
    for (const GemmVariantSm90& v : grouped_bf16_variants_sm90(grouping))
      EXPECT_LE(v.shared_bytes, 227 * 1024) << v.name;
  for (const auto& v : grouped_e4m3_variants_sm90())
    EXPECT_LE(v.shared_bytes, 227 * 1024) << v.name;
}

TEST(GroupedSm90, SmallGroupsTakeTilesOfFewRows) {
  const auto rows_for = [](int rows_of_group) {
    return rows_of(choose_grouped_usual_sm90(
        {Grouping::contiguous, "bf16", 32, 32 * rows_of_group, 4096, 7168}));
  };
  EXPECT_LE(rows_for(8), 32);
  EXPECT_LE(rows_for(64), 128);
  EXPECT_GE(rows_for(4096), 128);
  const auto tile_for = [](int rows_of_group) {
    return choose_grouped_e4m3_sm90(
               {Grouping::contiguous, "e4m3_block128", 32, 32 * rows_of_group, 4096, 7168})
        .name;
  };
  EXPECT_EQ(tile_for(8), "64x128x128_c1x2_s7");
  EXPECT_TRUE(tile_for(4096).starts_with("128x256x128_")) << tile_for(4096);
}

// 128 groups of 256 rows in the mean make half a tile more each than one group of as many rows.
TEST(GroupedSm90, EachGroupMakesHalfATileMore) {
  const auto cycles = [](int groups, int rows) {
    const GroupedProblem p{Grouping::contiguous, "bf16", groups, rows, 4096, 7168};
    const GemmVariantSm90& v = grouped_bf16_variants_sm90(p.grouping).front();
    return predicted_cycles_grouped_sm90(p, v, 132 / v.cluster_size(), {});
  };
  const double ratio = cycles(128, 32768) / cycles(1, 32768);
  EXPECT_GT(ratio, 1.1);
  EXPECT_LT(ratio, 1.6);
}

// A GPU of less memory bandwidth does not gain by tiles that read more.
TEST(GroupedSm90, LessOfL2TakesLonger) {
  for (const GroupedShape& s : grouped_shapes()) {
    const GroupedProblem p{s.grouping, "bf16", s.groups, s.rows, s.n, s.k};
    for (const GemmVariantSm90& v : grouped_bf16_variants_sm90(p.grouping)) {
      const int clusters = 132 / v.cluster_size();
      const double all = predicted_cycles_grouped_sm90(p, v, clusters, {});
      EXPECT_GE(predicted_cycles_grouped_sm90(p, v, clusters, {.l2 = 0.8, .dram = 0.7}), all);
      EXPECT_GT(predicted_cycles_grouped_sm90(p, v, clusters, {.l2 = 0.1, .dram = 0.1}), all);
    }
  }
}

// Time grows with rows, and no form is better than the tensor cores.
TEST(GroupedSm90, TheModelKnowsItsLimits) {
  for (const GroupedShape& s : grouped_shapes()) {
    const GroupedProblem p{s.grouping, "bf16", s.groups, s.rows, s.n, s.k};
    GroupedProblem more = p;
    more.rows *= 4;
    for (const GemmVariantSm90& v : grouped_bf16_variants_sm90(p.grouping)) {
      const int clusters = 132 / v.cluster_size();
      const double cycles = predicted_cycles_grouped_sm90(p, v, clusters, {});
      EXPECT_LT(cycles, predicted_cycles_grouped_sm90(more, v, clusters, {})) << p.text() << v.name;
      if (p.grouping == Grouping::masked) continue;
      const double flop = 2.0 * p.rows * p.n * p.k;
      EXPECT_GT(cycles, flop / 4096 / 132) << p.text() << " " << v.name;
    }
  }
}

// A box whose last rows are another group's: they lie beyond the map's end, the others where they
// lie in D.
TEST(GroupedSm90, ClippedBoxesLieInD) {
  constexpr int kN = 264, kRows = 300;
  const GroupedProblem p{Grouping::contiguous, "bf16", 2, kRows, kN, 64};
  const auto d = std::uintptr_t{1} << 40;
  for (const GemmVariantSm90& v : grouped_bf16_variants_sm90(p.grouping)) {
    const auto map = launch_of_grouped_sm90(p, {.d = std::bit_cast<void*>(d)}, v).d;
    ASSERT_EQ(map.extents.size(), 3u);
    const int box = static_cast<int>(map.box[1]);
    EXPECT_EQ(ptx::explain_refusal(map), "") << v.name;
    for (const int row : {0, 1, 77, kRows - 1}) {
      for (int written = 0; written <= std::min(box, kRows - row); ++written) {
        // store_block()'s coordinates.
        const int c1 = box - written, c2 = row + written;
        for (int i = 0; i < box; ++i) {
          const bool inside =
              c1 + i < static_cast<int>(map.extents[1]) && c2 < static_cast<int>(map.extents[2]);
          EXPECT_EQ(inside, i < written) << v.name;
          if (!inside) continue;
          EXPECT_EQ(std::bit_cast<std::uintptr_t>(map.base) +
                        static_cast<std::uintptr_t>(c1 + i) * map.strides[0] +
                        static_cast<std::uintptr_t>(c2) * map.strides[1],
                    d + static_cast<std::uintptr_t>(row + i) * kN * 2)
              << v.name;
        }
      }
    }
  }
}

// Every form writes its groups' rows and no others, on a GPU.
class GroupedOnGpuSm90 : public testing::Test {
 protected:
  static constexpr int kN = 1032, kK = 528;
  const std::vector<int> rows_ = {127, 0, 1, 650, 129, 256};

  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 ||
        current_target() != Target::sm_90a)
      GTEST_SKIP() << "needs an sm_90 GPU";
  }

  // plan_of(problem, operands, variant)
  void check_all(Grouping grouping, const char* type, const auto& variants, const auto& plan_of) {
    const Stream stream;
    const bool masked = grouping == Grouping::masked, gradient = grouping == Grouping::gradient;
    const GroupedProblem p{grouping, type, 6, masked ? 700 : 1500, kN, kK};
    std::vector<int> given = rows_;
    if (!masked) std::partial_sum(given.begin(), given.end(), given.begin());
    std::vector<Buffer> buffers;
    std::vector<void*> at;
    std::uint64_t seed = 1;
    for (const Operand& operand : grouped_operands(p, given)) {
      at.push_back(buffers.emplace_back(operand.bytes).data());
      if (operand.fill) operand.fill(at.back(), seed++, stream);
    }
    const GroupedOperands operands = grouped_operands_of(at);
    const std::size_t of_d = buffers[0].bytes() / 2;
    std::vector<bool> owned(of_d / kN, gradient);
    for (std::size_t g = 0, first = 0; g < rows_.size() && !gradient; ++g) {
      if (masked) first = g * static_cast<std::size_t>(p.rows);
      for (int r = 0; r < rows_[g]; ++r) owned[first++] = true;
    }
    for (const auto& v : variants) {
      poison(operands.d, buffers[0].bytes(), stream);
      plan_of(p, operands, v).run(stream);
      EXPECT_EQ(check_grouped(p, operands, rows_, 1 << 20, 3, stream), "") << v.name;
      std::vector<std::uint16_t> bits(of_d);
      check(cudaMemcpy(bits.data(), operands.d, buffers[0].bytes(), cudaMemcpyDeviceToHost));
      for (std::size_t row = 0; row < owned.size(); ++row) {
        if (owned[row]) continue;
        const auto begin = bits.begin() + static_cast<std::ptrdiff_t>(row * std::size_t{kN});
        EXPECT_TRUE(std::all_of(begin, begin + kN, [](std::uint16_t x) { return x == 0xffff; }))
            << v.name << " row " << row;
      }
    }
  }
};

TEST_F(GroupedOnGpuSm90, EveryFormOfBf16IsRightAndWritesNothingElse) {
  for (const Grouping grouping : {Grouping::contiguous, Grouping::masked, Grouping::gradient})
    check_all(grouping, "bf16", grouped_bf16_variants_sm90(grouping), plan_grouped_bf16_sm90);
}

TEST_F(GroupedOnGpuSm90, EveryFormOfE4m3IsRightAndWritesNothingElse) {
  for (const Grouping grouping : {Grouping::contiguous, Grouping::masked})
    check_all(grouping, "e4m3_block128", grouped_e4m3_variants_sm90(), plan_grouped_e4m3_sm90);
}

}  // namespace
}  // namespace assay::kernels
