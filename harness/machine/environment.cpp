// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/environment.hpp"

#include <cuda_runtime_api.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <thread>

#include "git_commit.hpp"  // written by the build
#include "harness/error.hpp"

namespace assay {
namespace {
namespace fs = std::filesystem;

std::string trimmed(const std::string& text, const char* unwanted = " \t\n\"") {
  const std::size_t begin = text.find_first_not_of(unwanted);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(unwanted) - begin + 1);
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return trimmed(line);
}

// The value of the first line that reads `key`, blanks, `separator`, value.
std::string value_of(const fs::path& file, const std::string& key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t at = line.find(separator);
    if (at != std::string::npos && trimmed(line.substr(0, at)) == key)
      return trimmed(line.substr(at + 1));
  }
  return "";
}

std::string cpu_name(const fs::path& cpuinfo) {
  if (const std::string name = value_of(cpuinfo, "model name", ':'); !name.empty()) return name;
  // Arm kernels give numbers only (0x41 0xd4f is the Neoverse V2 of NVIDIA's Grace).
  const std::string implementer = value_of(cpuinfo, "CPU implementer", ':');
  const std::string part = value_of(cpuinfo, "CPU part", ':');
  if (implementer.empty() || part.empty()) return "";
  if (implementer == "0x41" && part == "0xd4f") return "Arm Neoverse V2";
  return "Arm implementer " + implementer + " part " + part;
}

int count_nodes(const fs::path& folder) {
  int count = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    count += name.starts_with("node") && name.find_first_not_of("0123456789", 4) == name.npos;
  }
  return count;
}

int usable_core_count() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
}

std::string container_name(const fs::path& root) {
  if (std::getenv("KUBERNETES_SERVICE_HOST")) return "kubernetes";
  if (std::getenv("APPTAINER_CONTAINER") || std::getenv("SINGULARITY_CONTAINER"))
    return "apptainer";
  std::error_code ignored;
  if (fs::exists(root / "run/.containerenv", ignored)) return "podman";
  if (fs::exists(root / ".dockerenv", ignored)) return "docker";
  const char* other = std::getenv("container");  // systemd's convention
  return other ? other : "";
}

std::string cuda_version(int number) {
  if (number == 0) return "";
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

OrReason<GpuEnvironment> gpu_environment(int index, const OrReason<Nvml>& nvml) {
  try {
    GpuEnvironment gpu{.device = device(index),
                       .settings = OrReason<GpuSettings>::missing(nvml.reason())};
    if (nvml) {
      const OrReason<NvmlDevice> handle = nvml->device(gpu.device.pci_bus_id);
      if (handle) {
        gpu.settings = handle->settings();
        gpu.other_processes = handle->other_processes();
        gpu.utilization = handle->utilization();
      } else {
        gpu.settings = OrReason<GpuSettings>::missing(handle.reason());
      }
    }
    gpu.device.pci_bus_id.clear();
    return gpu;
  } catch (const Error& error) {
    return OrReason<GpuEnvironment>::missing(error.what());
  }
}

}  // namespace

void wait_until_free(int index, double seconds) {
  using Clock = std::chrono::steady_clock;
  const OrReason<Nvml> nvml = Nvml::open();
  if (!nvml) return;
  const OrReason<NvmlDevice> gpu = nvml->device(device(index).pci_bus_id);
  if (!gpu) return;
  const auto begin = Clock::now();
  for (;;) {
    const int others = gpu->other_processes().value_or(0);
    if (others == 0) return;
    if (std::chrono::duration<double>(Clock::now() - begin).count() >= seconds)
      throw Error(ExitCode::unfit,
                  "GPU " + std::to_string(index) + " is still used by " + std::to_string(others) +
                      " other process" + (others == 1 ? "" : "es") +
                      ": end them, wait longer with --wait, or measure beside them without it");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

HostEnvironment host_environment(const fs::path& root) {
  HostEnvironment host;
  host.cpu = cpu_name(root / "proc/cpuinfo");
  host.logical_cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  host.usable_cores = usable_core_count();
  host.numa_nodes = count_nodes(root / "sys/devices/system/node");
  host.governor = first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  // "MemTotal:  131072 kB"
  const std::string memory = value_of(root / "proc/meminfo", "MemTotal", ':');
  host.memory_bytes = std::strtoull(memory.c_str(), nullptr, 10) * 1024;
  host.kernel = first_line(root / "proc/sys/kernel/osrelease");
  host.system = value_of(root / "etc/os-release", "PRETTY_NAME", '=');
  host.container = container_name(root);
  return host;
}

BuildEnvironment build_environment() {
  BuildEnvironment build;
  build.version = ASSAY_VERSION;
  build.commit = kGitCommit;  // as `git describe --dirty` writes it
  if (const std::string mark = "-dirty"; build.commit.ends_with(mark)) {
    build.dirty = true;
    build.commit.resize(build.commit.size() - mark.size());
  }
  build.nvcc = ASSAY_NVCC_VERSION;
#if defined(__clang__)
  build.compiler = "Clang " __clang_version__;
#else
  build.compiler = "GNU " __VERSION__;
#endif
#if defined(NDEBUG)
  build.type = "release";
#else
  build.type = "debug";
#endif
  return build;
}

Environment capture_environment(int index) {
  const OrReason<Nvml> nvml = Nvml::open();
  int newest = 0;
  (void)cudaDriverGetVersion(&newest);
  return {.gpu = gpu_environment(index, nvml),
          .driver = nvml ? nvml->driver_version() : "",
          .cuda_runtime = cuda_version(CUDART_VERSION),
          .cuda_driver = cuda_version(newest),
          .host = host_environment(),
          .assay = build_environment()};
}

}  // namespace assay
