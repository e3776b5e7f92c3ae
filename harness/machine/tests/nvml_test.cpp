// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/nvml.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "harness/machine/nvml_abi.hpp"
// Put there by the set-up script; a toolkit may have it as well.
#if __has_include(".toolchain/nvidia/cu13/include/nvml.h")
#include ".toolchain/nvidia/cu13/include/nvml.h"
#elif __has_include(<nvml.h>)
#include <nvml.h>
#endif

namespace assay {
namespace {

TEST(Nvml, CountsOnlyWhatTakesPerformanceAway) {
  EXPECT_TRUE(throttle_reasons(0).empty());
  EXPECT_TRUE(throttle_reasons(nvml_abi::kIdle | nvml_abi::kApplicationClocks).empty());
  EXPECT_EQ(throttle_reasons(nvml_abi::kIdle | nvml_abi::kSwPowerCap | nvml_abi::kHwPowerBrake),
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

#ifdef NVML_API_VERSION  // the header is there
// The declarations this program makes for itself are those of NVIDIA's header.
TEST(Nvml, DeclaresWhatTheHeaderDeclares) {
  using namespace nvml_abi;
  EXPECT_EQ(kSuccess, NVML_SUCCESS);
  EXPECT_EQ(kFunctionNotFound, NVML_ERROR_FUNCTION_NOT_FOUND);
  EXPECT_EQ(kInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(kClockSm, NVML_CLOCK_SM);
  EXPECT_EQ(kClockMemory, NVML_CLOCK_MEM);
  EXPECT_EQ(kTemperatureGpu, NVML_TEMPERATURE_GPU);
  EXPECT_EQ(kUncorrected, NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
  EXPECT_EQ(kVolatile, NVML_VOLATILE_ECC);
  EXPECT_EQ(kPeerRead, NVML_P2P_CAPS_INDEX_READ);
  EXPECT_EQ(kPeerWrite, NVML_P2P_CAPS_INDEX_WRITE);
  EXPECT_EQ(kPeerNvlink, NVML_P2P_CAPS_INDEX_NVLINK);
  EXPECT_EQ(kPeerAtomics, NVML_P2P_CAPS_INDEX_ATOMICS);
  EXPECT_EQ(kPeerOk, NVML_P2P_STATUS_OK);
  EXPECT_EQ(kSameBoard, NVML_TOPOLOGY_INTERNAL);
  EXPECT_EQ(kOneSwitch, NVML_TOPOLOGY_SINGLE);
  EXPECT_EQ(kSwitches, NVML_TOPOLOGY_MULTIPLE);
  EXPECT_EQ(kHostBridge, NVML_TOPOLOGY_HOSTBRIDGE);
  EXPECT_EQ(kNumaNode, NVML_TOPOLOGY_NODE);
  EXPECT_EQ(kSystem, NVML_TOPOLOGY_SYSTEM);
  EXPECT_EQ(kMemoryTemperature, NVML_FI_DEV_MEMORY_TEMP);
  EXPECT_EQ(kTotalEnergy, NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION);
  EXPECT_EQ(kNvlinkCount, NVML_FI_DEV_NVLINK_LINK_COUNT);
  EXPECT_EQ(kPowerInstant, NVML_FI_DEV_POWER_INSTANT);
  EXPECT_EQ(kIdle, nvmlClocksEventReasonGpuIdle);
  EXPECT_EQ(kApplicationClocks, nvmlClocksEventReasonApplicationsClocksSetting);
  EXPECT_EQ(kSwPowerCap, nvmlClocksEventReasonSwPowerCap);
  EXPECT_EQ(kHwSlowdown, nvmlClocksThrottleReasonHwSlowdown);
  EXPECT_EQ(kSyncBoost, nvmlClocksEventReasonSyncBoost);
  EXPECT_EQ(kSwThermalSlowdown, nvmlClocksEventReasonSwThermalSlowdown);
  EXPECT_EQ(kHwThermalSlowdown, nvmlClocksThrottleReasonHwThermalSlowdown);
  EXPECT_EQ(kHwPowerBrake, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
  EXPECT_EQ(kDisplayClock, nvmlClocksEventReasonDisplayClockSetting);
#ifdef nvmlClocksEventReasonBoardLimit  // since the header of CUDA 13.2
  EXPECT_EQ(kBoardLimit, nvmlClocksEventReasonBoardLimit);
  EXPECT_EQ(kReliability, nvmlClocksEventReasonReliability);
#endif

  EXPECT_EQ(sizeof(FieldValue), sizeof(nvmlFieldValue_t));
  EXPECT_EQ(offsetof(FieldValue, type), offsetof(nvmlFieldValue_t, valueType));
  EXPECT_EQ(offsetof(FieldValue, result), offsetof(nvmlFieldValue_t, nvmlReturn));
  EXPECT_EQ(offsetof(FieldValue, value), offsetof(nvmlFieldValue_t, value));
  EXPECT_EQ(static_cast<int>(ValueType::u16), NVML_VALUE_TYPE_UNSIGNED_SHORT);
  EXPECT_EQ(static_cast<int>(ValueType::u64), NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
  EXPECT_EQ(sizeof(Process), sizeof(nvmlProcessInfo_v2_t));
  EXPECT_EQ(offsetof(Process, used_bytes), offsetof(nvmlProcessInfo_v2_t, usedGpuMemory));

  // The functions called with types deduced at the call.
  EXPECT_TRUE((std::is_same_v<decltype(nvmlDeviceGetHandleByPciBusId_v2),
                              nvmlReturn_t(const char*, nvmlDevice_t*)>));
  EXPECT_TRUE((std::is_same_v<decltype(nvmlDeviceGetCurrentClocksEventReasons),
                              nvmlReturn_t(nvmlDevice_t, unsigned long long*)>));
  EXPECT_TRUE((std::is_same_v<decltype(nvmlDeviceGetFieldValues),
                              nvmlReturn_t(nvmlDevice_t, int, nvmlFieldValue_t*)>));
  EXPECT_TRUE((std::is_same_v<decltype(nvmlDeviceGetTotalEccErrors),
                              nvmlReturn_t(nvmlDevice_t, nvmlMemoryErrorType_t,
                                           nvmlEccCounterType_t, unsigned long long*)>));
  EXPECT_TRUE((std::is_same_v<decltype(nvmlDeviceGetComputeRunningProcesses_v3),
                              nvmlReturn_t(nvmlDevice_t, unsigned*, nvmlProcessInfo_t*)>));
}
#endif

}  // namespace
}  // namespace assay
