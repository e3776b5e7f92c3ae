// SPDX-License-Identifier: Apache-2.0
// The 64-bit shared-memory matrix descriptor of wgmma (sm_90a).
//
//   bits  0-13  start address >> 4
//   bits 16-29  leading-dimension byte offset >> 4
//   bits 32-45  stride-dimension byte offset >> 4
//   bits 49-51  base offset: base_offset() of a swizzled matrix that does not start on its swizzle
//               period
//   bits 62-63  swizzle: 0 none, 1 128-byte, 2 64-byte, 3 32-byte; none for atoms of 32 bytes
//
// PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Shared Memory Layout: Matrix Descriptor
// Format".
//
// For a K-major operand (A row-major, B stored N x K) in swizzled rows of W bytes:
//   - core matrices are 8 rows of 16 bytes; 8 rows of W bytes form one swizzle atom;
//   - the stride offset is the distance between atoms along M or N: 8 * W bytes when the rows
//   follow
//     each other, as TMA writes them;
//   - the leading offset is not used as long as one MMA's K extent (32 bytes) lies inside the row.
// Stepping along K inside the row is an addition to the start address: the hardware applies the XOR
// to the address it computes, and 32 < W does not disturb the row bits that the XOR reads.
#pragma once
#include <cuda_runtime_api.h>

#include <cassert>
#include <cstdint>

#include "harness/ptx/descriptor/swizzle.hpp"

namespace assay::ptx {

struct MatrixDescriptor {
  std::uint32_t start_address;        // in the shared window, bytes, multiple of 16
  std::uint32_t leading_byte_offset;  // multiple of 16
  std::uint32_t stride_byte_offset;   // multiple of 16
  Swizzle swizzle = Swizzle::bytes128;
  std::uint32_t base_offset = 0;
};

// Of a matrix whose swizzle pattern starts at this address; 0 on the pattern's period, which is
// 1024 bytes for the 128-byte swizzle, 512 for the 64-byte and 256 for the 32-byte one.
__host__ __device__ constexpr std::uint32_t base_offset(std::uint32_t pattern_start) {
  return pattern_start >> 7 & 7;
}

// 14 bits of a byte quantity in units of 16 bytes: addresses up to 256 KiB.
__host__ __device__ constexpr std::uint64_t encode_16_byte_units(std::uint32_t bytes) {
  return (bytes & 0x3ffffu) >> 4;
}

__host__ __device__ constexpr std::uint64_t encode(const MatrixDescriptor& d) {
  assert(d.swizzle != Swizzle::bytes128_atoms32);
  const std::uint64_t mode = d.swizzle == Swizzle::bytes128  ? 1
                             : d.swizzle == Swizzle::bytes64 ? 2
                             : d.swizzle == Swizzle::bytes32 ? 3
                                                             : 0;
  return encode_16_byte_units(d.start_address) | encode_16_byte_units(d.leading_byte_offset) << 16 |
         encode_16_byte_units(d.stride_byte_offset) << 32 | std::uint64_t{d.base_offset & 7} << 49 |
         mode << 62;
}

// Descriptor of a K-major operand whose rows of 128 bytes (64 16-bit elements) follow each other
// under the 128-byte swizzle: what a TMA box {64, rows} leaves. `start_address` is 1024-aligned,
// plus 32 bytes for each step of 16 elements along K.
__host__ __device__ constexpr std::uint64_t encode_k_major_128b(std::uint32_t start_address) {
  return encode({start_address, 16, 8 * 128, Swizzle::bytes128});
}

// Descriptor of an M- or N-major operand of 16-bit elements under the 128-byte swizzle: blocks of
// 64 elements along M or N and 64 along K, each what a TMA box {64, 64} leaves, 8192 bytes, the
// next block along M or N right behind it. Eight rows along K form an atom of 1024 bytes; two of
// them are one MMA. `start_address` is 1024-aligned, plus 2048 bytes for each step of 16 along K.
__host__ __device__ constexpr std::uint64_t encode_mn_major_128b(std::uint32_t start_address) {
  return encode({start_address, 64 * 128, 8 * 128, Swizzle::bytes128});
}

// Moves the start address by `bytes` (a multiple of 16); the field must not overflow, which a
// shared-memory address never does. The upper half stays what it is, which the compiler then knows
// as a constant.
__host__ __device__ constexpr std::uint64_t advance(std::uint64_t descriptor, std::uint32_t bytes) {
  return (descriptor & 0xffffffff00000000u) |
         (static_cast<std::uint32_t>(descriptor) + (bytes >> 4));
}

}  // namespace assay::ptx
