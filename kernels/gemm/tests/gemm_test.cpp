// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/gemm/reference.hpp"
#include "kernels/gemm/shapes.hpp"

namespace assay::kernels {
namespace {

// Whether this machine has a GPU that some path was built for.
bool runs_here() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return false;
  return std::ranges::count(gemm_paths().targets({.m = 64, .n = 64, .k = 64}), current_target());
}

TEST(Gemm, RefusesRowsThatTmaCannotAddress) {
  for (const auto& [m, n, k] : {std::tuple{64, 12, 64}, {64, 64, 4}, {0, 64, 64}}) {
    try {
      plan_gemm({.m = m, .n = n, .k = k}, {});
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
    }
  }
}

TEST(Gemm, SaysWhyNoPathCanDoAProblem) {
  try {
    gemm_paths().choose({.m = 64, .n = 64, .k = 64, .layout = "tt"}, Target::host);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unfit);
    EXPECT_TRUE(
        std::string(error.what()).starts_with("gemm_bf16_tt m=64 n=64 k=64 cannot run here"))
        << error.what();
  }
}

// Every M mod 128 that tells tiles apart, and N and K that are odd multiples of 8.
TEST(Gemm, ShapesAreOfEverySort) {
  std::set<int> rests;
  bool odd_n = false, odd_k = false;
  std::set<std::pair<int, int>> layers;
  for (const GemmShape& shape : gemm_shapes()) {
    rests.insert(shape.m % 128);
    odd_n = odd_n || shape.n / 8 % 2 == 1;
    odd_k = odd_k || shape.k / 8 % 2 == 1;
    layers.insert({shape.n, shape.k});
  }
  for (const int rest : {0, 1, 8, 63, 64, 65, 96, 127}) EXPECT_TRUE(rests.contains(rest)) << rest;
  EXPECT_TRUE(odd_n && odd_k);
  for (const GemmLayer& layer : gemm_layers())
    EXPECT_TRUE(layers.contains({layer.n, layer.k})) << layer.model << ", " << layer.layer;
}

TEST(Gemm, ShapesAreValidAndEachOfALayerNamesItsModel) {
  std::set<std::tuple<int, int, int>> seen;
  for (const GemmShape& shape : gemm_shapes()) {
    EXPECT_NO_THROW(require_valid({.m = shape.m, .n = shape.n, .k = shape.k}));
    EXPECT_TRUE(seen.insert({shape.m, shape.n, shape.k}).second) << shape.m;
    EXPECT_EQ(shape.model.empty(), shape.layer.empty()) << shape.m;
  }
}

// Shapes that are and are not multiples of a tile, cluster and stage, with NaN in and around the
// output.
TEST(Gemm, IsRightAndWritesNothingElse) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  struct Shape {
    int m, n, k;
  };
  constexpr std::size_t kGuard = 1 << 16;
  const Stream stream;
  for (const Shape s : {Shape{1, 8, 8},
                        {7, 24, 40},
                        {64, 512, 1000},
                        {129, 264, 72},
                        {1000, 1000, 1000},
                        {1536, 4104, 2048}}) {
    const std::size_t count_a = std::size_t(s.m) * s.k, count_b = std::size_t(s.n) * s.k,
                      bytes_d = std::size_t(s.m) * s.n * 2;
    const Buffer a(count_a * 2), b(count_b * 2), d(bytes_d + 2 * kGuard);
    fill_uniform_bf16(a.data(), count_a, 1, stream);
    fill_uniform_bf16(b.data(), count_b, 2, stream);
    char* const out = d.as<char>() + kGuard;
    poison(d.data(), d.bytes(), stream);
    const GemmProblem problem{.m = s.m, .n = s.n, .k = s.k};
    const GemmOperands operands{out, a.data(), b.data()};
    plan_gemm(problem, operands).run(stream);
    const GemmErrors errors = check_gemm(problem, operands, 1 << 20, 3, stream);
    EXPECT_TRUE(errors.right()) << problem.text() << ": " << errors.describe();
    std::vector<unsigned char> guards(2 * kGuard);
    check(cudaMemcpy(guards.data(), d.data(), kGuard, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(guards.data() + kGuard, out + bytes_d, kGuard, cudaMemcpyDeviceToHost));
    EXPECT_TRUE(std::ranges::all_of(guards, [](unsigned char c) { return c == 0xff; }))
        << problem.text();
  }
}

TEST(Gemm, ReferenceSeesAWrongAndAMissingOutput) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  constexpr int kSize = 256;
  constexpr std::size_t kCount = std::size_t{kSize} * kSize;
  const Stream stream;
  const Buffer a(kCount * 2), b(kCount * 2), d(kCount * 2);
  fill_uniform_bf16(a.data(), kCount, 1, stream);
  fill_uniform_bf16(b.data(), kCount, 2, stream);
  const GemmProblem problem{.m = kSize, .n = kSize, .k = kSize};
  const GemmOperands operands{d.data(), a.data(), b.data()};
  plan_gemm(problem, operands).run(stream);
  const auto found = [&] { return check_gemm(problem, operands, kCount, 3, stream); };
  EXPECT_TRUE(found().right());
  poison(d.as<char>() + 2 * 77, 2, stream);
  EXPECT_EQ(found().not_finite, 1u);
  check(cudaMemsetAsync(d.as<char>() + 2 * 77, 0x41, 2, stream));  // 12.06
  EXPECT_GT(found().worst_ratio, 1);
}

}  // namespace
}  // namespace assay::kernels
