// SPDX-License-Identifier: Apache-2.0
// The GPUs that the CUDA runtime shows to this process, and why it shows none.
#pragma once
#include <driver_types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/target.hpp"

namespace assay {

// Facts of one GPU, as the CUDA runtime states them. Reading them creates no context.
struct Device {
  int index = 0;  // ordinal among the visible GPUs
  std::string name;
  int major = 0, minor = 0;      // compute capability
  Target target = Target::host;  // code it runs; host if this build has none for it
  int sm_count = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  int memory_bus_bits = 0;
  double memory_clock_max_mhz = 0;  // 0 where the driver does not tell
  double sm_clock_max_mhz = 0;
  std::uint64_t shared_bytes_per_sm = 0;
  std::uint64_t shared_bytes_per_block = 0;  // the most one block may opt in to
  int threads_per_sm = 0;
  int threads_per_block = 0;
  int registers_per_sm = 0;
  int blocks_per_sm = 0;
  std::string uuid;        // 16 bytes, as they are; names one GPU, so never put in a result
  std::string pci_bus_id;  // finds the same GPU in NVML; names a machine, so never put in a result
};

// Every visible GPU, also those that assay has no code for.
// Throws Error(unfit) if there is no driver, if it is too old, or if no GPU is visible.
std::vector<Device> devices();

// GPU `index`, which assay must have code for. Throws as devices() does, Error(usage) if there is
// no such index, and Error(unfit) if this build has no code for it.
Device device(int index);

// Memory a new allocation could use now, bytes. Creates a context on the GPU (a few hundred MB and
// some 0.1 s), so ask only for a GPU that is about to be used.
std::uint64_t free_memory_bytes(int index);

// What a call that failed so says of this machine, and how to mend it: explain_no_device() or
// explain_no_code(). Empty for an error that says nothing of the machine.
std::string why_unfit(cudaError_t error);

// Both are pure, so that they can be tested without the machine they speak of.
//
// What a failed attempt to count the GPUs means and how to mend it, in one line. `driver` is the
// newest CUDA version the installed driver supports as cudaDriverGetVersion tells it (12080 is
// 12.8), 0 if there is none; `visible` is $CUDA_VISIBLE_DEVICES, null if unset.
std::string explain_no_device(cudaError_t error, int driver, const char* visible);
// Why assay cannot run on a GPU of this compute capability, and what it was built for.
std::string explain_no_code(const std::string& gpu, int major, int minor);

}  // namespace assay
