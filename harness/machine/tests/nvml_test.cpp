// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/nvml.hpp"

#include <gtest/gtest.h>
#include <nvml.h>

namespace assay {
namespace {

TEST(Nvml, CountsOnlyWhatTakesPerformanceAway) {
  EXPECT_TRUE(throttle_reasons(0).empty());
  EXPECT_TRUE(throttle_reasons(nvmlClocksEventReasonGpuIdle |
                               nvmlClocksEventReasonApplicationsClocksSetting)
                  .empty());
  EXPECT_EQ(throttle_reasons(nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonSwPowerCap |
                             nvmlClocksThrottleReasonHwPowerBrakeSlowdown),
            (std::vector<std::string>{"sw_power_cap", "hw_power_brake"}));
  EXPECT_EQ(throttle_reasons(~0ull).size(), 9u);
}

// True on every machine: NVML opens, or a reason says why not.
TEST(Nvml, OpensOrSaysWhyNot) {
  const OrReason<Nvml> nvml = Nvml::open();
  EXPECT_NE(static_cast<bool>(nvml), !nvml.reason().empty());
  if (!nvml) return;
  EXPECT_FALSE(nvml->driver_version().empty());
  EXPECT_FALSE(nvml->device("FFFFFFFF:FF:1F.0"));
}

}  // namespace
}  // namespace assay
