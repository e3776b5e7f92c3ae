// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/nvml.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/nvml_abi.hpp"

namespace assay {
using namespace nvml_abi;

// An initialized NVML.
struct NvmlLibrary {
  DynamicLibrary library = DynamicLibrary::open(Library::nvml);

  NvmlLibrary() {
    if (const Return error = call("nvmlInit_v2"))
      throw Error(ExitCode::unfit,
                  "NVML does not start: " + explain(error) + "; see whether `nvidia-smi` works");
  }
  ~NvmlLibrary() { call("nvmlShutdown"); }
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // The types of `arguments` must be those of the C declaration: they are the declaration. A
  // driver that lacks the function answers as NVML does for one that the GPU lacks.
  template <class... Arguments>
  Return call(const char* function, Arguments... arguments) const {
    if (!library.has(function)) return kFunctionNotFound;
    return library.symbol<Return(Arguments...)>(function)(arguments...);
  }

  std::string explain(Return error) const {
    return library.symbol<const char*(Return)>("nvmlErrorString")(error);
  }
};

namespace {

struct ThrottleName {
  unsigned long long bit;
  const char* name;
};
constexpr ThrottleName kThrottleNames[] = {{kSwPowerCap, "sw_power_cap"},
                                           {kHwSlowdown, "hw_slowdown"},
                                           {kSyncBoost, "sync_boost"},
                                           {kSwThermalSlowdown, "sw_thermal_slowdown"},
                                           {kHwThermalSlowdown, "hw_thermal_slowdown"},
                                           {kHwPowerBrake, "hw_power_brake"},
                                           {kDisplayClock, "display_clock"},
                                           {kBoardLimit, "board_limit"},
                                           {kReliability, "reliability"}};

// One number that NVML writes through a pointer of type T behind the other arguments; absent if
// the GPU or driver does not tell it.
template <class T, class... Arguments>
std::optional<T> query(const NvmlLibrary& nvml, const char* function, Arguments... arguments) {
  T value{};
  if (nvml.call(function, arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

template <class To, class From>
std::optional<To> scaled(std::optional<From> value, double factor) {
  if (!value) return std::nullopt;
  return static_cast<To>(static_cast<double>(*value) * factor);
}

std::optional<double> number(const FieldValue& field) {
  if (field.result != kSuccess) return std::nullopt;
  switch (field.type) {
    case ValueType::f64:
      return field.value.f64;
    case ValueType::u32:
      return field.value.u32;
    case ValueType::ulong:
      return static_cast<double>(field.value.ulong);
    case ValueType::u64:
      return static_cast<double>(field.value.u64);
    case ValueType::s64:
      return static_cast<double>(field.value.s64);
    case ValueType::s32:
      return field.value.s32;
    case ValueType::u16:
      return field.value.u16;
  }
  return std::nullopt;
}

std::optional<bool> enabled(std::optional<unsigned> state) {
  if (!state) return std::nullopt;
  return *state != 0;
}

std::optional<int> as_int(std::optional<unsigned> value) {
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

// Settings with a present and a pending state: the present one.
std::optional<bool> enabled_now(const NvmlLibrary& nvml, const char* function, Handle gpu) {
  unsigned now = 0, pending = 0;
  if (nvml.call(function, gpu, &now, &pending) != kSuccess) return std::nullopt;
  return now != 0;
}

}  // namespace

std::vector<std::string> throttle_reasons(unsigned long long mask) {
  std::vector<std::string> names;
  for (const ThrottleName& reason : kThrottleNames)
    if (mask & reason.bit) names.emplace_back(reason.name);
  return names;
}

OrReason<Nvml> Nvml::open() {
  try {
    return Nvml(std::make_shared<NvmlLibrary>());
  } catch (const Error& error) {
    return OrReason<Nvml>::missing(error.what());
  }
}

std::string Nvml::driver_version() const {
  std::array<char, 80> text{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
  library_->call("nvmlSystemGetDriverVersion", text.data(), static_cast<unsigned>(text.size()));
  return text.data();
}

OrReason<NvmlDevice> Nvml::device(const std::string& pci_bus_id) const {
  Handle handle = nullptr;
  const Return error =
      library_->call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &handle);
  if (error != kSuccess)
    return OrReason<NvmlDevice>::missing("NVML does not show this GPU: " +
                                         library_->explain(error));
  return NvmlDevice(library_, handle);
}

NvmlDevice::NvmlDevice(std::shared_ptr<const NvmlLibrary> library, void* handle)
    : library_(std::move(library)), handle_(handle) {}

Reading NvmlDevice::read() const {
  const NvmlLibrary& nvml = *library_;
  Reading reading;
  const auto clock = [&](int domain) {
    return scaled<double>(query<unsigned>(nvml, "nvmlDeviceGetClockInfo", handle_, domain), 1);
  };
  reading.sm_clock_mhz = clock(kClockSm);
  reading.memory_clock_mhz = clock(kClockMemory);
  reading.temperature_c = scaled<double>(
      query<unsigned>(nvml, "nvmlDeviceGetTemperature", handle_, kTemperatureGpu), 1);
  if (const auto mask =
          query<unsigned long long>(nvml, "nvmlDeviceGetCurrentClocksEventReasons", handle_))
    reading.throttle = throttle_reasons(*mask);

  std::array<FieldValue, 3> fields{};
  fields[0].field = kPowerInstant;
  fields[1].field = kMemoryTemperature;
  fields[2].field = kTotalEnergy;
  if (nvml.call("nvmlDeviceGetFieldValues", handle_, static_cast<int>(fields.size()),
                fields.data()) == kSuccess) {
    reading.power_w = scaled<double>(number(fields[0]), 1e-3);  // mW
    reading.memory_temperature_c = number(fields[1]);
    reading.energy_mj = scaled<std::uint64_t>(number(fields[2]), 1);
  }
  // Averaged over 1 s since Ampere (nvml.h), hence second choice.
  if (!reading.power_w)
    reading.power_w =
        scaled<double>(query<unsigned>(nvml, "nvmlDeviceGetPowerUsage", handle_), 1e-3);
  // GPUs without a memory sensor answer 0.
  if (reading.memory_temperature_c == 0.0) reading.memory_temperature_c.reset();
  return reading;
}

GpuSettings NvmlDevice::settings() const {
  const NvmlLibrary& nvml = *library_;
  const auto watts = [&](const char* function) {
    return scaled<double>(query<unsigned>(nvml, function, handle_), 1e-3);  // mW
  };
  const auto integer = [&](const char* function) {
    return as_int(query<unsigned>(nvml, function, handle_));
  };
  const auto max_clock = [&](int domain) {
    return scaled<double>(query<unsigned>(nvml, "nvmlDeviceGetMaxClockInfo", handle_, domain), 1);
  };
  GpuSettings settings;
  settings.power_limit_w = watts("nvmlDeviceGetEnforcedPowerLimit");
  settings.power_limit_default_w = watts("nvmlDeviceGetPowerManagementDefaultLimit");
  settings.sm_clock_max_mhz = max_clock(kClockSm);
  settings.memory_clock_max_mhz = max_clock(kClockMemory);
  settings.ecc = enabled_now(nvml, "nvmlDeviceGetEccMode", handle_);
  settings.mig = enabled_now(nvml, "nvmlDeviceGetMigMode", handle_);
  settings.persistence = enabled(query<unsigned>(nvml, "nvmlDeviceGetPersistenceMode", handle_));
  settings.uncorrected_errors = query<unsigned long long>(nvml, "nvmlDeviceGetTotalEccErrors",
                                                          handle_, kUncorrected, kVolatile);
  std::array<char, 32> vbios{};  // NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE
  if (nvml.call("nvmlDeviceGetVbiosVersion", handle_, vbios.data(),
                static_cast<unsigned>(vbios.size())) == kSuccess)
    settings.vbios = vbios.data();
  settings.pcie_generation = integer("nvmlDeviceGetCurrPcieLinkGeneration");
  settings.pcie_generation_max = integer("nvmlDeviceGetMaxPcieLinkGeneration");
  settings.pcie_width = integer("nvmlDeviceGetCurrPcieLinkWidth");
  settings.pcie_width_max = integer("nvmlDeviceGetMaxPcieLinkWidth");

  FieldValue links;
  links.field = kNvlinkCount;
  if (nvml.call("nvmlDeviceGetFieldValues", handle_, 1, &links) == kSuccess)
    settings.nvlink_count = scaled<int>(number(links), 1);
  if (settings.nvlink_count) {
    settings.nvlink_active = 0;
    for (unsigned link = 0; link < static_cast<unsigned>(*settings.nvlink_count); ++link)
      if (enabled(query<unsigned>(nvml, "nvmlDeviceGetNvLinkState", handle_, link)).value_or(false))
        ++*settings.nvlink_active;
  }
  return settings;
}

std::optional<int> NvmlDevice::other_processes() const {
  std::array<Process, 128> processes{};
  unsigned count = processes.size();
  const Return error =
      library_->call("nvmlDeviceGetComputeRunningProcesses_v3", handle_, &count, processes.data());
  if (error == kInsufficientSize) return static_cast<int>(count);  // then `count` is their number
  if (error != kSuccess) return std::nullopt;
  const auto others = std::span(processes).first(count);
  return static_cast<int>(std::count_if(others.begin(), others.end(), [](const Process& process) {
    return process.pid != static_cast<unsigned>(getpid());
  }));
}

PeerPath NvmlDevice::path_to(const NvmlDevice& peer) const {
  const NvmlLibrary& nvml = *library_;
  const auto capable = [&](int capability) {
    return query<int>(nvml, "nvmlDeviceGetP2PStatus", handle_, peer.handle_, capability) == kPeerOk;
  };
  PeerPath path;
  switch (
      query<int>(nvml, "nvmlDeviceGetTopologyCommonAncestor", handle_, peer.handle_).value_or(-1)) {
    case kSameBoard:
      path.pcie = "same board";
      break;
    case kOneSwitch:
      path.pcie = "one switch";
      break;
    case kSwitches:
      path.pcie = "several switches";
      break;
    case kHostBridge:
      path.pcie = "host bridge";
      break;
    case kNumaNode:
      path.pcie = "host bridges of one NUMA node";
      break;
    case kSystem:
      path.pcie = "between NUMA nodes";
      break;
    default:
      path.pcie = "unknown";
  }
  path.nvlink = capable(kPeerNvlink);
  path.peer_read = capable(kPeerRead);
  path.peer_write = capable(kPeerWrite);
  path.peer_atomics = capable(kPeerAtomics);
  return path;
}

}  // namespace assay
