// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/plan_sm90.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "harness/cuda.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/gemm/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

TEST(GemmSm90, FitsAnSm) { EXPECT_LE(gemm_bf16_nt_variant_sm90().shared_bytes, 227 * 1024); }

TEST(GemmSm90, IsChosenForBf16OnItsTargetAlone) {
  const GemmProblem problem{.m = 64, .n = 64, .k = 64};
  EXPECT_EQ(gemm_paths().choose(problem, Target::sm_90a).name, "sm90");
  EXPECT_THROW(gemm_paths().choose({.m = 64, .n = 64, .k = 64, .type = "f16"}, Target::sm_90a),
               Error);
}

// One sum over k in a fixed order, whatever the order of the tiles and the size of the grid.
TEST(GemmSm90, GivesTheSameBitsForEveryRasterAndGrid) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 ||
      current_target() != Target::sm_90a) {
    GTEST_SKIP() << "needs an sm_90 GPU";
  }
  constexpr int kM = 1024, kN = 2048, kK = 512;
  const Stream stream;
  const Buffer a(std::size_t{kM} * kK * 2), b(std::size_t{kN} * kK * 2),
      d(std::size_t{kM} * kN * 2);
  fill_uniform_bf16(a.data(), std::size_t{kM} * kK, 1, stream);
  fill_uniform_bf16(b.data(), std::size_t{kN} * kK, 2, stream);
  std::vector<std::uint16_t> first;
  for (const auto& [band, ctas] : {std::pair{1, 0}, {3, 0}, {8, 16}, {16, 2}}) {
    poison(d.data(), d.bytes(), stream);
    plan_gemm_sm90({.m = kM, .n = kN, .k = kK}, {d.data(), a.data(), b.data()},
                   {.band = band, .max_ctas = ctas})
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
