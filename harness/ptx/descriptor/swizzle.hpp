// SPDX-License-Identifier: Apache-2.0
// The shared-memory swizzles that TMA, wgmma and tcgen05 share, as plain arithmetic.
//
// Bytes move in 16-byte chunks. With a swizzle of W = 32, 64 or 128 bytes, TMA lays a box whose
// inner extent is W bytes (or less) out in rows of W bytes and XORs the chunk index with bits taken
// from the address above it, so that eight rows of one column of chunks fall into different banks:
//
//   W = 128: address bits [4, 7) ^= bits [7, 10)   (pattern repeats every 1024 bytes)
//   W =  64: address bits [4, 6) ^= bits [7, 9)    (every 512 bytes)
//   W =  32: address bit   4     ^= bit   7        (every 256 bytes)
//
// With atoms of 32 bytes (TMA and tcgen05 of sm_100a; not wgmma) chunks move in pairs:
//
//   W = 128: address bits [5, 7) ^= bits [7, 9)    (every 512 bytes)
//
// It is a function of the address, so buffers are aligned to the period. The XOR touches only bits
// below those it reads: applying it twice gives the address back.
// CUDA driver API, CU_TENSOR_MAP_SWIZZLE_*; PTX ISA 9.0, 5.5.7 "Swizzling Modes".
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay::ptx {

enum class Swizzle : std::uint8_t { none, bytes32, bytes64, bytes128, bytes128_atoms32 };

// The alignment a buffer needs, after which the pattern has repeated. (That of bytes128_atoms32
// repeats twice as often, but the ISA counts its base offset from 1024 bytes, too.)
__host__ __device__ constexpr std::uint32_t swizzle_period(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::bytes32:
      return 256;
    case Swizzle::bytes64:
      return 512;
    case Swizzle::bytes128:
    case Swizzle::bytes128_atoms32:
      return 1024;
    case Swizzle::none:
      break;
  }
  return 16;
}

// Where the byte at `offset` of an unswizzled buffer lies in the swizzled one (and back).
__host__ __device__ constexpr std::uint32_t swizzle_offset(Swizzle swizzle, std::uint32_t offset) {
  switch (swizzle) {
    case Swizzle::bytes32:
      return offset ^ ((offset >> 3) & 0x10);
    case Swizzle::bytes64:
      return offset ^ ((offset >> 3) & 0x30);
    case Swizzle::bytes128:
      return offset ^ ((offset >> 3) & 0x70);
    case Swizzle::bytes128_atoms32:
      return offset ^ ((offset >> 2) & 0x60);
    case Swizzle::none:
      break;
  }
  return offset;
}

}  // namespace assay::ptx
