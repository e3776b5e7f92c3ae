// SPDX-License-Identifier: Apache-2.0
// `assay info`: what this machine is, what works here, and why anything does not.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/commands/commands.hpp"
#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/nvml.hpp"
#include "harness/machine/software.hpp"
#include "harness/measure/counters.hpp"
#include "harness/run/json_io.hpp"
#include "harness/target.hpp"

namespace assay::commands {
namespace {

struct Gpu {
  Device device;
  std::string no_code;  // why assay cannot run on it; empty if it can
  OrReason<NvmlDevice> nvml;
};

struct Link {
  int from, to;
  PeerPath path;
};

// Something a person may want to do here.
struct Ability {
  std::string what;
  std::string missing;  // why not; empty if it works
};

struct Machine {
  std::vector<Gpu> gpus;
  std::string no_gpu;  // why there is none
  std::vector<Link> links;
  HostEnvironment host;
  BuildEnvironment build;
  std::vector<Software> software;
  std::vector<Ability> abilities;
};

// Whether the kernel lets this process read counters; CUPTI itself can only be asked with a
// context. Bits of CapEff: linux/capability.h.
bool may_read_counters() {
  std::ifstream parameters("/proc/driver/nvidia/params");
  bool restricted = false;
  for (std::string line; std::getline(parameters, line);)
    restricted |= line == "RmProfilingAdminOnly: 1";
  if (!restricted) return true;
  constexpr std::uint64_t kSysAdmin = 1ull << 21, kPerfmon = 1ull << 38;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:"))
      return std::stoull(line.substr(7), nullptr, 16) & (kSysAdmin | kPerfmon);
  return false;
}

std::string missing(const std::vector<Software>& all, const std::string& name) {
  for (const Software& software : all)
    if (software.name == name) return software.missing;
  return name + " is not looked for";
}

std::string first_of(std::initializer_list<std::string> reasons) {
  for (const std::string& reason : reasons)
    if (!reason.empty()) return reason;
  return "";
}

std::string why_no_gpu(const Machine& machine) {
  if (machine.gpus.empty()) return machine.no_gpu;
  for (const Gpu& gpu : machine.gpus)
    if (gpu.no_code.empty()) return "";
  return machine.gpus.front().no_code;
}

std::vector<Ability> abilities(const Machine& machine) {
  const std::vector<Software>& software = machine.software;
  const std::string gpu = why_no_gpu(machine);
  std::string targets;
  for (const Target target : built_targets()) targets += fmt::format(" {}", name(target));
  const std::string nvml = machine.gpus.empty() ? "" : machine.gpus.front().nvml.reason();
  const std::string counters = may_read_counters() ? "" : explain_cupti(35, "");
  const std::string peers = machine.gpus.size() < 2 ? "needs two GPUs or more" : "";
  return {
      {"measure the host", ""},
      {"assemble PTX for" + targets, missing(software, "nvJitLink")},
      {"check the machine code of kernels",
       first_of({missing(software, "nvdisasm"), missing(software, "cuobjdump")})},
      {"measure a GPU", gpu},
      {"watch clocks, power and throttling", first_of({gpu, missing(software, "NVML"), nvml})},
      {"read hardware counters", first_of({gpu, missing(software, "CUPTI"), counters})},
      {"compare with cuBLASLt", first_of({gpu, missing(software, "cuBLASLt")})},
      {"measure collectives", first_of({gpu, missing(software, "NCCL"), peers})},
  };
}

Machine look() {
  Machine machine;
  const OrReason<Nvml> nvml = Nvml::open();
  try {
    for (const Device& device : devices()) {
      Gpu gpu{.device = device,
              .no_code = device.target == Target::host
                             ? explain_no_code(device.name, device.major, device.minor)
                             : "",
              .nvml = nvml ? nvml->device(device.pci_bus_id)
                           : OrReason<NvmlDevice>::missing(nvml.reason())};
      machine.gpus.push_back(std::move(gpu));
    }
  } catch (const Error& error) {
    machine.no_gpu = error.what();
  }
  for (std::size_t i = 0; i < machine.gpus.size(); ++i)
    for (std::size_t j = i + 1; j < machine.gpus.size(); ++j)
      if (machine.gpus[i].nvml && machine.gpus[j].nvml)
        machine.links.push_back({static_cast<int>(i), static_cast<int>(j),
                                 machine.gpus[i].nvml->path_to(*machine.gpus[j].nvml)});
  machine.host = host_environment();
  machine.build = build_environment();
  machine.software = installed_software();
  machine.abilities = abilities(machine);
  return machine;
}
// A number with its unit, or "unknown" where the driver does not tell.
std::string shown(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.0f} {}", *value, unit) : "unknown";
}
std::string shown(const std::optional<int>& value) {
  return value ? fmt::format("{}", *value) : "unknown";
}
std::string shown(const std::optional<bool>& value) {
  return value ? *value ? "on" : "off" : "unknown";
}

double gib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

void print_gpu(const Gpu& gpu) {
  const Device& d = gpu.device;
  fmt::print("  {}  {}, sm_{}{}, {} SMs\n", d.index, d.name, d.major, d.minor, d.sm_count);
  if (!gpu.no_code.empty()) fmt::print("     not supported: {}\n", gpu.no_code);
  fmt::print("     memory    {:.1f} GiB, {} bits wide, L2 {:.1f} MiB\n", gib(d.memory_bytes),
             d.memory_bus_bits, static_cast<double>(d.l2_bytes) / (1 << 20));
  fmt::print("     one SM    {} KiB shared ({} KiB per block), {} threads, {} registers\n",
             d.shared_bytes_per_sm >> 10, d.shared_bytes_per_block >> 10, d.threads_per_sm,
             d.registers_per_sm);
  if (!gpu.nvml) {
    fmt::print(
        "     clocks    SM up to {:.0f} MHz, memory up to {:.0f} MHz; the rest is unknown: {}\n",
        d.sm_clock_max_mhz, d.memory_clock_max_mhz, gpu.nvml.reason());
    return;
  }
  const GpuSettings s = gpu.nvml->settings();
  const Reading now = gpu.nvml->read();
  fmt::print("     limits    SM {}, memory {}, power {} (as delivered {})\n",
             shown(s.sm_clock_max_mhz, "MHz"), shown(s.memory_clock_max_mhz, "MHz"),
             shown(s.power_limit_w, "W"), shown(s.power_limit_default_w, "W"));
  fmt::print("     settings  ECC {}, MIG {}, persistence {}\n", shown(s.ecc), shown(s.mig),
             shown(s.persistence));
  fmt::print("     links     PCIe generation {} of {}, {} of {} lanes; NVLinks active: {} of {}\n",
             shown(s.pcie_generation), shown(s.pcie_generation_max), shown(s.pcie_width),
             shown(s.pcie_width_max), shown(s.nvlink_active), shown(s.nvlink_count));
  fmt::print("     now       SM {}, {}, {}, throttled by {}; other processes: {}\n",
             shown(now.sm_clock_mhz, "MHz"), shown(now.power_w, "W"), shown(now.temperature_c, "C"),
             now.throttle.empty() ? "nothing" : fmt::format("{}", fmt::join(now.throttle, ", ")),
             shown(gpu.nvml->other_processes()));
}

void print_text(const Machine& machine) {
  const BuildEnvironment& build = machine.build;
  fmt::print("assay {}{}{}, built with nvcc {} and {}\n", build.version,
             build.commit.empty() ? "" : " at " + build.commit, build.dirty ? " (modified)" : "",
             build.nvcc, build.compiler);

  fmt::print("\nGPUs\n");
  if (machine.gpus.empty()) fmt::print("  none: {}\n", machine.no_gpu);
  for (const Gpu& gpu : machine.gpus) print_gpu(gpu);

  if (!machine.links.empty()) fmt::print("\nBetween GPUs\n");
  for (const Link& link : machine.links)
    fmt::print("  {} - {}  {}; PCIe crosses: {}; peer access: {}{}{}{}\n", link.from, link.to,
               link.path.nvlink ? "NVLink" : "no NVLink", link.path.pcie,
               link.path.peer_read ? "read " : "", link.path.peer_write ? "write " : "",
               link.path.peer_atomics ? "atomics" : "",
               link.path.peer_read || link.path.peer_write ? "" : "none");

  const HostEnvironment& host = machine.host;
  const auto or_unknown = [](const std::string& text) { return text.empty() ? "unknown" : text; };
  fmt::print(
      "\nHost\n  CPU       {}, {} of {} logical cores usable, NUMA nodes: {}, frequency governor: "
      "{}\n",
      or_unknown(host.cpu), host.usable_cores, host.logical_cores, host.numa_nodes,
      or_unknown(host.governor));
  fmt::print("  memory    {:.1f} GiB\n  system    {}, Linux {}{}\n", gib(host.memory_bytes),
             or_unknown(host.system), host.kernel,
             host.container.empty() ? "" : ", container: " + host.container);

  fmt::print("\nNVIDIA software\n");
  for (const Software& software : machine.software)
    if (software.missing.empty())
      fmt::print("  {:<12} {:<12} {}\n", software.name, software.version, software.path);
    else
      fmt::print("  {:<12} -            {}\n", software.name, software.missing);

  fmt::print("\nWhat works here\n");
  std::vector<std::pair<std::string, std::vector<std::string>>> refused;  // reason, what it stops
  for (const Ability& ability : machine.abilities) {
    if (ability.missing.empty()) {
      fmt::print("  yes  {}\n", ability.what);
      continue;
    }
    const auto same = std::find_if(refused.begin(), refused.end(), [&](const auto& reason) {
      return reason.first == ability.missing;
    });
    if (same == refused.end())
      refused.push_back({ability.missing, {ability.what}});
    else
      same->second.push_back(ability.what);
  }
  for (const auto& [reason, stopped] : refused)
    fmt::print("  no   {}\n       {}\n", fmt::join(stopped, "; "), reason);
}

void print_json(const Machine& machine) {
  Json json = to_json(capture_environment(0));  // host, driver and build, as in a result
  json.erase("gpu");
  json["gpus"] = Json::array();
  for (const Gpu& gpu : machine.gpus) {
    const Environment seen = capture_environment(gpu.device.index);
    json["gpus"].push_back(seen.gpu
                               ? to_json(seen)["gpu"]
                               : Json{{"name", gpu.device.name}, {"unsupported", gpu.no_code}});
  }
  json["links"] = Json::array();
  for (const Link& link : machine.links)
    json["links"].push_back({{"from", link.from},
                             {"to", link.to},
                             {"nvlink", link.path.nvlink},
                             {"pcie", link.path.pcie},
                             {"peer_read", link.path.peer_read},
                             {"peer_write", link.path.peer_write},
                             {"peer_atomics", link.path.peer_atomics}});
  for (const Software& software : machine.software)
    json["software"].push_back({{"name", software.name},
                                {"version", software.version},
                                {"path", software.path},
                                {"missing", software.missing}});
  for (const Ability& ability : machine.abilities)
    json["abilities"].push_back({{"what", ability.what}, {"missing", ability.missing}});
  fmt::print("{}\n", json.dump(1));
}

}  // namespace

void add_info(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "info", "What this machine is, what works here, and why anything does not");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "For programs");
  command->footer(
      "Examples:\n"
      "  assay info                          GPUs, links, host, libraries, tools\n"
      "  assay info --json | jq '.gpus[0]'   the first GPU as result files describe it");
  command->callback([as_json, &exit_code] {
    const Machine machine = look();
    if (*as_json)
      print_json(machine);
    else
      print_text(machine);
    exit_code = static_cast<int>(ExitCode::ok);
  });
}

}  // namespace assay::commands
