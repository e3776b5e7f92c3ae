// SPDX-License-Identifier: Apache-2.0
// The proof that a barrier works: nobody leaves it before everybody has arrived.
#pragma once
#include <algorithm>
#include <cstdint>

#include "harness/cuda.hpp"
#include "harness/state.hpp"

namespace assay {

inline constexpr int kMaxWarps = 32;  // of one CTA

// One warp's way through one barrier, in cycles of its SM.
struct Passage {
  std::uint64_t arrived, left;
};

// Fails the case unless in each CTA the first warp out left after the last one in had arrived.
// `passages` is [ctas][kMaxWarps] in device memory, of which `warps` per CTA are set.
inline void require_barrier(State& s, const Passage* passages, int ctas, int warps) {
  const auto seen = download(passages, std::size_t{1} * ctas * kMaxWarps, s.stream());
  for (int cta = 0; cta < ctas; ++cta) {
    std::uint64_t last_in = 0, first_out = UINT64_MAX;
    for (int warp = 0; warp < warps; ++warp) {
      last_in = std::max(last_in, seen[cta * kMaxWarps + warp].arrived);
      first_out = std::min(first_out, seen[cta * kMaxWarps + warp].left);
    }
    s.require(first_out >= last_in, "a warp left the barrier before all had arrived");
  }
}

}  // namespace assay
