// SPDX-License-Identifier: Apache-2.0
#include "harness/device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>

#include "harness/error.hpp"

namespace assay {
namespace {

// 13000 -> "13.0", the numbering of CUDART_VERSION.
std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

void require(cudaError_t error, const char* what, int index) {
  if (error == cudaSuccess) return;
  throw Error(ExitCode::unfit, std::string(what) + " of GPU " + std::to_string(index) +
                                   " failed: " + cudaGetErrorString(error));
}

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  require(cudaDeviceGetAttribute(&value, which, index), "reading an attribute", index);
  return value;
}

// Attributes that a newer driver may stop telling; they are shown, nothing is computed from them.
int attribute_or_zero(cudaDeviceAttr which, int index) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, index) == cudaSuccess) return value;
  (void)cudaGetLastError();
  return 0;
}

// explain_no_device() of this machine.
std::string no_device_here(cudaError_t error) {
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);
  return explain_no_device(error, driver, std::getenv("CUDA_VISIBLE_DEVICES"));
}

int device_count() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return count;
  throw Error(ExitCode::unfit, no_device_here(error == cudaSuccess ? cudaErrorNoDevice : error));
}

Device facts(int index) {
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, index), "reading the properties", index);
  char pci_bus_id[32] = "";
  require(cudaDeviceGetPCIBusId(pci_bus_id, sizeof pci_bus_id, index), "reading the bus id", index);

  Device device;
  device.index = index;
  device.name = properties.name;
  device.uuid.assign(properties.uuid.bytes, sizeof properties.uuid.bytes);
  device.major = properties.major;
  device.minor = properties.minor;
  const Target fitting = target_for_capability(properties.major, properties.minor);
  if (std::ranges::count(built_targets(), fitting) > 0) device.target = fitting;
  device.sm_count = properties.multiProcessorCount;
  device.memory_bytes = properties.totalGlobalMem;
  device.l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  device.memory_bus_bits = properties.memoryBusWidth;
  device.memory_clock_max_mhz = attribute_or_zero(cudaDevAttrMemoryClockRate, index) / 1e3;  // kHz
  device.sm_clock_max_mhz = attribute_or_zero(cudaDevAttrClockRate, index) / 1e3;            // kHz
  device.shared_bytes_per_sm = properties.sharedMemPerMultiprocessor;
  device.shared_bytes_per_block = properties.sharedMemPerBlockOptin;
  device.threads_per_sm = properties.maxThreadsPerMultiProcessor;
  device.threads_per_block = properties.maxThreadsPerBlock;
  device.registers_per_sm = properties.regsPerMultiprocessor;
  device.blocks_per_sm = attribute(cudaDevAttrMaxBlocksPerMultiprocessor, index);
  device.pci_bus_id = pci_bus_id;
  return device;
}

}  // namespace

std::string explain_no_device(cudaError_t error, int driver, const char* visible) {
  const std::string needed = cuda_version(CUDART_VERSION);
  switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:  // a libcuda for linking only, as in build images
      // The runtime gives one code for both; only the version tells them apart.
      if (driver == 0)
        return "no NVIDIA driver: install one for CUDA " + needed +
               " or newer (580 or newer); in a container, start it with GPU access (--gpus all)";
      return "the NVIDIA driver is too old: it supports CUDA " + cuda_version(driver) +
             ", this program needs " + needed + "; update the driver to 580 or newer";
    case cudaErrorNoDevice:
      if (visible)
        return "no GPU is visible: CUDA_VISIBLE_DEVICES is '" + std::string(visible) +
               "', which names no GPU of this machine; unset or correct it";
      return "no GPU is visible: the driver is there but shows none; see whether `nvidia-smi -L` "
             "lists one and whether the container or job was given it";
    case cudaErrorSystemNotReady:
      return "the GPUs are not ready: on machines with NVSwitch the Fabric Manager must run "
             "(systemctl status nvidia-fabricmanager)";
    case cudaErrorSystemDriverMismatch:
      return "the NVIDIA kernel module and libcuda differ in version: reboot, or reload the module "
             "after the driver update";
    case cudaErrorCompatNotSupportedOnDevice:
      return "the CUDA forward-compatibility libcuda does not support this GPU: remove it from "
             "LD_LIBRARY_PATH or update the driver to 580 or newer";
    case cudaErrorDevicesUnavailable:
      return "the GPU is in use by another process in exclusive mode: wait for it to end";
    default:
      return std::string("the CUDA driver failed: ") + cudaGetErrorString(error) +
             "; see whether `nvidia-smi` works and what `dmesg` says of NVRM";
  }
}

std::string why_unfit(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorNoDevice:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorDevicesUnavailable:
      return no_device_here(error);
    case cudaErrorNoKernelImageForDevice: {
      int index = 0;
      cudaDeviceProp properties{};
      if (cudaGetDevice(&index) == cudaSuccess &&
          cudaGetDeviceProperties(&properties, index) == cudaSuccess)
        return explain_no_code(properties.name, properties.major, properties.minor);
      return "this program has no code for the GPU; see -DASSAY_TARGETS of CMake";
    }
    default:
      return "";
  }
}

std::string explain_no_code(const std::string& gpu, int major, int minor) {
  std::string built_for;
  for (const Target target : built_targets()) {
    built_for += built_for.empty() ? "" : ", ";
    built_for += name(target);
  }
  std::string text = gpu + " is sm_" + std::to_string(major) + std::to_string(minor) +
                     ", which this program has no code for: it is built for " + built_for;
  const Target known = target_for_capability(major, minor);
  if (known != Target::host)
    text += "; to build it for " + std::string(name(known)) + ", see -DASSAY_TARGETS of CMake";
  return text;
}

std::vector<Device> devices() {
  const int count = device_count();
  std::vector<Device> found;
  for (int index = 0; index < count; ++index) found.push_back(facts(index));
  return found;
}

Device device(int index) {
  const int count = device_count();
  if (index < 0 || index >= count)
    throw Error(ExitCode::usage, "there is no GPU " + std::to_string(index) +
                                     ": choose one of 0 to " + std::to_string(count - 1));
  Device found = facts(index);
  if (found.target == Target::host)
    throw Error(ExitCode::unfit, explain_no_code(found.name, found.major, found.minor));
  return found;
}

std::uint64_t free_memory_bytes(int index) {
  int before = 0;
  require(cudaGetDevice(&before), "selecting", index);
  require(cudaSetDevice(index), "selecting", index);
  std::size_t free = 0, total = 0;
  const cudaError_t error = cudaMemGetInfo(&free, &total);
  require(cudaSetDevice(before), "selecting", before);
  require(error, "reading the free memory", index);
  return free;
}

}  // namespace assay
