// SPDX-License-Identifier: Apache-2.0
// The part of NVML's binary interface that nvml.cpp uses, so that building needs no nvml.h.
// From nvml.h of CUDA 13.0, the last two clock reasons of 13.2; nvml_test.cpp compares each line
// with the header where it is found.
#pragma once

namespace assay::nvml_abi {

using Return = int;  // nvmlReturn_t
using Handle = void*;
constexpr Return kSuccess = 0;
constexpr Return kFunctionNotFound = 13;
constexpr Return kInsufficientSize = 7;

constexpr int kClockSm = 1, kClockMemory = 2;   // nvmlClockType_t
constexpr int kTemperatureGpu = 0;              // nvmlTemperatureSensors_t
constexpr int kUncorrected = 1, kVolatile = 0;  // nvmlMemoryErrorType_t, nvmlEccCounterType_t

// nvmlGpuP2PCapsIndex_t, nvmlGpuP2PStatus_t
constexpr int kPeerRead = 0, kPeerWrite = 1, kPeerNvlink = 2, kPeerAtomics = 3;
constexpr int kPeerOk = 0;

// nvmlGpuTopologyLevel_t
constexpr int kSameBoard = 0, kOneSwitch = 10, kSwitches = 20, kHostBridge = 30, kNumaNode = 40,
              kSystem = 50;

// NVML_FI_DEV_*
constexpr unsigned kMemoryTemperature = 82;
constexpr unsigned kTotalEnergy = 83;
constexpr unsigned kNvlinkCount = 91;
constexpr unsigned kPowerInstant = 186;

// nvmlClocksEventReason*
constexpr unsigned long long kIdle = 0x1, kApplicationClocks = 0x2, kSwPowerCap = 0x4,
                             kHwSlowdown = 0x8, kSyncBoost = 0x10, kSwThermalSlowdown = 0x20,
                             kHwThermalSlowdown = 0x40, kHwPowerBrake = 0x80, kDisplayClock = 0x100,
                             kBoardLimit = 0x200, kReliability = 0x400;

enum class ValueType : int {  // nvmlValueType_t
  f64 = 0,
  u32 = 1,
  ulong = 2,
  u64 = 3,
  s64 = 4,
  s32 = 5,
  u16 = 6
};

union Value {  // nvmlValue_t
  double f64;
  unsigned u32;
  unsigned long ulong;
  unsigned long long u64;
  long long s64;
  int s32;
  unsigned short u16;
};

struct FieldValue {  // nvmlFieldValue_t
  unsigned field = 0;
  unsigned scope = 0;
  long long timestamp_us = 0;
  long long latency_us = 0;
  ValueType type = ValueType::f64;
  Return result = kSuccess;
  Value value{};
};

struct Process {  // nvmlProcessInfo_v2_t, filled by nvmlDeviceGetComputeRunningProcesses_v3
  unsigned pid = 0;
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

}  // namespace assay::nvml_abi
