// SPDX-License-Identifier: Apache-2.0
#include "probes/link/near_gpu.hpp"

#include <cuda_runtime_api.h>

#include <cctype>
#include <charconv>
#include <fstream>

#include "harness/cuda.hpp"

namespace assay {
namespace {

// First line of a file that Linux keeps on the device; empty if there is none.
std::string fact(std::string pci_bus_id, const char* file) {
  for (char& c : pci_bus_id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // CUDA writes the domain with four digits, NVML with eight; Linux wants four.
  if (const std::size_t domain = pci_bus_id.find(':'); domain == 8) pci_bus_id.erase(0, 4);
  std::ifstream stream("/sys/bus/pci/devices/" + pci_bus_id + "/" + file);
  std::string line;
  std::getline(stream, line);
  return line;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc{} || first < 0) return {};
    int last = first;
    if (read.ptr != end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
      if (read.ec != std::errc{} || last < first || last >= CPU_SETSIZE) return {};
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    at = read.ptr;
    if (at == end) break;
    if (*at != ',' || at + 1 == end) return {};
    ++at;
  }
  return cpus;
}

NearDevice::NearDevice(const std::string& pci_bus_id) {
  if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
  cpu_set_t near;
  CPU_ZERO(&near);
  for (const int cpu : parse_cpu_list(fact(pci_bus_id, "local_cpulist")))
    if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &near);
  moved_ = CPU_COUNT(&near) > 0 && sched_setaffinity(0, sizeof(near), &near) == 0;
}

NearDevice::~NearDevice() {
  if (moved_) sched_setaffinity(0, sizeof(before_), &before_);
}

void FreePinnedMemory::operator()(std::byte* memory) const { cudaFreeHost(memory); }

PinnedMemory pinned_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
  return PinnedMemory(static_cast<std::byte*>(memory));
}

double pcie_limit_gb_per_s(const std::string& pci_bus_id) {
  const std::string speed = fact(pci_bus_id, "max_link_speed");  // "32.0 GT/s PCIe"
  const std::string width = fact(pci_bus_id, "max_link_width");
  double gt_per_s = 0;
  int lanes = 0;
  std::from_chars(speed.data(), speed.data() + speed.size(), gt_per_s);
  std::from_chars(width.data(), width.data() + width.size(), lanes);
  // One bit per transfer and lane. Generations 3 to 5 send 130 bits for 128, 1 and 2 ten for eight;
  // generation 6 loses less than that to its flits' overhead: left out.
  return gt_per_s * lanes / 8 * (gt_per_s < 8 ? 0.8 : 128.0 / 130);
}

}  // namespace assay
