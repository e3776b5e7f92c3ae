// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/gemm/contest.hpp"
#include "kernels/gemm/reference.hpp"
#include "kernels/gemm/shapes.hpp"
#include "kernels/gemm/tests/gpu_problem.hpp"

namespace assay::kernels {
namespace {

// Whether this machine has a GPU that some path was built for.
bool runs_here() {
  if (!has_gpu()) return false;
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

// Numbers of their tiles would not fit an int.
TEST(Gemm, RefusesSizesThatNoGpuHolds) {
  for (const auto& [m, n, k] :
       {std::tuple{1 << 22, 1 << 22, 64}, {INT_MAX - 7, 8, 64}, {1, 8, INT_MAX - 7}}) {
    try {
      require_valid(GemmProblem{.m = m, .n = n, .k = k});
      FAIL() << "accepted m=" << m;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find("must be at most 2^31"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_NO_THROW(require_valid(GemmProblem{.m = 1 << 20, .n = 1 << 20, .k = 64}));
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
    EXPECT_NO_THROW(require_valid(GemmProblem{.m = shape.m, .n = shape.n, .k = shape.k}));
    EXPECT_TRUE(seen.insert({shape.m, shape.n, shape.k}).second) << shape.m;
    EXPECT_EQ(shape.model.empty(), shape.layer.empty()) << shape.m;
  }
}

// Every problem by whatever path is chosen for it, on shapes that are and are not multiples of a
// tile, cluster and stage, with NaN in and around the output.
TEST(GemmOnGpu, IsRightAndWritesNothingElse) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  struct Size {
    int m, n, k;
  };
  int dress = 0;
  for (Size s : {Size{1, 8, 8},
                 {7, 24, 40},
                 {64, 512, 1000},
                 {129, 264, 72},
                 {40, 72, 16384},  // few tiles, in many parts
                 {1000, 1000, 1000},
                 {1536, 4104, 2048}})
    for (const std::string a : {"bf16", "f16", "e4m3", "e5m2"})
      for (const std::string b : {a, std::string(a == "e4m3" ? "e5m2" : "e4m3")})
        for (const std::string layout : {"nt", "nn", "tn", "tt"}) {
          const bool fp8 = a[0] == 'e';
          if (fp8 ? layout != "nt" : b != a) continue;
          GemmProblem p{.m = s.m, .n = s.n, .k = s.k, .type = a, .layout = layout};
          p.type_b = b;
          p.type_d = fp8 ? "bf16" : a;
          const int step = fp8 ? 16 : 8;
          if (layout[0] == 't') p.m = (p.m + step - 1) / step * step;
          p.n = (p.n + step - 1) / step * step;
          p.k = (p.k + step - 1) / step * step;
          ++dress;
          if (dress % 8 == 1) p = with_epilogue(p, "alpha_beta");
          if (dress % 4 == 1) p.type_d = "f32";
          if (dress % 4 == 2) p = with_epilogue(p, "alpha_beta");
          constexpr const char* kActivated[] = {"bias_gelu", "bias_silu", "bias_gelu_tanh"};
          if (dress % 4 == 3) p = with_epilogue(p, kActivated[dress / 4 % 3]);
          if (fp8) p.scaling = static_cast<Scaling>(dress % 3);
          const GpuProblem on_gpu(p);
          EXPECT_EQ(on_gpu.error_of(plan_gemm(p, on_gpu.operands())), "") << epilogue_of(p);
        }
}

// Each product's D is the next one's A, in two buffers by turns. Kernels that begin while the one
// before ends must neither read its results too early nor write over what it still reads.
TEST(GemmOnGpu, ChainsWithoutPausesLeaveTheBitsOfThoseWithPauses) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  constexpr int kProducts = 12, kTimes = 20;
  struct Size {
    int m, k;
  };
  for (const Size s : {Size{1, 512}, {64, 4096}, {100, 512}, {777, 1024}, {2048, 2048}}) {
    const GemmProblem p{.m = s.m, .n = s.k, .k = s.k};
    const auto count = static_cast<std::size_t>(s.m) * static_cast<std::size_t>(s.k);
    const Stream stream;
    const Buffer first(2 * count), b(2 * static_cast<std::size_t>(s.k) * s.k);
    const Buffer turns[2] = {Buffer(2 * count), Buffer(2 * count)};
    fill_normal("bf16", first.data(), count, 1, stream);
    fill_normal("bf16", b.data(), static_cast<std::size_t>(s.k) * s.k, 2, stream);
    const auto chain = [&](bool pauses) {
      check(cudaMemcpyAsync(turns[0].data(), first.data(), 2 * count, cudaMemcpyDeviceToDevice,
                            stream));
      for (int i = 0; i < kProducts; ++i) {
        plan_gemm(p, {turns[(i + 1) % 2].data(), turns[i % 2].data(), b.data()}).run(stream);
        if (pauses) check(cudaStreamSynchronize(stream));
      }
      return download(turns[kProducts % 2].as<std::uint16_t>(), count, stream);
    };
    const auto wanted = chain(true);
    for (int time = 0; time < kTimes; ++time)
      ASSERT_EQ(chain(false), wanted) << p.text() << ", time " << time;
  }
}

TEST(GemmOnGpu, ReferenceSeesAWrongAndAMissingOutput) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  const GemmProblem problem{.m = 256, .n = 256, .k = 256};
  const GpuProblem on_gpu(problem);
  const GemmOperands& o = on_gpu.operands();
  plan_gemm(problem, o).run(on_gpu.stream());
  const auto found = [&] { return check_gemm(problem, o, 1 << 16, 3, on_gpu.stream()); };
  EXPECT_TRUE(found().right());
  poison(static_cast<char*>(o.d) + 2 * 77, 2, on_gpu.stream());
  EXPECT_EQ(found().not_finite, 1u);
  check(cudaMemsetAsync(static_cast<char*>(o.d) + 2 * 77, 0x45, 2, on_gpu.stream()));  // 3156
  EXPECT_GT(found().worst_ratio, 1);
}

}  // namespace
}  // namespace assay::kernels
