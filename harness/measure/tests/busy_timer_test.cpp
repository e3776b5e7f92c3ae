// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/busy_timer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "harness/measure/device_kernels.hpp"

namespace assay {
namespace {

TEST(BusyTimer, DoesNotCountTheTimeOfTheCpu) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "needs a GPU";
  const Stream stream;
  BusyTimer timer;
  int calls = 0;
  const auto slow_to_launch = [&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    delay(20'000, stream);
  };
  const double first = timer.nanoseconds(stream, slow_to_launch);
  EXPECT_GT(calls, 1);  // again, until the GPU was busy for long enough
  EXPECT_GT(first, 19'000);
  EXPECT_LT(first, 60'000);
  calls = 0;
  EXPECT_LT(timer.nanoseconds(stream, slow_to_launch), 60'000);
  EXPECT_LE(calls, 2);  // it has learned
}

}  // namespace
}  // namespace assay
