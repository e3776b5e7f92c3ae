// SPDX-License-Identifier: Apache-2.0
// The rest of TMA (tma.cuh has its plain loads and stores): loads by the number of coordinates,
// multicast, reductions, and the modes that gather. One thread issues them. sm_90 and newer, unless
// said otherwise. PTX ISA 9.0, "Data Movement and Conversion Instructions: cp.async.bulk,
// cp.reduce.async.bulk".
#pragma once
#include "harness/ptx/tma.cuh"

namespace assay::ptx {

// The load of as many dimensions as there are coordinates, innermost first.
template <int kDimensions>
__device__ inline void tma_load(void* destination, const CUtensorMap* map, Mbarrier* barrier,
                                const int (&c)[kDimensions]) {
  static_assert(kDimensions >= 1 && kDimensions <= 5);
  if constexpr (kDimensions == 1) tma_load_1d(destination, map, barrier, c[0]);
  if constexpr (kDimensions == 2) tma_load_2d(destination, map, barrier, c[0], c[1]);
  if constexpr (kDimensions == 3) tma_load_3d(destination, map, barrier, c[0], c[1], c[2]);
  if constexpr (kDimensions == 4) tma_load_4d(destination, map, barrier, c[0], c[1], c[2], c[3]);
  if constexpr (kDimensions == 5)
    tma_load_5d(destination, map, barrier, c[0], c[1], c[2], c[3], c[4]);
}

}  // namespace assay::ptx
