// SPDX-License-Identifier: Apache-2.0
#include "probes/link/host_memory.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>

#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/state.hpp"

namespace assay {
namespace {

constexpr std::size_t kPage = 4096;

bool has_managed(const Device& device) {
  int concurrent = 0;
  check(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device.index));
  return concurrent != 0;
}

std::byte* ordinary_pages(std::size_t bytes) {
  void* memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (!memory) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

}  // namespace

const char* name(HostKind kind) {
  switch (kind) {
    case HostKind::pinned:
      return "pinned";
    case HostKind::write_combined:
      return "write_combined";
    case HostKind::registered:
      return "registered";
    case HostKind::pageable:
      return "pageable";
    case HostKind::managed:
      return "managed";
  }
  return "";
}

std::uint64_t available_bytes(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  std::size_t at = meminfo.find(kKey);
  if (at == std::string_view::npos) return 0;
  at = meminfo.find_first_not_of(' ', at + kKey.size());
  std::uint64_t kib = 0;
  if (at != std::string_view::npos)
    std::from_chars(meminfo.data() + at, meminfo.data() + meminfo.size(), kib);
  return kib << 10;
}

HostMemory::HostMemory(State& s, HostKind kind, std::size_t bytes) : kind_(kind) {
  std::ifstream file("/proc/meminfo");
  const std::string meminfo(std::istreambuf_iterator<char>(file), {});
  const std::uint64_t left = available_bytes(meminfo);
  if (left && left < 2 * bytes)
    s.skip(fmt::format("needs {} MiB of free memory on the CPU's side, {} MiB are left",
                       2 * bytes >> 20, left >> 20));
  if (kind == HostKind::managed && !has_managed(s.device()))
    s.skip("this GPU and driver do not move managed memory while both sides may touch it");
  void* memory = nullptr;
  switch (kind) {
    case HostKind::pinned:
      check(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
      break;
    case HostKind::write_combined:
      check(cudaHostAlloc(&memory, bytes, cudaHostAllocWriteCombined));
      break;
    case HostKind::managed:
      check(cudaMallocManaged(&memory, bytes));
      break;
    case HostKind::registered:
    case HostKind::pageable:
      memory = ordinary_pages(bytes);
      break;
  }
  data_ = static_cast<std::byte*>(memory);
  std::memset(data_, 0, bytes);
  if (kind == HostKind::registered)
    if (const cudaError_t status = cudaHostRegister(data_, bytes, cudaHostRegisterDefault)) {
      std::free(data_);
      check(status);
    }
}

HostMemory::~HostMemory() {
  switch (kind_) {
    case HostKind::pinned:
    case HostKind::write_combined:
      cudaFreeHost(data_);
      break;
    case HostKind::managed:
      cudaFree(data_);
      break;
    case HostKind::registered:
      cudaHostUnregister(data_);
      [[fallthrough]];
    case HostKind::pageable:
      std::free(data_);
      break;
  }
}

}  // namespace assay
