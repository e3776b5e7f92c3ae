// SPDX-License-Identifier: Apache-2.0
// TMA loads for a pair of CTAs (tcgen05 with two CTAs): the box goes to this CTA, its bytes count
// on a barrier of either CTA of the pair. sm_100a and sm_103a. PTX ISA 9.0, "cp.async.bulk.tensor:
// .cta_group".
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/shared_address.cuh"

namespace assay::ptx {

// `rank`: the CTA of the pair whose barrier it is, at the same offset as `barrier` has here.
__device__ inline void tma_load_2d_pair(void* destination, const CUtensorMap* map,
                                        Mbarrier* barrier, std::uint32_t rank, int c0, int c1) {
  const std::uint32_t remote = map_shared_address(shared_address(barrier), rank);
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::"
      "2 [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(destination)),
      "l"(map), "r"(remote), "r"(c0), "r"(c1)
      : "memory");
}

}  // namespace assay::ptx
