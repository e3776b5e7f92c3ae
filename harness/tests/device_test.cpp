// SPDX-License-Identifier: Apache-2.0
#include "harness/device.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "harness/cuda.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Device, TellsNoDriverFromOldDriver) {
  const std::string none = explain_no_device(cudaErrorInsufficientDriver, 0, nullptr);
  EXPECT_TRUE(contains(none, "no NVIDIA driver")) << none;
  const std::string old = explain_no_device(cudaErrorInsufficientDriver, 12080, nullptr);
  EXPECT_TRUE(contains(old, "supports CUDA 12.8")) << old;
  EXPECT_TRUE(contains(old, "needs 13.")) << old;
}

TEST(Device, NamesTheVariableThatHidesTheGpu) {
  const std::string hidden = explain_no_device(cudaErrorNoDevice, 13000, "");
  EXPECT_TRUE(contains(hidden, "CUDA_VISIBLE_DEVICES is ''")) << hidden;
  EXPECT_FALSE(contains(explain_no_device(cudaErrorNoDevice, 13000, nullptr), "CUDA_VISIBLE"));
}

TEST(Device, EveryReasonIsItsOwnSingleLine) {
  std::set<std::string> messages;
  const cudaError_t errors[] = {cudaErrorInsufficientDriver,
                                cudaErrorNoDevice,
                                cudaErrorSystemNotReady,
                                cudaErrorSystemDriverMismatch,
                                cudaErrorCompatNotSupportedOnDevice,
                                cudaErrorDevicesUnavailable,
                                cudaErrorUnknown};
  for (const cudaError_t error : errors) {
    const std::string message = explain_no_device(error, 13000, nullptr);
    EXPECT_FALSE(contains(message, "\n")) << message;
    messages.insert(message);
  }
  EXPECT_EQ(messages.size(), std::size(errors));
}

TEST(Device, NamesTheArchitectureItHasNoCodeFor) {
  const std::string message = explain_no_code("NVIDIA A100", 8, 0);
  EXPECT_TRUE(contains(message, "NVIDIA A100 is sm_80")) << message;
  for (const Target target : built_targets())
    EXPECT_TRUE(contains(message, std::string(name(target)))) << message;
  EXPECT_TRUE(contains(explain_no_code("NVIDIA GB10", 12, 1), "sm_121"));
}

// Whatever call is the first to meet it: words for whoever starts a program, no line of its source.
TEST(Device, ACheckedCallSaysWhatTheMachineLacks) {
  const auto said = [](cudaError_t error) {
    try {
      check(error);
    } catch (const Error& thrown) {
      return std::pair(thrown.code(), std::string(thrown.what()));
    }
    return std::pair(ExitCode::ok, std::string());
  };
  for (const cudaError_t error :
       {cudaErrorNoDevice, cudaErrorInsufficientDriver, cudaErrorSystemDriverMismatch,
        cudaErrorSystemNotReady, cudaErrorNoKernelImageForDevice}) {
    const auto [code, words] = said(error);
    EXPECT_EQ(code, ExitCode::unfit) << words;
    EXPECT_FALSE(contains(words, ".cpp:")) << words;
    EXPECT_FALSE(contains(words, cudaGetErrorName(error))) << words;
    EXPECT_EQ(words, why_unfit(error));
  }
  EXPECT_TRUE(contains(said(cudaErrorSystemDriverMismatch).second, "reboot"));
  const auto [code, words] = said(cudaErrorInvalidValue);
  EXPECT_EQ(code, ExitCode::failed);
  EXPECT_TRUE(contains(words, "device_test.cpp:") && contains(words, "cudaErrorInvalidValue"));
}

// True on every machine: either there are GPUs with sensible facts, or a reason with status 4.
TEST(Device, FindsGpusOrSaysWhyNot) {
  try {
    for (const Device& gpu : devices()) {
      EXPECT_FALSE(gpu.name.empty());
      EXPECT_GT(gpu.sm_count, 0);
      EXPECT_GE(gpu.shared_bytes_per_sm, gpu.shared_bytes_per_block);
      const Target fitting = target_for_capability(gpu.major, gpu.minor);
      const bool built = std::ranges::count(built_targets(), fitting) > 0;
      EXPECT_EQ(gpu.target, built ? fitting : Target::host);
    }
    EXPECT_THROW(device(10'000), Error);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unfit) << error.what();
  }
}

}  // namespace
}  // namespace assay
