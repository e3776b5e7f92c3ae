// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/gemm/reference.hpp"

namespace assay::kernels {
namespace {

bool has_sm90() {
  int count = 0, major = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
         major == 9;
}

TEST(Gemm, RefusesRowsThatTmaCannotAddress) {
  for (const auto& [m, n, k] : {std::tuple{64, 12, 64}, {64, 64, 4}, {0, 64, 64}}) {
    try {
      GemmPlan(nullptr, nullptr, nullptr, m, n, k);
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
    }
  }
}

TEST(Gemm, CApiReportsStatusAndLine) {
  EXPECT_EQ(assay_gemm_bf16_nt(nullptr, nullptr, nullptr, 64, 12, 64, nullptr),
            static_cast<int>(ExitCode::usage));
  EXPECT_STREQ(assay_last_error(),
               "gemm_bf16_nt: n and k must be multiples of 8 (16-byte rows), not m=64 n=12 k=64");
}

TEST(Gemm, VariantsHaveNamesOfTheirOwnAndFitAnSm) {
  std::set<std::string> names;
  for (const GemmVariant& v : gemm_variants()) {
    EXPECT_TRUE(names.insert(v.name).second) << v.name;
    EXPECT_LE(v.shared_bytes, 227 * 1024);
  }
}

// Every variant on shapes that are and are not multiples of its tile, cluster and stage, with NaN
// in and around the output.
TEST(Gemm, IsRightAndWritesNothingElse) {
  if (!has_sm90()) GTEST_SKIP() << "needs an sm_90 GPU";
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
    for (const GemmVariant& v : gemm_variants()) {
      poison(d.data(), d.bytes(), stream);
      GemmPlan(out, a.data(), b.data(), s.m, s.n, s.k, {.variant = &v}).run(stream);
      const GemmErrors errors =
          check_gemm_bf16_nt(out, a.data(), b.data(), s.m, s.n, s.k, 1 << 20, 3, stream);
      EXPECT_TRUE(errors.right()) << v.name << " m=" << s.m << " n=" << s.n << " k=" << s.k << ": "
                                  << errors.describe();
      std::vector<unsigned char> guards(2 * kGuard);
      check(cudaMemcpy(guards.data(), d.data(), kGuard, cudaMemcpyDeviceToHost));
      check(cudaMemcpy(guards.data() + kGuard, out + bytes_d, kGuard, cudaMemcpyDeviceToHost));
      EXPECT_TRUE(std::ranges::all_of(guards, [](unsigned char c) { return c == 0xff; })) << v.name;
    }
  }
}

TEST(Gemm, ReferenceSeesAWrongAndAMissingOutput) {
  if (!has_sm90()) GTEST_SKIP() << "needs an sm_90 GPU";
  constexpr int kSize = 256;
  constexpr std::size_t kCount = std::size_t{kSize} * kSize;
  const Stream stream;
  const Buffer a(kCount * 2), b(kCount * 2), d(kCount * 2);
  fill_uniform_bf16(a.data(), kCount, 1, stream);
  fill_uniform_bf16(b.data(), kCount, 2, stream);
  gemm_bf16_nt(d.data(), a.data(), b.data(), kSize, kSize, kSize, stream);
  const auto found = [&] {
    return check_gemm_bf16_nt(d.data(), a.data(), b.data(), kSize, kSize, kSize, kCount, 3, stream);
  };
  EXPECT_TRUE(found().right());
  poison(d.as<char>() + 2 * 77, 2, stream);
  EXPECT_EQ(found().not_finite, 1u);
  check(cudaMemsetAsync(d.as<char>() + 2 * 77, 0x41, 2, stream));  // 12.06
  EXPECT_GT(found().worst_ratio, 1);
}

// One sum over k in a fixed order, whatever the order of the tiles and the size of the grid.
TEST(Gemm, GivesTheSameBitsForEveryRasterAndGrid) {
  if (!has_sm90()) GTEST_SKIP() << "needs an sm_90 GPU";
  constexpr int kM = 1024, kN = 2048, kK = 512;
  const Stream stream;
  const Buffer a(std::size_t{kM} * kK * 2), b(std::size_t{kN} * kK * 2),
      d(std::size_t{kM} * kN * 2);
  fill_uniform_bf16(a.data(), std::size_t{kM} * kK, 1, stream);
  fill_uniform_bf16(b.data(), std::size_t{kN} * kK, 2, stream);
  std::vector<std::uint16_t> first;
  for (const auto& [band, ctas] : {std::pair{1, 0}, {3, 0}, {8, 16}, {16, 2}}) {
    poison(d.data(), d.bytes(), stream);
    GemmPlan(d.data(), a.data(), b.data(), kM, kN, kK, {.band = band, .max_ctas = ctas})
        .run(stream);
    check(cudaStreamSynchronize(stream));
    std::vector<std::uint16_t> bits(std::size_t{kM} * kN);
    check(cudaMemcpy(bits.data(), d.data(), d.bytes(), cudaMemcpyDeviceToHost));
    if (first.empty()) first = bits;
    EXPECT_EQ(bits, first);
  }
}

}  // namespace
}  // namespace assay::kernels
