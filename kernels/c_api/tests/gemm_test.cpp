// SPDX-License-Identifier: Apache-2.0
// What the C functions of the matrix product refuse, and that they touch nothing then.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/gemm/tests/gpu_problem.hpp"

namespace assay::kernels {
namespace {

constexpr int kUsage = static_cast<int>(ExitCode::usage);

// Addresses that look right; nothing is there.
template <class T = void>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

// The arguments of both functions, right ones, one of which each test spoils.
struct Arguments {
  void* d = at(0x10000);
  const void* a = at(0x20000);
  const void* b = at(0x30000);
  const void* c = nullptr;
  const void* bias = nullptr;
  const float* scale_a = at<float>(0x40004);
  const float* scale_b = at<float>(0x50008);
  int type = ASSAY_BF16, type_b = ASSAY_E4M3, type_d = ASSAY_BF16, layout = ASSAY_NT;
  int scaling = ASSAY_SCALE_TENSOR, activation = ASSAY_IDENTITY;
  std::int64_t m = 64, n = 64, k = 64;
  float alpha = 1, beta = 0;
  void* stream = nullptr;

  int plain() const {
    return assay_gemm(d, a, b, c, bias, type, type_d, layout, m, n, k, alpha, beta, activation,
                      stream);
  }
  int fp8() const {
    return assay_gemm_fp8(d, a, b, scale_a, scale_b, c, bias, ASSAY_E4M3, type_b, type_d, scaling,
                          m, n, k, alpha, beta, activation, stream);
  }
};

template <class Change>
std::string refused(Change change, bool fp8 = false) {
  Arguments arguments;
  change(arguments);
  EXPECT_EQ(fp8 ? arguments.fp8() : arguments.plain(), kUsage);
  return assay_last_error();
}

TEST(CApiGemm, RefusesNullPointers) {
  EXPECT_EQ(refused([](Arguments& x) { x.d = nullptr; }), "assay_gemm: d is null");
  EXPECT_EQ(refused([](Arguments& x) { x.a = nullptr; }), "assay_gemm: a is null");
  EXPECT_EQ(refused([](Arguments& x) { x.b = nullptr; }), "assay_gemm: b is null");
  EXPECT_EQ(refused([](Arguments& x) { x.beta = 1; }), "assay_gemm: c is null");
  EXPECT_EQ(refused([](Arguments& x) { x.scale_a = nullptr; }, true),
            "assay_gemm_fp8: scale_a is null");
  EXPECT_EQ(refused([](Arguments& x) { x.scale_b = nullptr; }, true),
            "assay_gemm_fp8: scale_b is null");
}

TEST(CApiGemm, RefusesMisalignedPointers) {
  EXPECT_EQ(refused([](Arguments& x) { x.d = at(0x10008); }),
            "assay_gemm: d must be aligned to 16 bytes, 0x10008 is not");
  EXPECT_EQ(refused([](Arguments& x) { x.a = at(0x10002); }),
            "assay_gemm: a must be aligned to 16 bytes, 0x10002 is not");
  EXPECT_EQ(refused([](Arguments& x) { x.bias = at(0x10004); }),
            "assay_gemm: bias must be aligned to 16 bytes, 0x10004 is not");
  EXPECT_EQ(refused([](Arguments& x) { x.scale_b = at<float>(0x10002); }, true),
            "assay_gemm_fp8: scale_b must be aligned to 4 bytes, 0x10002 is not");
}

TEST(CApiGemm, RefusesSizes) {
  EXPECT_EQ(refused([](Arguments& x) { x.m = -1; }),
            "gemm_bf16_nt: sizes must be positive, not m=-1 n=64 k=64");
  EXPECT_EQ(refused([](Arguments& x) { x.k = 0; }),
            "gemm_bf16_nt: sizes must be positive, not m=64 n=64 k=0");
  EXPECT_EQ(refused([](Arguments& x) { x.n = std::int64_t{1} << 32; }),
            "assay_gemm: n must be at most 2^31 - 1, not 4294967296");
  EXPECT_EQ(refused([](Arguments& x) { x.m = INT64_MIN; }, true),
            "assay_gemm_fp8: m must be at most 2^31 - 1, not -9223372036854775808");
  EXPECT_EQ(refused([](Arguments& x) { x.n = 60; }),
            "gemm_bf16_nt: n and k must be multiples of 8 (16-byte rows), not m=64 n=60 k=64");
  EXPECT_EQ(refused([](Arguments& x) { x.k = 72; }, true),
            "gemm_e4m3_nt: n and k must be multiples of 16 (16-byte rows), not m=64 n=64 k=72");
}

TEST(CApiGemm, RefusesNumbersThatNameNothing) {
  EXPECT_EQ(refused([](Arguments& x) { x.type = ASSAY_E4M3; }),
            "assay_gemm: type is 3, which is none of 0 (bf16), 1 (f16)");
  EXPECT_EQ(refused([](Arguments& x) { x.type_d = -1; }),
            "assay_gemm: type_d is -1, which is none of 0 (bf16), 1 (f16), 2 (f32)");
  EXPECT_EQ(refused([](Arguments& x) { x.layout = 4; }),
            "assay_gemm: layout is 4, which is none of 0 (nt), 1 (nn), 2 (tn), 3 (tt)");
  EXPECT_EQ(refused([](Arguments& x) { x.activation = 4; }),
            "assay_gemm: activation is 4, which is none of 0 (identity), 1 (gelu), 2 (silu), 3 "
            "(gelu_tanh)");
  EXPECT_EQ(refused([](Arguments& x) { x.type_b = ASSAY_BF16; }, true),
            "assay_gemm_fp8: type_b is 0, which is none of 3 (e4m3), 4 (e5m2)");
  EXPECT_EQ(refused([](Arguments& x) { x.scaling = 0; }, true),
            "assay_gemm_fp8: scaling is 0, which is none of 1 (tensor), 2 (row)");
}

TEST(CApiGemm, NamesTheShapesThatAreMeasured) {
  int m = 0, n = 0, k = 0, set = -1, count = 0;
  const char *model = nullptr, *layer = nullptr;
  while (assay_gemm_shape(count, &m, &n, &k, &set, &model, &layer) == 0) {
    EXPECT_GT(m, 0);
    EXPECT_TRUE(set >= 0 && set <= 2);
    EXPECT_EQ(std::string(model).empty(), std::string(layer).empty());
    ++count;
  }
  EXPECT_GT(count, 100);
  EXPECT_TRUE(
      std::string(assay_last_error()).starts_with("assay_gemm_shape: there are shapes 0 to"));
  EXPECT_EQ(assay_gemm_shape(0, nullptr, &n, &k, &set, &model, &layer), kUsage);
}

TEST(CApiSkinny, NamesTheLayersThatAreMeasured) {
  int n = 0, k = 0, set = -1, count = 0;
  const char *model = nullptr, *layer = nullptr;
  while (assay_skinny_layer(count, &n, &k, &set, &model, &layer) == 0) {
    EXPECT_GT(n, 0);
    EXPECT_GT(k, 0);
    EXPECT_TRUE(set == 0 || set == 1);
    EXPECT_EQ(std::string(model).empty(), std::string(layer).empty());
    ++count;
  }
  EXPECT_GE(count, 18);
  EXPECT_EQ(std::string(assay_last_error()), "assay_skinny_layer: there are layers 0 to " +
                                                 std::to_string(count - 1) + ", not " +
                                                 std::to_string(count));
  EXPECT_EQ(assay_skinny_layer(0, &n, nullptr, &set, &model, &layer), kUsage);
}

TEST(CApiGemmOnGpu, RefusesMemoryOfTheHostAndOfAnotherGpuAndTouchesNothing) {
  if (!has_gpu()) GTEST_SKIP() << "needs a GPU";
  const Stream stream;
  const Buffer a(64 * 64 * 2), b(64 * 64 * 2), d(64 * 64 * 2);
  poison(d.data(), d.bytes(), stream);
  const auto untouched = [&] {
    const auto bytes = download(d.as<unsigned char>(), d.bytes(), stream);
    return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0xff; });
  };
  alignas(16) static char host[64 * 64 * 2];
  EXPECT_EQ(assay_gemm_bf16_nt(d.data(), host, b.data(), 64, 64, 64, stream), kUsage);
  EXPECT_STREQ(assay_last_error(), "assay_gemm_bf16_nt: a is no memory of a GPU");
  EXPECT_EQ(assay_gemm_bf16_nt(d.data(), a.data(), b.data(), -64, 64, 64, stream), kUsage);
  EXPECT_EQ(assay_gemm_bf16_nt(d.as<char>() + 2, a.data(), b.data(), 63, 64, 64, stream), kUsage);
  EXPECT_TRUE(untouched());
  int count = 0;
  check(cudaGetDeviceCount(&count));
  if (count < 2) return;
  {
    const OnDevice other(1);
    EXPECT_EQ(assay_gemm_bf16_nt(d.data(), a.data(), b.data(), 64, 64, 64, nullptr), kUsage);
    EXPECT_STREQ(assay_last_error(),
                 "assay_gemm_bf16_nt: d is memory of GPU 0, the current one is 1");
  }
  EXPECT_TRUE(untouched());
}

TEST(CApiGemmOnGpu, DoesWhatItsArgumentsSay) {
  if (!has_gpu()) GTEST_SKIP() << "needs a GPU";
  const auto run = [](const GemmProblem& p, auto call) {
    const GpuProblem on_gpu(p);
    const Plan plan{"C", [&](cudaStream_t stream) {
                      EXPECT_EQ(call(on_gpu.operands(), stream), 0) << assay_last_error();
                    }};
    EXPECT_EQ(on_gpu.error_of(plan), "");
  };
  run({.m = 72, .n = 136, .k = 200, .type = "f16", .layout = "tn", .alpha = 0.5f, .beta = 2},
      [](const GemmOperands& o, cudaStream_t stream) {
        return assay_gemm(o.d, o.a, o.b, o.c, nullptr, ASSAY_F16, ASSAY_F16, ASSAY_TN, 72, 136, 200,
                          0.5f, 2, ASSAY_IDENTITY, stream);
      });
  GemmProblem p{.m = 65, .n = 144, .k = 208, .type = "e4m3"};
  p.type_b = "e5m2";
  p.type_d = "bf16";
  p.bias = true;
  p.activation = Activation::silu;
  p.scaling = Scaling::row;
  run(p, [](const GemmOperands& o, cudaStream_t stream) {
    return assay_gemm_fp8(o.d, o.a, o.b, o.scale_a, o.scale_b, nullptr, o.bias, ASSAY_E4M3,
                          ASSAY_E5M2, ASSAY_BF16, ASSAY_SCALE_ROW, 65, 144, 208, 1, 0, ASSAY_SILU,
                          stream);
  });
}

// Products that share k among CTAs, of two threads, each on the stream that cudaStreamPerThread is
// for it: neither may see the other's sums.
TEST(CApiGemmOnGpu, ThreadsOnTheirOwnStreamsDoNotMeet) {
  if (!has_gpu()) GTEST_SKIP() << "needs a GPU";
  constexpr int kM = 64, kN = 64, kK = 1 << 15, kTimes = 300;
  const auto product = [](void* d, const Buffer& a, const Buffer& b, void* stream) {
    EXPECT_EQ(assay_gemm_bf16_nt(d, a.data(), b.data(), kM, kN, kK, stream), 0)
        << assay_last_error();
  };
  const auto of_thread = [&](std::uint64_t seed) {
    const Stream own;
    const Buffer a(2 * kM * kK), b(2 * kN * kK), d(2 * kM * kN * kTimes);
    fill_normal("bf16", a.data(), kM * kK, seed, own);
    fill_normal("bf16", b.data(), kN * kK, seed + 1, own);
    const Buffer alone(2 * kM * kN);
    product(alone.data(), a, b, own);
    const auto expected = download(alone.as<std::uint16_t>(), kM * kN, own);
    for (std::size_t i = 0; i < kTimes; ++i)
      product(d.as<std::uint16_t>() + i * kM * kN, a, b, cudaStreamPerThread);
    check(cudaStreamSynchronize(cudaStreamPerThread));
    for (std::size_t i = 0; i < kTimes; ++i)
      EXPECT_EQ(download(d.as<std::uint16_t>() + i * kM * kN, kM * kN, own), expected) << i;
  };
  std::thread other(of_thread, 3);
  of_thread(5);
  other.join();
}

}  // namespace
}  // namespace assay::kernels
