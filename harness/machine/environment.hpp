// SPDX-License-Identifier: Apache-2.0
// Where a result was measured. Holds what a reader needs to judge or repeat it, and nothing that
// names a machine or a person: no serial numbers, UUIDs, bus ids, host names, user names or paths.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/device.hpp"
#include "harness/machine/nvml.hpp"
#include "harness/machine/or_reason.hpp"

namespace assay {

struct GpuEnvironment {
  Device device;  // pci_bus_id is empty; of uuid a file gets a hash
  OrReason<GpuSettings> settings;
  // When the run began, before this process used the GPU: others that had it open, and how much of
  // the time it was busy, in percent.
  std::optional<int> other_processes = {}, utilization = {};
};

// Text is empty and a number 0 where the system does not tell.
struct HostEnvironment {
  std::string cpu;        // "AMD EPYC 9654 96-Core Processor"
  int logical_cores = 0;  // online
  int usable_cores = 0;   // that this process may run on
  int numa_nodes = 0;
  std::string governor;  // "performance"
  std::uint64_t memory_bytes = 0;
  std::string kernel;     // "6.8.0-45-generic"
  std::string system;     // "Ubuntu 24.04.1 LTS"
  std::string container;  // "docker", "podman", "apptainer", "kubernetes", ...; empty if none
};

struct BuildEnvironment {
  std::string version;   // of assay
  std::string commit;    // empty outside a git checkout
  bool dirty = false;    // built from files that differ from that commit
  std::string nvcc;      // "13.0.88"
  std::string compiler;  // of the host code: "GNU 12.2.0"
  std::string type;      // "release" without assertions, else "debug"
};

struct Environment {
  OrReason<GpuEnvironment> gpu;
  std::string driver;        // "580.65.06"; empty without NVML
  std::string cuda_runtime;  // that this program is linked with: "13.0"
  std::string cuda_driver;   // newest the driver supports; empty without a driver
  HostEnvironment host;
  BuildEnvironment assay;
};

// All of it, for GPU `index`. Never throws for want of a GPU: `gpu` then has the reason.
// Call before the first CUDA context, for the count of other processes.
Environment capture_environment(int index);

BuildEnvironment build_environment();

// Returns once no other process is on GPU `index`, or at once where NVML cannot tell. Throws
// Error(unfit) after `seconds`. Makes no CUDA context.
void wait_until_free(int index, double seconds);

// The host's part, read from /proc, /sys and /etc below `root`, which a test may replace.
HostEnvironment host_environment(const std::filesystem::path& root = "/");

}  // namespace assay
