// SPDX-License-Identifier: Apache-2.0
// Clocks, power, temperature, throttling and settings of a GPU, through NVML opened at run time.
// Nothing here changes a setting.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/machine/or_reason.hpp"

struct nvmlDevice_st;  // nvml.h

namespace assay {

// What changes from moment to moment. A value that this GPU or driver does not tell is absent.
struct Reading {
  std::optional<double> sm_clock_mhz, memory_clock_mhz;
  std::optional<double> power_w;  // instantaneous where the driver tells it, else its 1 s average
  std::optional<double> temperature_c, memory_temperature_c;
  std::optional<std::uint64_t> energy_mj;  // since the driver was loaded
  std::vector<std::string> throttle;       // names from throttle_reasons()
  std::optional<int> other_processes;      // not from read(), which is to be cheap
};

// What stays as it is during a run.
struct GpuSettings {
  std::optional<double> power_limit_w;          // enforced now
  std::optional<double> power_limit_default_w;  // as delivered
  std::optional<double> sm_clock_max_mhz, memory_clock_max_mhz;
  std::optional<bool> ecc, mig, persistence;
  std::optional<std::uint64_t> uncorrected_errors;  // since the driver was loaded
  std::optional<std::string> vbios;
  std::optional<int> pcie_generation, pcie_generation_max;  // falls at idle, rises under load
  std::optional<int> pcie_width, pcie_width_max;            // lanes
  std::optional<int> nvlink_count, nvlink_active;
};

// How two GPUs reach each other.
struct PeerPath {
  std::string pcie;  // what the PCIe path crosses: "one switch", "host bridge", ...
  bool nvlink = false;
  bool peer_read = false, peer_write = false, peer_atomics = false;
};

// Names of the reasons in a mask from nvmlDeviceGetCurrentClocksEventReasons that take performance
// away: "sw_power_cap", "hw_thermal_slowdown", ... Idle and application clocks are none of these.
std::vector<std::string> throttle_reasons(unsigned long long mask);

struct NvmlLibrary;

// One GPU in NVML. A cheap handle to copy.
class NvmlDevice {
 public:
  // Cheap enough for a poll each 10 ms: five calls, no allocation in the driver.
  Reading read() const;
  GpuSettings settings() const;
  // Compute processes on this GPU besides this one. In a container NVML tells the host's process
  // ids, by which this process cannot recognise itself: ask before the first CUDA context exists.
  std::optional<int> other_processes() const;
  // All compute processes on this GPU, this one included once it has a context.
  std::optional<int> processes() const;
  // Share of the last sample period (1/6 to 1 s) in which any kernel ran, in percent.
  std::optional<int> utilization() const;
  PeerPath path_to(const NvmlDevice& peer) const;

 private:
  friend class Nvml;
  NvmlDevice(std::shared_ptr<const NvmlLibrary> library, nvmlDevice_st* handle);
  std::shared_ptr<const NvmlLibrary> library_;
  nvmlDevice_st* handle_;
};

// NVML itself. A machine without it can still measure: conditions are then missing, with a reason.
class Nvml {
 public:
  static OrReason<Nvml> open();
  std::string driver_version() const;  // "580.65.06"; empty if not told
  // The GPU at a PCI bus id as Device::pci_bus_id has it.
  OrReason<NvmlDevice> device(const std::string& pci_bus_id) const;

 private:
  explicit Nvml(std::shared_ptr<const NvmlLibrary> library) : library_(std::move(library)) {}
  std::shared_ptr<const NvmlLibrary> library_;
};

}  // namespace assay
