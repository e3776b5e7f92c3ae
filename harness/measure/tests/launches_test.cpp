// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/launches.hpp"

#include <gtest/gtest.h>

#include <string>

#include "harness/cuda.hpp"
#include "harness/measure/device_kernels.hpp"

namespace assay {
namespace {

class LaunchesOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "needs a GPU";
  }
};

TEST_F(LaunchesOnGpu, AreThoseThatTheWorkEnqueues) {
  const Stream stream;
  Buffer stamps(kMaxSms * sizeof(ClockStamp));
  const auto launches = kernels_launched(stream, [&] {
    delay(1000, stream);
    stamp_clocks(stamps.as<ClockStamp>(), 7, stream);
  });
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_NE(launches[0].kernel, launches[1].kernel);
  EXPECT_NE(launches[1].kernel.find("stamp"), std::string::npos) << launches[1].kernel;
  EXPECT_EQ(launches[0].grid[0], 1U);
  EXPECT_GE(launches[1].block[0], 1U);
}

// Where the driver can capture a graph's launch; elsewhere nothing is said of it.
TEST_F(LaunchesOnGpu, ThoseOfAGraphAreItsKernelsOrNone) {
  const Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 3; ++i) delay(1000, stream);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  cudaError_t status = cudaErrorUnknown;
  const auto launches = kernels_launched(stream, [&] {
    status = cudaGraphLaunch(executable, stream);
    check(status);
  });
  EXPECT_EQ(launches.size(), status == cudaSuccess ? 3U : 0U) << cudaGetErrorString(status);
  RecordProperty("launch_in_capture", cudaGetErrorString(status));
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
}

// What waits cannot be captured: nothing is said of it, and the stream is of use afterwards.
TEST_F(LaunchesOnGpu, AreNoneOfWhatWaits) {
  const Stream stream;
  EXPECT_TRUE(kernels_launched(stream, [&] {
                delay(1000, stream);
                check(cudaStreamSynchronize(stream));
              }).empty());
  delay(1000, stream);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace assay
