// SPDX-License-Identifier: Apache-2.0
// Wide ordinary loads into an array of words. PTX ISA 9.0, "Data Movement and Conversion
// Instructions: ld".
#pragma once
#include <cstdint>

namespace assay::ptx {

// 16 bytes, or 32 (sm_100 and newer), from an address that is a multiple of as many.
template <int kBytes>
__device__ inline void load_words(std::uint32_t (&w)[kBytes / 4], const void* address) {
  static_assert(kBytes == 16 || kBytes == 32);
  if constexpr (kBytes == 16)
    asm volatile("ld.weak.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "l"(address)
                 : "memory");
  else
    asm volatile("ld.weak.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]),
                   "=r"(w[6]), "=r"(w[7])
                 : "l"(address)
                 : "memory");
}

}  // namespace assay::ptx
