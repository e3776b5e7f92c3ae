// SPDX-License-Identifier: Apache-2.0
// Where a caller's memory must lie: what every C function that launches a kernel says of arguments
// that are null, misaligned, or memory of the host.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "harness/error.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/gemm/tests/gpu_problem.hpp"

namespace assay::kernels {
namespace {

constexpr int kUsage = static_cast<int>(ExitCode::usage);

// A call with `place` as each of its operands.
struct Function {
  std::string name;
  std::function<int(char* place)> call;
};

const float* factors(char* place) { return reinterpret_cast<const float*>(place); }
const int* counts(char* place) { return reinterpret_cast<const int*>(place); }

std::vector<Function> functions() {
  return {
      {"assay_gemm_bf16_nt",
       [](char* x) { return assay_gemm_bf16_nt(x, x, x, 64, 64, 128, nullptr); }},
      {"assay_gemm",
       [](char* x) {
         return assay_gemm(x, x, x, nullptr, nullptr, ASSAY_BF16, ASSAY_BF16, ASSAY_NT, 64, 64, 128,
                           1, 0, ASSAY_IDENTITY, nullptr);
       }},
      {"assay_gemm_fp8",
       [](char* x) {
         return assay_gemm_fp8(x, x, x, factors(x), factors(x), nullptr, nullptr, ASSAY_E4M3,
                               ASSAY_E4M3, ASSAY_BF16, ASSAY_SCALE_TENSOR, 64, 64, 128, 1, 0,
                               ASSAY_IDENTITY, nullptr);
       }},
      {"assay_gemm_e4m3_block128_nt",
       [](char* x) {
         return assay_gemm_e4m3_block128_nt(x, x, x, factors(x), factors(x), 64, 64, 128, nullptr);
       }},
      {"assay_grouped_bf16_nt",
       [](char* x) {
         return assay_grouped_bf16_nt(x, x, x, counts(x), 0, 2, 64, 64, 128, nullptr);
       }},
      {"assay_grouped_e4m3_block128_nt",
       [](char* x) {
         return assay_grouped_e4m3_block128_nt(x, x, x, factors(x), factors(x), counts(x), 0, 2, 64,
                                               64, 128, nullptr);
       }},
      {"assay_grouped_gradient_bf16",
       [](char* x) {
         return assay_grouped_gradient_bf16(x, x, x, counts(x), 2, 64, 64, 128, nullptr);
       }},
      {"assay_skinny",
       [](char* x) { return assay_skinny("nvf4", x, x, x, x, factors(x), 16, 64, 128, nullptr); }},
  };
}

TEST(CApiPlaces, NullAndMisalignedMemoryIsRefusedWithoutAGpu) {
  for (const Function& function : functions()) {
    EXPECT_EQ(function.call(nullptr), kUsage) << function.name;
    EXPECT_NE(std::string(assay_last_error()).find("d is "), std::string::npos)
        << assay_last_error();
    EXPECT_EQ(function.call(reinterpret_cast<char*>(0x10001)), kUsage) << function.name;
    EXPECT_NE(std::string(assay_last_error()).find("aligned to "), std::string::npos)
        << assay_last_error();
  }
}

TEST(CApiPlaces, WithoutAGpuItSaysWhatTheMachineLacks) {
  if (has_gpu()) GTEST_SKIP() << "needs a machine without a GPU";
  for (const Function& function : functions()) {
    EXPECT_EQ(function.call(reinterpret_cast<char*>(0x10000)), static_cast<int>(ExitCode::unfit))
        << function.name;
    const std::string said = assay_last_error();
    EXPECT_TRUE(said.starts_with("no NVIDIA driver: ") || said.starts_with("no GPU is visible: ") ||
                said.starts_with("the NVIDIA driver is too old: "))
        << said;
  }
}

TEST(CApiPlacesOnGpu, MemoryOfTheHostIsRefused) {
  if (!has_gpu()) GTEST_SKIP() << "needs a GPU";
  alignas(16) static char host[1 << 16];
  for (const Function& function : functions()) {
    EXPECT_EQ(function.call(host), kUsage) << function.name;
    EXPECT_EQ(std::string(assay_last_error()), function.name + ": d is no memory of a GPU");
  }
}

}  // namespace
}  // namespace assay::kernels
