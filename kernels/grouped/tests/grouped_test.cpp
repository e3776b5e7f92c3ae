// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/grouped.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <numeric>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/frame/fill.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/grouped/reference.hpp"
#include "kernels/grouped/shapes.hpp"

namespace assay::kernels {
namespace {

constexpr const char* kTypes[] = {"bf16", "e4m3_block128"};

// Whether this machine has a GPU that some path was built for.
bool runs_here() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return false;
  return std::ranges::count(grouped_paths().targets({Grouping::contiguous, "bf16", 1, 64, 64, 64}),
                            current_target());
}

TEST(Grouped, RefusesWhatNoPathCanDo) {
  const auto refused = [](const GroupedProblem& problem) {
    try {
      require_valid(problem);
    } catch (const Error& error) {
      return error.code() == ExitCode::usage;
    }
    return false;
  };
  const GroupedProblem good{Grouping::masked, "bf16", 4, 64, 64, 64};
  EXPECT_NO_THROW(require_valid(good));
  const auto with = [&](auto change) {
    GroupedProblem p = good;
    change(p);
    return p;
  };
  EXPECT_TRUE(refused(with([](auto& p) { p.type = "f16"; })));
  EXPECT_TRUE(refused(with([](auto& p) { p.groups = 0; })));
  EXPECT_TRUE(refused(with([](auto& p) { p.rows = -1; })));
  EXPECT_TRUE(refused(with([](auto& p) { p.n = 12; })));
  EXPECT_TRUE(refused(with([](auto& p) {
    p.type = "e4m3_block128";
    p.grouping = Grouping::gradient;
  })));
  EXPECT_TRUE(refused(with([](auto& p) { p.k = 12; })));
  EXPECT_TRUE(refused(with([](auto& p) { p.groups = 1 << 26; })));
  EXPECT_TRUE(refused(with([](auto& p) { p.rows = 1 << 22, p.n = 1 << 22, p.groups = 1; })));
  EXPECT_TRUE(refused(with([](auto& p) {
    p.grouping = Grouping::gradient;
    p.groups = 1, p.k = 8, p.n = INT_MAX - 7;
  })));
  EXPECT_TRUE(refused(with([](auto& p) {
    p.type = "e4m3_block128";
    p.k = 8;
  })));
}

TEST(Grouped, CApiReportsStatusAndLine) {
  EXPECT_EQ(assay_grouped_bf16_nt(nullptr, nullptr, nullptr, nullptr, 0, 2, 64, 64, 64, nullptr),
            static_cast<int>(ExitCode::usage));
  EXPECT_TRUE(std::string(assay_last_error())
                  .starts_with("grouped_bf16_contiguous groups=2 rows=64 n=64 k=64: d is at "))
      << assay_last_error();
  EXPECT_EQ(assay_grouped_e4m3_block128_nt(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 1,
                                           2, 64, 60, 64, nullptr),
            static_cast<int>(ExitCode::usage));
}

TEST(Grouped, ShapesAreValidAndTheirRowsAddUp) {
  for (const GroupedShape& shape : grouped_shapes()) {
    EXPECT_NO_THROW(require_valid(
        GroupedProblem{shape.grouping, "bf16", shape.groups, shape.rows, shape.n, shape.k}));
    const std::vector<int> rows = rows_of_groups(shape), sizes = sizes_of_groups(shape);
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(shape.groups));
    EXPECT_TRUE(std::ranges::all_of(rows, [&](int r) { return r >= 0 && r <= shape.rows; }));
    if (shape.grouping != Grouping::masked) {
      EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), 0), shape.rows);
      EXPECT_EQ(sizes.back(), shape.rows);
      EXPECT_TRUE(std::ranges::is_sorted(sizes));
    }
    if (shape.uneven && shape.groups >= 8) EXPECT_EQ(rows[7], 0);
  }
}

// The same rows that kernels/torch draws for itself: their test has these numbers too.
TEST(Grouped, UnevenRowsAreThoseOfTheTorchRunner) {
  const GroupedShape shape{Grouping::contiguous, 8, 32768, 0, 4096, 7168, true, Suite::full};
  EXPECT_EQ(sizes_of_groups(shape),
            (std::vector<int>{9467, 13995, 18829, 20043, 23121, 25805, 32768, 32768}));
}

// Groups that are empty, of one row, of a tile and one more, with NaN where no group is.
TEST(Grouped, IsRightAndWritesNothingElse) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  struct Groups {
    GroupedProblem problem;
    std::vector<int> rows;
  };
  const Stream stream;
  for (const char* type : kTypes) {
    for (const Groups& c :
         {Groups{{Grouping::contiguous, type, 4, 1000, 1032, 528}, {300, 0, 1, 600}},
          Groups{{Grouping::contiguous, type, 3, 257, 264, 144}, {0, 257, 0}},
          Groups{{Grouping::masked, type, 5, 260, 520, 272}, {260, 0, 129, 1, 17}}}) {
      const GroupedProblem& p = c.problem;
      const auto size = [](int value) { return static_cast<std::size_t>(value); };
      const bool masked = p.grouping == Grouping::masked, scaled = p.type != "bf16";
      const std::size_t element = scaled ? 1 : 2, parts = masked ? size(p.groups) : 1;
      const std::size_t count_a = parts * size(p.rows) * size(p.k),
                        count_b = size(p.groups) * size(p.n) * size(p.k),
                        count_d = parts * size(p.rows) * size(p.n);
      const std::size_t count_scale_a =
          parts * size(blocks_of_scales(p.k)) * size(scale_a_stride(p.rows));
      const std::size_t count_scale_b =
          size(p.groups) * size(blocks_of_scales(p.n)) * size(scale_b_stride(p.k));
      const Buffer a(count_a * element), b(count_b * element), d(count_d * 2),
          sizes(size(p.groups) * 4), scale_a(count_scale_a * 4), scale_b(count_scale_b * 4);
      fill_normal(scaled ? "e4m3" : "bf16", a.data(), count_a, 1, stream);
      fill_normal(scaled ? "e4m3" : "bf16", b.data(), count_b, 2, stream);
      fill_factors(scale_a.data(), count_scale_a, 3, stream);
      fill_factors(scale_b.data(), count_scale_b, 4, stream);
      poison(d.data(), d.bytes(), stream);
      std::vector<int> given = c.rows;
      if (!masked) std::partial_sum(given.begin(), given.end(), given.begin());
      check(cudaMemcpy(sizes.data(), given.data(), sizes.bytes(), cudaMemcpyHostToDevice));
      const GroupedOperands operands{
          d.data(), a.data(), b.data(), sizes.as<int>(), scale_a.as<float>(), scale_b.as<float>()};
      plan_grouped(p, operands).run(stream);
      EXPECT_EQ(check_grouped(p, operands, c.rows, 1 << 20, 3, stream), "") << p.text();
      std::vector<std::uint16_t> bits(count_d);
      check(cudaMemcpy(bits.data(), d.data(), d.bytes(), cudaMemcpyDeviceToHost));
      std::vector<bool> owned(parts * size(p.rows), false);
      std::size_t first = 0;
      for (int g = 0; g < p.groups; ++g) {
        if (masked) first = size(g) * size(p.rows);
        for (int r = 0; r < c.rows[size(g)]; ++r) owned[first++] = true;
      }
      for (std::size_t row = 0; row < owned.size(); ++row) {
        if (owned[row]) continue;
        const auto begin = bits.begin() + static_cast<std::ptrdiff_t>(row * size(p.n));
        EXPECT_TRUE(std::all_of(begin, begin + p.n, [](std::uint16_t x) { return x == 0xffff; }))
            << p.text() << " row " << row;
      }
    }
  }
}

// Rows of no group and of neighbours are infinite: they must not come into a sum.
TEST(Grouped, GradientsAreRightAndOfEachGroupAlone) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  const Stream stream;
  const GroupedProblem p{Grouping::gradient, "bf16", 5, 700, 1032, 528};
  const std::vector<int> rows = {0, 65, 1, 128, 300}, ends = {0, 65, 66, 194, 494};
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t count_a = size(p.rows) * size(p.k), count_b = size(p.rows) * size(p.n),
                    count_d = size(p.groups) * size(p.k) * size(p.n);
  const Buffer a(count_a * 2), b(count_b * 2), d(count_d * 2), sizes(size(p.groups) * 4);
  fill_normal("bf16", a.data(), count_a, 1, stream);
  fill_normal("bf16", b.data(), count_b, 2, stream);
  const std::size_t used = 494;
  poison(a.as<char>() + used * size(p.k) * 2, (size(p.rows) - used) * size(p.k) * 2, stream);
  poison(b.as<char>() + used * size(p.n) * 2, (size(p.rows) - used) * size(p.n) * 2, stream);
  poison(d.data(), d.bytes(), stream);
  check(cudaMemcpy(sizes.data(), ends.data(), sizes.bytes(), cudaMemcpyHostToDevice));
  const GroupedOperands operands{d.data(), a.data(), b.data(), sizes.as<int>()};
  plan_grouped(p, operands).run(stream);
  EXPECT_EQ(check_grouped(p, operands, rows, 1 << 20, 3, stream), "");
  std::vector<std::uint16_t> first(size(p.k) * size(p.n));  // of the group without rows
  check(cudaMemcpy(first.data(), d.data(), first.size() * 2, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(std::ranges::all_of(first, [](std::uint16_t x) { return x == 0; }));
}

}  // namespace
}  // namespace assay::kernels
