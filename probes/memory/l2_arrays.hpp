// SPDX-License-Identifier: Apache-2.0
// What memory/l2/read reads and memory/l2/write writes.
//
// How evenly the addresses fall on the slices of L2 is a matter of the physical pages: one array
// differs from another by 1%. So there are several arrays far apart, and each access of an
// iteration is to another one. All of it stays in L2 from launch to launch.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace assay {

inline constexpr int kL2Threads = 1024;  // of an SM's CTA
inline constexpr int kL2Arrays = 8;      // a thread has 16 bytes of each in one iteration
inline constexpr std::uint32_t kL2Tile = kL2Threads * 16;
inline constexpr std::uint64_t kL2Round = std::uint64_t{kL2Tile} * kL2Arrays;  // all of one
// Bytes from one array to the next: no power of two, so that no two arrays lie alike on the slices.
inline constexpr std::size_t kL2Apart = std::size_t{509} << 20;

// Bytes of all arrays: they also fit where each of two partitions keeps a copy of what lies in the
// other.
constexpr std::uint64_t l2_footprint(std::uint64_t l2_bytes) { return l2_bytes / 4; }

// Tiles of an SM in each array, to the nearest, and one at least.
constexpr std::uint32_t l2_tiles_of_sm(std::uint64_t l2_bytes, std::uint32_t sms) {
  const std::uint64_t rounds = sms * kL2Round;
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>((l2_footprint(l2_bytes) + rounds / 2) / rounds, 1));
}

}  // namespace assay
