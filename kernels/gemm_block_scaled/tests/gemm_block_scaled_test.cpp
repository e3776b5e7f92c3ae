// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/gemm_block_scaled.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <set>
#include <tuple>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/frame/fill.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/reference.hpp"
#include "kernels/gemm_block_scaled/shapes.hpp"

namespace assay::kernels {
namespace {

// Whether this machine has a GPU that some path was built for.
bool runs_here() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return false;
  return std::ranges::count(block_scaled_paths().targets({.m = 64, .n = 64, .k = 128}),
                            current_target());
}

TEST(BlockScaled, RefusesRowsThatTmaCannotAddress) {
  for (const auto& [m, n, k] :
       {std::tuple{64, 12, 128}, {64, 64, 8}, {0, 64, 128}, {-1, 64, 128}}) {
    try {
      plan_gemm_block_scaled({.m = m, .n = n, .k = k}, {});
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
    }
  }
}

TEST(BlockScaled, CApiReportsStatusAndLine) {
  const auto call = [](void* d, const void* other, int n) {
    const auto* scales = static_cast<const float*>(other);
    return assay_gemm_e4m3_block128_nt(d, other, other, scales, scales, 64, n, 128, nullptr);
  };
  EXPECT_EQ(call(nullptr, nullptr, 12), static_cast<int>(ExitCode::usage));
  EXPECT_STREQ(assay_last_error(),
               "gemm_e4m3_block128: k must be a multiple of 16 and n of 8 (16-byte rows), not m=64 "
               "n=12 k=128");
  alignas(16) static char memory[16];
  EXPECT_EQ(call(memory, nullptr, 64), static_cast<int>(ExitCode::usage));
  EXPECT_EQ(call(memory + 8, memory, 64), static_cast<int>(ExitCode::usage));
  EXPECT_TRUE(std::string(assay_last_error()).starts_with("gemm_e4m3_block128: d is at "));
}

TEST(BlockScaled, RefusesSizesThatNoGpuHolds) {
  for (const BlockScaledProblem& p :
       {BlockScaledProblem{1 << 24, 1 << 24, 128}, {64, 64, INT_MAX - 15}, {INT_MAX, 8, 128}})
    EXPECT_THROW(require_valid(p), Error) << p.m << " " << p.n << " " << p.k;
}

TEST(BlockScaled, ShapesAreValidAndEachOfALayerNamesItsModel) {
  std::set<std::tuple<int, int, int>> seen;
  for (const BlockScaledShape& shape : block_scaled_shapes()) {
    EXPECT_NO_THROW(require_valid(BlockScaledProblem{shape.m, shape.n, shape.k}));
    EXPECT_TRUE(seen.insert({shape.m, shape.n, shape.k}).second) << shape.m;
    EXPECT_EQ(shape.model.empty(), shape.layer.empty()) << shape.m;
  }
}

struct Inputs {
  explicit Inputs(const BlockScaledProblem& p, cudaStream_t stream)
      : a(std::size_t(p.m) * p.k),
        b(std::size_t(p.n) * p.k),
        scale_a(std::size_t(blocks_of_scales(p.k)) * scale_a_stride(p.m) * 4),
        scale_b(std::size_t(blocks_of_scales(p.n)) * scale_b_stride(p.k) * 4) {
    fill_normal("e4m3", a.data(), a.bytes(), 1, stream);
    fill_normal("e4m3", b.data(), b.bytes(), 2, stream);
    fill_factors(scale_a.data(), scale_a.bytes() / 4, 3, stream);
    fill_factors(scale_b.data(), scale_b.bytes() / 4, 4, stream);
  }
  BlockScaledOperands into(void* d) const {
    return {d, a.data(), b.data(), scale_a.as<float>(), scale_b.as<float>()};
  }
  Buffer a, b, scale_a, scale_b;
};

// Shapes that are and are not multiples of a tile, cluster, stage and block, with NaN in and around
// the output.
TEST(BlockScaled, IsRightAndWritesNothingElse) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  constexpr std::size_t kGuard = 1 << 16;
  const Stream stream;
  for (const BlockScaledProblem p : {BlockScaledProblem{1, 8, 16},
                                     {7, 24, 48},
                                     {64, 512, 1008},
                                     {129, 264, 144},
                                     {1000, 1000, 1008},
                                     {1537, 4104, 2048}}) {
    const std::size_t bytes_d = std::size_t(p.m) * p.n * 2;
    const Inputs inputs(p, stream);
    const Buffer d(bytes_d + 2 * kGuard);
    char* const out = d.as<char>() + kGuard;
    poison(d.data(), d.bytes(), stream);
    plan_gemm_block_scaled(p, inputs.into(out)).run(stream);
    const GemmErrors errors = check_gemm_block_scaled(p, inputs.into(out), 1 << 20, 3, stream);
    EXPECT_TRUE(errors.right()) << p.text() << ": " << errors.describe();
    std::vector<unsigned char> guards(2 * kGuard);
    check(cudaMemcpy(guards.data(), d.data(), kGuard, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(guards.data() + kGuard, out + bytes_d, kGuard, cudaMemcpyDeviceToHost));
    EXPECT_TRUE(std::ranges::all_of(guards, [](unsigned char c) { return c == 0xff; })) << p.text();
  }
}

TEST(BlockScaled, ReferenceSeesAWrongAMissingAndAWronglyScaledOutput) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  const BlockScaledProblem p{256, 256, 512};
  const Stream stream;
  const Inputs inputs(p, stream);
  const Buffer d(std::size_t(p.m) * p.n * 2);
  plan_gemm_block_scaled(p, inputs.into(d.data())).run(stream);
  const auto found = [&] {
    return check_gemm_block_scaled(p, inputs.into(d.data()), 1 << 20, 3, stream);
  };
  EXPECT_TRUE(found().right());
  poison(d.as<char>() + 2 * 77, 2, stream);
  EXPECT_EQ(found().not_finite, 1u);
  plan_gemm_block_scaled(p, inputs.into(d.data())).run(stream);
  fill_factors(inputs.scale_b.data(), inputs.scale_b.bytes() / 4, 5, stream);
  EXPECT_GT(found().worst_ratio, 1);
}

}  // namespace
}  // namespace assay::kernels
