// SPDX-License-Identifier: Apache-2.0
// The environment as a result file shows it.
#include "harness/code/sha256.hpp"
#include "harness/run/json_io.hpp"

namespace assay {
namespace {

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}
void put(Json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}
void put(Json& json, const char* key, int value) {
  if (value > 0) json[key] = value;
}
void put(Json& json, const char* key, double value) {
  if (value > 0) json[key] = value;
}

// 16 hexadecimal digits, the same in every file of one GPU: a one-way hash, so that no file names a
// machine, with a salt, so that it is not what others get from the same UUID. Empty without a UUID.
std::string gpu_id(const std::string& uuid) {
  if (uuid.find_first_not_of('\0') == std::string::npos) return "";
  return sha256("assay gpu id " + uuid).substr(0, 16);
}

Json to_json(const GpuEnvironment& gpu) {
  const Device& d = gpu.device;
  Json json = {{"name", d.name},
               {"architecture", "sm_" + std::to_string(d.major * 10 + d.minor)},
               {"target", name(d.target)},
               {"sm_count", d.sm_count},
               {"memory_bytes", d.memory_bytes},
               {"l2_bytes", d.l2_bytes},
               {"shared_bytes_per_sm", d.shared_bytes_per_sm},
               {"shared_bytes_per_block", d.shared_bytes_per_block},
               {"threads_per_sm", d.threads_per_sm},
               {"registers_per_sm", d.registers_per_sm}};
  put(json, "generation", std::string(row_of(d.target).generation));
  put(json, "id", gpu_id(d.uuid));
  if (d.memory_bus_bits > 0) json["memory_bus_bits"] = d.memory_bus_bits;
  put(json, "sm_clock_max_mhz", d.sm_clock_max_mhz);
  put(json, "memory_clock_max_mhz", d.memory_clock_max_mhz);
  if (const auto& s = gpu.settings) {
    put(json, "power_limit_w", s->power_limit_w);
    put(json, "power_limit_default_w", s->power_limit_default_w);
    put(json, "ecc", s->ecc);
    put(json, "mig", s->mig);
    put(json, "persistence", s->persistence);
    put(json, "uncorrected_errors", s->uncorrected_errors);
    put(json, "vbios", s->vbios);
    put(json, "pcie_generation", s->pcie_generation);
    put(json, "pcie_generation_max", s->pcie_generation_max);
    put(json, "pcie_width", s->pcie_width);
    put(json, "nvlink_count", s->nvlink_count);
    put(json, "nvlink_active", s->nvlink_active);
  } else {
    json["nvml"] = gpu.settings.reason();
  }
  put(json, "other_processes", gpu.other_processes);
  if (gpu.other_processes.value_or(0) > 0) put(json, "utilization_percent", gpu.utilization);
  return json;
}

Json to_json(const HostEnvironment& h) {
  Json json = Json::object();
  put(json, "cpu", h.cpu);
  put(json, "logical_cores", h.logical_cores);
  put(json, "usable_cores", h.usable_cores);
  put(json, "numa_nodes", h.numa_nodes);
  put(json, "governor", h.governor);
  if (h.memory_bytes) json["memory_bytes"] = h.memory_bytes;
  put(json, "kernel", h.kernel);
  put(json, "system", h.system);
  put(json, "container", h.container);
  return json;
}

}  // namespace

Json to_json(const Environment& e) {
  Json json;
  json["gpu"] = e.gpu ? to_json(*e.gpu) : Json(nullptr);
  if (!e.gpu) json["no_gpu"] = e.gpu.reason();
  json["driver"] = e.driver;
  json["cuda"] = e.cuda_runtime;
  put(json, "cuda_driver", e.cuda_driver);
  json["host"] = to_json(e.host);
  json["assay"] = {{"version", e.assay.version},   {"commit", e.assay.commit},
                   {"dirty", e.assay.dirty},       {"nvcc", e.assay.nvcc},
                   {"compiler", e.assay.compiler}, {"build_type", e.assay.type}};
  return json;
}

}  // namespace assay
