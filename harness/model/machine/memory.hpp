// SPDX-License-Identifier: Apache-2.0
// Addresses and global memory of the modelled GPU.
//
// Generic addresses fall into windows: shared memory of a cluster, local memory, and everything
// else (global and constant memory, kernel parameters), where arrays lie with gaps between them. An
// address in shared memory is 32 bits: the CTA's rank in its cluster above bit 24, as silicon has
// it (CUTLASS clears bit 24 to name the even CTA of a pair), and the offset below.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/model/check/shadow.hpp"

namespace assay::model {

using Address = std::uint64_t;

inline constexpr Address kSharedWindow = 0x7000'0000'0000;
inline constexpr Address kLocalWindow = 0x6000'0000'0000;
inline constexpr Address kWindowBytes = Address{1} << 32;
inline constexpr Address kGlobalBase = 0x10'0000'0000;
inline constexpr unsigned kRankShift = 24;
// The first KiB of a CTA's shared memory is the system's on sm_90 and newer: an offset near 0 is
// nobody's.
inline constexpr std::uint32_t kSharedBegin = 1024;

// The strand of all accesses of a grid that was launched before this one and may not have ended: 1
// is the last one. Other asynchronous strands have higher numbers.
constexpr Component grid_strand(Component grids_ago) { return kAsynchronous | grids_ago; }

// So many grids may be under way at once; those before them have ended.
inline constexpr Component kMostGrids = 16;

struct Array {
  Address base = 0;
  std::string name;
  std::vector<std::uint8_t> bytes;
  ByteShadow shadow;
  bool writable = true;

  Array(Address at, std::string called, std::size_t size)
      : base(at), name(std::move(called)), bytes(size), shadow(size) {}
};

// Global memory: arrays, each with its bounds. Never frees.
class GlobalMemory {
 public:
  // Who wrote and read each word last takes ten times as much again: 704 MiB in all.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  // A new array, 256-byte aligned or more, of uninitialized bytes. Throws Violation where all
  // together are more than kMostBytes.
  Array& allocate(std::string name, std::size_t bytes, std::size_t align = 256);

  // The array that holds all of [address, address + bytes), or null.
  Array* find(Address address, std::size_t bytes);
  // The array that begins closest below, for messages; null if none.
  const Array* nearest(Address address) const;

  // Host copies: no kernel runs, all of it is in order.
  void write(Address address, std::span<const std::uint8_t> bytes);
  void read(Address address, std::span<std::uint8_t> bytes);

  // Between kernels: what came before happened before what comes.
  void forget_accesses();
  // Or may still go on: the accesses become those of strands of their own, grid_strand(1) for the
  // last grid, which itself knew of `before` others, and so on for the grids before it.
  void age_accesses(Component before);

 private:
  std::map<Address, std::unique_ptr<Array>> arrays_;
  std::size_t bytes_ = 0;  // of all arrays
  Address next_ = kGlobalBase;
  Array* last_ = nullptr;
};

}  // namespace assay::model
