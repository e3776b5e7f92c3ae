// SPDX-License-Identifier: Apache-2.0
// Pointers into shared memory as PTX wants them: 32-bit addresses in the shared state space.
// PTX ISA 9.0, "State Spaces" and "mapa".
#pragma once
#include <cstdint>

namespace assay::ptx {

// Address of `pointer` (which must point into this CTA's shared memory) in the .shared window.
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// The same variable in the shared memory of CTA `rank` of this cluster, in the .shared::cluster
// window (mapa). sm_90 and newer.
__device__ inline std::uint32_t map_shared_address(std::uint32_t address, std::uint32_t rank) {
  std::uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

}  // namespace assay::ptx
