// SPDX-License-Identifier: Apache-2.0
// The reference, the fills and cuBLASLt judge each other: three that know nothing of one another
// agree in every type, layout and epilogue that cuBLASLt has.
#include <gtest/gtest.h>

#include <string>

#include "harness/cuda.hpp"
#include "harness/element.hpp"
#include "harness/error.hpp"
#include "kernels/baselines/cublaslt.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/gemm/tests/gpu_problem.hpp"

namespace assay::kernels {
namespace {

std::size_t bytes_of(const std::string& type, std::size_t count) {
  return count * static_cast<std::size_t>(element_bits(type)) / 8;
}

// Runs every candidate of cuBLASLt on the problem; how many there are.
int check_all(const GemmProblem& p, const CublasLtProblem& lt) {
  const GpuProblem on_gpu(p);
  const GemmOperands& o = on_gpu.operands();
  const CublasLtGemm library(lt, {{o.d, o.a, o.b, o.c, o.bias, o.scale_a, o.scale_b}});
  for (int i = 0; i < library.candidates(); ++i) {
    const Plan plan{"candidate " + std::to_string(i),
                    [&](cudaStream_t stream) { library.run(i, 0, stream); }};
    EXPECT_EQ(on_gpu.error_of(plan), "") << lt.text();
  }
  return library.candidates();
}

TEST(CublasLtOnGpu, EveryCandidateOfEveryProblemIsRight) {
  if (!has_gpu()) GTEST_SKIP() << "needs a GPU";
  struct Types {
    const char *a, *b, *d;
  };
  for (const Types& t : {Types{"bf16", "bf16", "bf16"},
                         {"bf16", "bf16", "f32"},
                         {"f16", "f16", "f16"},
                         {"f16", "f16", "f32"},
                         {"e4m3", "e4m3", "bf16"},
                         {"e4m3", "e5m2", "bf16"},
                         {"e5m2", "e4m3", "f16"},
                         {"e4m3", "e4m3", "f16"},
                         {"e4m3", "e4m3", "f32"}}) {
    const bool fp8 = t.a[0] == 'e';
    for (const char* layout : {"nt", "nn", "tn", "tt"})
      for (const bool addend : {false, true})
        for (const bool bias : {false, true})
          for (const CublasLtScale scale :
               {CublasLtScale::none, CublasLtScale::tensor, CublasLtScale::row})
            for (const bool fast : {false, true}) {
              const bool scaled = scale != CublasLtScale::none;
              if (!fp8 && (scaled || !fast)) continue;
              CublasLtProblem lt{.m = 192, .n = 320, .k = 1040, .a = t.a, .b = t.b, .d = t.d};
              lt.layout = layout;
              lt.alpha = addend ? 0.75f : 1.0f;
              lt.beta = addend ? -1.5f : 0.0f;
              lt.bias = bias;
              lt.scale_a = lt.scale_b = scale;
              lt.fast_accumulation = fast;
              if (!lt.refusal().empty()) continue;
              const GemmProblem p{.m = lt.m,
                                  .n = lt.n,
                                  .k = lt.k,
                                  .type = t.a,
                                  .layout = layout,
                                  .type_b = t.b,
                                  .type_d = t.d,
                                  .alpha = lt.alpha,
                                  .beta = lt.beta,
                                  .bias = bias,
                                  .scaling = scale == CublasLtScale::none     ? Scaling::none
                                             : scale == CublasLtScale::tensor ? Scaling::tensor
                                                                              : Scaling::row};
              try {
                EXPECT_GT(check_all(p, lt), 0);
              } catch (const Error& error) {
                EXPECT_EQ(error.code(), ExitCode::unfit) << error.what();
                std::printf("  %s scale %d addend %d bias %d: %s\n", lt.text().c_str(),
                            static_cast<int>(scale), addend, bias, error.what());
              }
            }
  }
}

TEST(FillOnGpu, NormalValuesHaveMeanZeroAndVarianceOneInEveryType) {
  if (!has_gpu()) GTEST_SKIP() << "needs a GPU";
  constexpr std::size_t kCount = 1 << 20;
  const Stream stream;
  for (const std::string type : {"bf16", "f16", "f32", "e4m3", "e5m2"}) {
    const std::size_t bytes = bytes_of(type, 1);
    const Buffer data(kCount * bytes), again(kCount * bytes);
    fill_normal(type, data.data(), kCount, 9, stream);
    fill_normal(type, again.data(), kCount, 9, stream);
    const auto found = download(data.as<unsigned char>(), kCount * bytes, stream);
    EXPECT_EQ(found, download(again.as<unsigned char>(), kCount * bytes, stream)) << type;
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      std::uint64_t bits = 0;
      for (std::size_t byte = 0; byte < bytes; ++byte)
        bits |= std::uint64_t{found[i * bytes + byte]} << (8 * byte);
      const double value = unpack(type, bits);
      sum += value;
      squares += value * value;
    }
    // Five standard errors; rounding to e5m2 adds a hundredth to the variance at most.
    EXPECT_NEAR(sum / kCount, 0, 5e-3) << type;
    EXPECT_NEAR(squares / kCount, 1, 0.02) << type;
  }
}

}  // namespace
}  // namespace assay::kernels
