// SPDX-License-Identifier: Apache-2.0
// The kinds of memory of the CPU that copies to and from a GPU can use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

class State;

// pinned: page-locked by CUDA. write_combined: likewise, past the CPU's caches, for the CPU to
// write only. registered: ordinary pages, page-locked afterwards. pageable: ordinary pages, copied
// by way of a page-locked buffer of the driver's. managed: moves between CPU and GPU, here by
// explicit prefetch alone.
enum class HostKind : std::uint8_t { pinned, write_combined, registered, pageable, managed };
inline constexpr HostKind kHostKinds[] = {HostKind::pinned, HostKind::write_combined,
                                          HostKind::registered, HostKind::pageable,
                                          HostKind::managed};
const char* name(HostKind kind);

class HostMemory {
 public:
  // Every page is there when this returns. Skips the case where the machine has less than twice
  // `bytes` left, or lacks the kind.
  HostMemory(State& s, HostKind kind, std::size_t bytes);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;  // one owner
  HostMemory& operator=(const HostMemory&) = delete;
  std::byte* data() const { return data_; }

 private:
  HostKind kind_;
  std::byte* data_ = nullptr;
};

// Bytes that /proc/meminfo's text calls available, 0 if it does not say.
std::uint64_t available_bytes(std::string_view meminfo);

}  // namespace assay
