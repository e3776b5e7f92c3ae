// SPDX-License-Identifier: Apache-2.0
// Memory of the CPU side that a GPU reaches at its best.
#pragma once
#include <sched.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// CPUs of a list as Linux writes it, "0-3,8,10-11"; empty for anything else.
std::vector<int> parse_cpu_list(std::string_view text);

// While it lives, the calling thread runs on the CPUs nearest to the PCI device, and the pages it
// allocates lie in their memory: a copy that crosses to another socket is slower. Where the system
// does not say which they are, or forbids the move, nothing changes and moved() is false.
class NearDevice {
 public:
  explicit NearDevice(const std::string& pci_bus_id);
  ~NearDevice();
  NearDevice(const NearDevice&) = delete;  // restores one thread's CPUs once
  NearDevice& operator=(const NearDevice&) = delete;
  bool moved() const { return moved_; }

 private:
  cpu_set_t before_;
  bool moved_ = false;
};

// Page-locked memory of the CPU, cached as usual (not write-combined: the CPU may read it).
struct FreePinnedMemory {
  void operator()(std::byte* memory) const;
};
using PinnedMemory = std::unique_ptr<std::byte[], FreePinnedMemory>;
PinnedMemory pinned_memory(std::size_t bytes);

// GB/s that a PCI device's link carries at most, one way, after its line coding; 0 if unknown.
double pcie_limit_gb_per_s(const std::string& pci_bus_id);

}  // namespace assay
