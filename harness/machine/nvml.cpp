// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/nvml.hpp"

#include <nvml.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/excerpt.hpp"

namespace assay {

// An initialized NVML. Functions that older drivers lack are null there; call() then answers as
// NVML does for what a GPU lacks.
struct NvmlLibrary {
  DynamicLibrary library = DynamicLibrary::open(Library::nvml);
  decltype(&nvmlInit_v2) init = library["nvmlInit_v2"];
  decltype(&nvmlShutdown) shutdown = library["nvmlShutdown"];
  decltype(&nvmlErrorString) error_string = library["nvmlErrorString"];
  decltype(&nvmlSystemGetDriverVersion) driver_version = library["nvmlSystemGetDriverVersion"];
  decltype(&nvmlDeviceGetHandleByPciBusId_v2) device = library["nvmlDeviceGetHandleByPciBusId_v2"];
  decltype(&nvmlDeviceGetClockInfo) clock = library.find("nvmlDeviceGetClockInfo");
  decltype(&nvmlDeviceGetMaxClockInfo) max_clock = library.find("nvmlDeviceGetMaxClockInfo");
  decltype(&nvmlDeviceGetTemperature) temperature = library.find("nvmlDeviceGetTemperature");
  decltype(&nvmlDeviceGetCurrentClocksEventReasons) clock_reasons =
      library.find("nvmlDeviceGetCurrentClocksEventReasons");
  decltype(&nvmlDeviceGetFieldValues) fields = library.find("nvmlDeviceGetFieldValues");
  decltype(&nvmlDeviceGetPowerUsage) power = library.find("nvmlDeviceGetPowerUsage");
  decltype(&nvmlDeviceGetEnforcedPowerLimit) power_limit =
      library.find("nvmlDeviceGetEnforcedPowerLimit");
  decltype(&nvmlDeviceGetPowerManagementDefaultLimit) default_power_limit =
      library.find("nvmlDeviceGetPowerManagementDefaultLimit");
  decltype(&nvmlDeviceGetEccMode) ecc = library.find("nvmlDeviceGetEccMode");
  decltype(&nvmlDeviceGetMigMode) mig = library.find("nvmlDeviceGetMigMode");
  decltype(&nvmlDeviceGetPersistenceMode) persistence =
      library.find("nvmlDeviceGetPersistenceMode");
  decltype(&nvmlDeviceGetTotalEccErrors) ecc_errors = library.find("nvmlDeviceGetTotalEccErrors");
  decltype(&nvmlDeviceGetVbiosVersion) vbios = library.find("nvmlDeviceGetVbiosVersion");
  decltype(&nvmlDeviceGetCurrPcieLinkGeneration) pcie_generation =
      library.find("nvmlDeviceGetCurrPcieLinkGeneration");
  decltype(&nvmlDeviceGetMaxPcieLinkGeneration) max_pcie_generation =
      library.find("nvmlDeviceGetMaxPcieLinkGeneration");
  decltype(&nvmlDeviceGetCurrPcieLinkWidth) pcie_width =
      library.find("nvmlDeviceGetCurrPcieLinkWidth");
  decltype(&nvmlDeviceGetMaxPcieLinkWidth) max_pcie_width =
      library.find("nvmlDeviceGetMaxPcieLinkWidth");
  decltype(&nvmlDeviceGetNvLinkState) nvlink_state = library.find("nvmlDeviceGetNvLinkState");
  decltype(&nvmlDeviceGetComputeRunningProcesses_v3) processes =
      library.find("nvmlDeviceGetComputeRunningProcesses_v3");
  decltype(&nvmlDeviceGetUtilizationRates) utilization =
      library.find("nvmlDeviceGetUtilizationRates");
  decltype(&nvmlDeviceGetP2PStatus) peer_status = library.find("nvmlDeviceGetP2PStatus");
  decltype(&nvmlDeviceGetTopologyCommonAncestor) common_ancestor =
      library.find("nvmlDeviceGetTopologyCommonAncestor");

  NvmlLibrary() {
    if (const nvmlReturn_t error = init())
      throw Error(ExitCode::unfit,
                  "NVML does not start: " + explain(error) + "; see whether `nvidia-smi` works");
  }
  ~NvmlLibrary() { shutdown(); }
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  std::string explain(nvmlReturn_t error) const {
    const char* words = error_string(error);  // a broken library may have none
    return words ? words : "status " + std::to_string(error);
  }
};

namespace {

struct ThrottleName {
  unsigned long long bit;
  const char* name;
};
// The last two are newer than the headers of CUDA 13.0; values as nvml.h of 13.2 has them.
constexpr ThrottleName kThrottleNames[] = {
    {nvmlClocksEventReasonSwPowerCap, "sw_power_cap"},
    {nvmlClocksThrottleReasonHwSlowdown, "hw_slowdown"},
    {nvmlClocksEventReasonSyncBoost, "sync_boost"},
    {nvmlClocksEventReasonSwThermalSlowdown, "sw_thermal_slowdown"},
    {nvmlClocksThrottleReasonHwThermalSlowdown, "hw_thermal_slowdown"},
    {nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "hw_power_brake"},
    {nvmlClocksEventReasonDisplayClockSetting, "display_clock"},
    {0x200, "board_limit"},
    {0x400, "reliability"}};

template <class... Parameters, class... Arguments>
nvmlReturn_t call(nvmlReturn_t (*function)(Parameters...), Arguments... arguments) {
  return function ? function(arguments...) : NVML_ERROR_FUNCTION_NOT_FOUND;
}

// One number that NVML writes through a pointer of type T behind the other arguments; absent if
// the GPU or driver does not tell it.
template <class T, class Function, class... Arguments>
std::optional<T> query(Function function, Arguments... arguments) {
  T value{};
  if (call(function, arguments..., &value) != NVML_SUCCESS) return std::nullopt;
  return value;
}

template <class To, class From>
std::optional<To> scaled(std::optional<From> value, double factor) {
  if (!value) return std::nullopt;
  return static_cast<To>(static_cast<double>(*value) * factor);
}

std::optional<double> number(const nvmlFieldValue_t& field) {
  if (field.nvmlReturn != NVML_SUCCESS) return std::nullopt;
  switch (field.valueType) {
    case NVML_VALUE_TYPE_DOUBLE:
      return field.value.dVal;
    case NVML_VALUE_TYPE_UNSIGNED_INT:
      return field.value.uiVal;
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
      return static_cast<double>(field.value.ulVal);
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
      return static_cast<double>(field.value.ullVal);
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
      return static_cast<double>(field.value.sllVal);
    case NVML_VALUE_TYPE_SIGNED_INT:
      return field.value.siVal;
    case NVML_VALUE_TYPE_UNSIGNED_SHORT:
      return field.value.usVal;
    default:
      return std::nullopt;
  }
}

std::optional<bool> enabled(std::optional<nvmlEnableState_t> state) {
  if (!state) return std::nullopt;
  return *state != NVML_FEATURE_DISABLED;
}

std::optional<int> as_int(std::optional<unsigned> value) {
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

// Settings with a present and a pending state: the present one.
template <class State>
std::optional<bool> enabled_now(nvmlReturn_t (*function)(nvmlDevice_t, State*, State*),
                                nvmlDevice_t gpu) {
  State now{}, pending{};
  if (call(function, gpu, &now, &pending) != NVML_SUCCESS) return std::nullopt;
  return now != State{};  // 0: disabled
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
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> text{};
  const nvmlReturn_t error =
      library_->driver_version(text.data(), static_cast<unsigned>(text.size()));
  text.back() = '\0';
  return error == NVML_SUCCESS && text[0] ? excerpt(text.data()) : "unknown";
}

OrReason<NvmlDevice> Nvml::device(const std::string& pci_bus_id) const {
  nvmlDevice_t handle = nullptr;
  const nvmlReturn_t error = library_->device(pci_bus_id.c_str(), &handle);
  if (error != NVML_SUCCESS)
    return OrReason<NvmlDevice>::missing("NVML does not show this GPU: " +
                                         library_->explain(error));
  return NvmlDevice(library_, handle);
}

NvmlDevice::NvmlDevice(std::shared_ptr<const NvmlLibrary> library, nvmlDevice_st* handle)
    : library_(std::move(library)), handle_(handle) {}

Reading NvmlDevice::read() const {
  const NvmlLibrary& nvml = *library_;
  Reading reading;
  const auto clock = [&](nvmlClockType_t domain) {
    return scaled<double>(query<unsigned>(nvml.clock, handle_, domain), 1);
  };
  reading.sm_clock_mhz = clock(NVML_CLOCK_SM);
  reading.memory_clock_mhz = clock(NVML_CLOCK_MEM);
  reading.temperature_c =
      scaled<double>(query<unsigned>(nvml.temperature, handle_, NVML_TEMPERATURE_GPU), 1);
  if (const auto mask = query<unsigned long long>(nvml.clock_reasons, handle_))
    reading.throttle = throttle_reasons(*mask);

  std::array<nvmlFieldValue_t, 3> fields{};
  fields[0].fieldId = NVML_FI_DEV_POWER_INSTANT;
  fields[1].fieldId = NVML_FI_DEV_MEMORY_TEMP;
  fields[2].fieldId = NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION;
  if (call(nvml.fields, handle_, static_cast<int>(fields.size()), fields.data()) == NVML_SUCCESS) {
    reading.power_w = scaled<double>(number(fields[0]), 1e-3);  // mW
    reading.memory_temperature_c = number(fields[1]);
    reading.energy_mj = scaled<std::uint64_t>(number(fields[2]), 1);
  }
  // Averaged over 1 s since Ampere (nvml.h), hence second choice.
  if (!reading.power_w)
    reading.power_w = scaled<double>(query<unsigned>(nvml.power, handle_), 1e-3);
  // GPUs without a memory sensor answer 0.
  if (reading.memory_temperature_c == 0.0) reading.memory_temperature_c.reset();
  return reading;
}

GpuSettings NvmlDevice::settings() const {
  const NvmlLibrary& nvml = *library_;
  const auto watts = [&](auto function) {
    return scaled<double>(query<unsigned>(function, handle_), 1e-3);  // mW
  };
  const auto integer = [&](auto function) { return as_int(query<unsigned>(function, handle_)); };
  const auto max_clock = [&](nvmlClockType_t domain) {
    return scaled<double>(query<unsigned>(nvml.max_clock, handle_, domain), 1);
  };
  GpuSettings settings;
  settings.power_limit_w = watts(nvml.power_limit);
  settings.power_limit_default_w = watts(nvml.default_power_limit);
  settings.sm_clock_max_mhz = max_clock(NVML_CLOCK_SM);
  settings.memory_clock_max_mhz = max_clock(NVML_CLOCK_MEM);
  settings.ecc = enabled_now(nvml.ecc, handle_);
  settings.mig = enabled_now(nvml.mig, handle_);
  settings.persistence = enabled(query<nvmlEnableState_t>(nvml.persistence, handle_));
  settings.uncorrected_errors = query<unsigned long long>(
      nvml.ecc_errors, handle_, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC);
  std::array<char, NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE> vbios{};
  if (call(nvml.vbios, handle_, vbios.data(), static_cast<unsigned>(vbios.size())) == NVML_SUCCESS)
    settings.vbios = vbios.data();
  settings.pcie_generation = integer(nvml.pcie_generation);
  settings.pcie_generation_max = integer(nvml.max_pcie_generation);
  settings.pcie_width = integer(nvml.pcie_width);
  settings.pcie_width_max = integer(nvml.max_pcie_width);

  nvmlFieldValue_t links{};
  links.fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT;
  if (call(nvml.fields, handle_, 1, &links) == NVML_SUCCESS)
    settings.nvlink_count = scaled<int>(number(links), 1);
  if (settings.nvlink_count) {
    settings.nvlink_active = 0;
    for (unsigned link = 0; link < static_cast<unsigned>(*settings.nvlink_count); ++link)
      if (enabled(query<nvmlEnableState_t>(nvml.nvlink_state, handle_, link)).value_or(false))
        ++*settings.nvlink_active;
  }
  return settings;
}

namespace {

// Those of them that `counts`; all, where they are more than there is room to tell of.
template <class Predicate>
std::optional<int> count_processes(const NvmlLibrary& nvml, nvmlDevice_st* handle,
                                   const Predicate& counts) {
  std::array<nvmlProcessInfo_t, 128> processes{};
  unsigned count = processes.size();
  const nvmlReturn_t error = call(nvml.processes, handle, &count, processes.data());
  if (error == NVML_ERROR_INSUFFICIENT_SIZE) return static_cast<int>(count);
  if (error != NVML_SUCCESS) return std::nullopt;
  const auto found = std::span(processes).first(count);
  return static_cast<int>(std::ranges::count_if(found, counts));
}

}  // namespace

std::optional<int> NvmlDevice::other_processes() const {
  return count_processes(*library_, handle_, [](const nvmlProcessInfo_t& process) {
    return process.pid != static_cast<unsigned>(getpid());
  });
}

std::optional<int> NvmlDevice::processes() const {
  return count_processes(*library_, handle_, [](const nvmlProcessInfo_t&) { return true; });
}

std::optional<int> NvmlDevice::utilization() const {
  const auto rates = query<nvmlUtilization_t>(library_->utilization, handle_);
  if (!rates) return std::nullopt;
  return static_cast<int>(rates->gpu);
}

PeerPath NvmlDevice::path_to(const NvmlDevice& peer) const {
  const NvmlLibrary& nvml = *library_;
  const auto capable = [&](nvmlGpuP2PCapsIndex_t capability) {
    return query<nvmlGpuP2PStatus_t>(nvml.peer_status, handle_, peer.handle_, capability) ==
           NVML_P2P_STATUS_OK;
  };
  PeerPath path;
  const auto ancestor = query<nvmlGpuTopologyLevel_t>(nvml.common_ancestor, handle_, peer.handle_);
  switch (ancestor ? static_cast<int>(*ancestor) : -1) {
    case NVML_TOPOLOGY_INTERNAL:
      path.pcie = "same board";
      break;
    case NVML_TOPOLOGY_SINGLE:
      path.pcie = "one switch";
      break;
    case NVML_TOPOLOGY_MULTIPLE:
      path.pcie = "several switches";
      break;
    case NVML_TOPOLOGY_HOSTBRIDGE:
      path.pcie = "host bridge";
      break;
    case NVML_TOPOLOGY_NODE:
      path.pcie = "host bridges of one NUMA node";
      break;
    case NVML_TOPOLOGY_SYSTEM:
      path.pcie = "between NUMA nodes";
      break;
    default:
      path.pcie = "unknown";
  }
  path.nvlink = capable(NVML_P2P_CAPS_INDEX_NVLINK);
  path.peer_read = capable(NVML_P2P_CAPS_INDEX_READ);
  path.peer_write = capable(NVML_P2P_CAPS_INDEX_WRITE);
  path.peer_atomics = capable(NVML_P2P_CAPS_INDEX_ATOMICS);
  return path;
}

}  // namespace assay
