// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workers/workspace.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "harness/measure/device_kernels.hpp"

namespace assay::kernels {
namespace {

class WorkspaceOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "needs a GPU";
  }
};

constexpr std::size_t kBytes = 2 * kFlagBytes;

// What two threads get that live at the same time.
std::vector<void*> of_two_threads(cudaStream_t stream) {
  std::vector<void*> places(2);
  std::latch both(2);
  const auto ask = [&](void*& place) {
    place = workspace(stream, kBytes);
    EXPECT_EQ(workspace(stream, kBytes), place);
    both.arrive_and_wait();
  };
  std::thread other([&] { ask(places[1]); });
  ask(places[0]);
  other.join();
  return places;
}

TEST_F(WorkspaceOnGpu, EachThreadHasItsOwnOfItsOwnStream) {
  const auto own = of_two_threads(cudaStreamPerThread);
  EXPECT_NE(own[0], own[1]);
  const Stream stream;
  const auto shared = of_two_threads(stream);
  EXPECT_EQ(shared[0], shared[1]);
  EXPECT_NE(shared[0], own[0]);
}

TEST_F(WorkspaceOnGpu, WhatWasOutgrownIsStillThere) {
  const Stream stream;
  void* const old = workspace(stream, kBytes);
  check(cudaMemsetAsync(old, 0x5a, kBytes, stream));
  void* const grown = workspace(stream, 16 * kBytes);
  EXPECT_NE(grown, old);
  EXPECT_EQ(download(static_cast<const char*>(grown), kFlagBytes, stream),
            std::vector<char>(kFlagBytes, 0));
  EXPECT_EQ(download(static_cast<const char*>(old), kBytes, stream),
            std::vector<char>(kBytes, 0x5a));
  EXPECT_EQ(workspace(stream, kBytes), grown);
}

TEST_F(WorkspaceOnGpu, WhatDoesWithoutGetsNoneDuringACapture) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));  // not destroyed: a new handle
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  void* const during = workspace_if_there(stream);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  check(cudaGraphDestroy(graph));
  void* const after = workspace_if_there(stream);
  EXPECT_NE(after, nullptr);
  // A stream before it may have had this handle.
  EXPECT_TRUE(during == nullptr || during == after);
}

TEST_F(WorkspaceOnGpu, ItDoesNotGrowDuringACaptureWhichGoesOn) {
  const Stream stream;
  void* const before = workspace(stream, kBytes);
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_EQ(workspace(stream, kBytes), before);
  try {
    workspace(stream, 1024 * kBytes);  // a stream before it may have had this handle
    FAIL() << "it grew";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
  }
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  check(cudaGraphDestroy(graph));
}

// A destroyed stream's launches run on, and its handle is the next stream's.
TEST_F(WorkspaceOnGpu, OfAHandleThatComesAgainNobodyUsesItStill) {
  cudaStream_t before = nullptr;
  check(cudaStreamCreateWithFlags(&before, cudaStreamNonBlocking));
  void* const first = workspace(before, kBytes);
  delay(50'000'000, before);  // ns
  cudaEvent_t done = nullptr;
  check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  check(cudaEventRecord(done, before));
  check(cudaStreamDestroy(before));
  std::vector<cudaStream_t> after(64);
  for (cudaStream_t& stream : after) {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (stream == before) {
      workspace_if_there(stream);  // does not wait
      EXPECT_EQ(cudaEventQuery(done), cudaErrorNotReady);
    }
    if (workspace(stream, kBytes) == first) EXPECT_EQ(cudaEventQuery(done), cudaSuccess);
  }
  for (cudaStream_t stream : after) check(cudaStreamDestroy(stream));
  check(cudaEventDestroy(done));
}

// A capture in global mode forbids cudaMalloc, by which it would become invalid.
TEST_F(WorkspaceOnGpu, ItGrowsBesideTheCaptureOfAnotherStream) {
  const Stream captured, other;
  void* const before = workspace(other, kBytes);
  check(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
  void* grown = nullptr;
  EXPECT_NO_THROW(grown = workspace(other, 2048 * kBytes));
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  check(cudaGraphDestroy(graph));
  EXPECT_NE(grown, before);
  // The mode is as it was: what forbids cudaMalloc does so still.
  check(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
  void* made = nullptr;
  EXPECT_EQ(cudaMalloc(&made, kBytes), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(captured, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
}

}  // namespace
}  // namespace assay::kernels
