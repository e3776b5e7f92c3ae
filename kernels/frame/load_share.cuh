// SPDX-License-Identifier: Apache-2.0
// How a CTA of a cluster loads its share of an operand's box.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/tma.cuh"
#include "kernels/frame/edge.cuh"

namespace assay::kernels {

// What an operand's boxes bring of `most` rows (or columns) from `first` on: the ones before `end`,
// by 64 if it is not k-major.
template <int kMajor>
__device__ inline int rows_that_land(int end, int first, int most) {
  const int rows = rows_within(end, first, most);
  return kMajor == 0 ? rows : (rows + 63) / 64 * 64;
}

// Loads this CTA's share of an operand's box for the CTAs in `mask`, the first `rows` rows (or
// columns) of it. A k-major share is one box of `map`; else it is boxes of 64 rows by what `map`
// has along k, which lie 8192 bytes apart. `policy` 0: none. (A policy of evict_normal is not the
// same as none: with it, loads were up to a quarter slower on an H200.)
template <int kMajor, int kShare, bool kMulticast>
__device__ inline void load_share(std::uint8_t* to, const CUtensorMap* map, int rows,
                                  ptx::Mbarrier* full, std::uint16_t mask, int k, int first,
                                  std::uint64_t policy) {
  constexpr int kBoxes = kMajor == 0 ? 1 : kShare / 64;
#pragma unroll
  for (int box = 0; box < kBoxes; ++box) {
    if (rows <= box * 64) break;
    const int c0 = kMajor == 0 ? k : first + box * 64;
    const int c1 = kMajor == 0 ? first : k;
    if constexpr (kMulticast) {
      if (policy == 0) {
        ptx::tma_load_2d_multicast(to + box * 8192, map, full, mask, c0, c1);
      } else {
        ptx::tma_load_2d_multicast_hinted(to + box * 8192, map, full, mask, c0, c1, policy);
      }
    } else {
      if (policy == 0) {
        ptx::tma_load_2d(to + box * 8192, map, full, c0, c1);
      } else {
        ptx::tma_load_2d_hinted(to + box * 8192, map, full, c0, c1, policy);
      }
    }
  }
}

}  // namespace assay::kernels
