// SPDX-License-Identifier: Apache-2.0
// What the pointer chases through global memory share.
//
// A line holds the 64-bit address of the next, so the chain is loads and nothing else: no index is
// scaled or added to a base between one load and the next. One warp per SM walks, all its lanes on
// the same address, and every SM is recorded.
#pragma once
#include <cstdint>

#include "harness/state.hpp"
#include "probes/memory/ring.hpp"

namespace assay {

struct alignas(128) Line {  // a cache line of every GPU there is
  Line* next;
};

inline constexpr int kChaseSteps = 64;  // loads in one iteration

// Walks kChaseSteps * iterations lines from cursors[blockIdx.x], and leaves there where it came to.
using ChaseKernel = void (*)(std::int64_t iterations, Line** cursors, StopwatchRecord* records);

// Measures `kernel` on every SM. There are `rings` rings of 2^bits lines (at least kChaseSteps):
// one for all SMs, or one for each. Every ring is walked once round before, and every walk's end is
// checked after.
void measure_chase(State& s, int rings, int bits, ChaseKernel kernel);

// What a place of a chase over any stride holds: its successor's address, or how many bytes that
// lies behind the first place; the same of the place kVisitLoads steps on; and a one in each other
// word, so that wide loads can be counted.
struct alignas(32) Place {
  std::uint64_t next, one, skip, last_one;
};
inline constexpr int kSkipAt = 16;  // bytes

// `count` places, `stride` bytes apart (a multiple of 32). With `scatter`, each lies on a 128-byte
// line of its own choice within its stride: one line of each page, no two on the same sets.
struct PlaceLayout {
  char* base;
  std::uint32_t count;
  std::uint64_t stride;
  bool scatter = false;
  bool by_offset = false;  // next is an offset instead of an address

  __host__ __device__ std::uint64_t offset(std::uint32_t place) const {
    const std::uint64_t lines = stride / sizeof(Line);
    return place * stride + (scatter ? place * 2654435769u % lines * sizeof(Line) : 0);
  }
  __host__ __device__ std::uint64_t at_step(std::uint32_t step) const {
    const std::uint64_t off = offset(shuffle_within(step % count, count));
    return by_offset ? off : reinterpret_cast<std::uint64_t>(base) + off;
  }
};
void tie_places(const PlaceLayout& layout, cudaStream_t stream);

}  // namespace assay
