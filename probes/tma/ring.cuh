// SPDX-License-Identifier: Apache-2.0
// A closed walk in pseudo-random order through 2^bits places, in closed form: step t is at place
// shuffle(t). So a ring of any size is laid out by one kernel, and where a chain of any length must
// end is known without walking it.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

// A bijection of 0 .. 2^bits - 1 (8 <= bits < 32): products with odd numbers and xors of a number
// with its own upper half can each be undone.
__host__ __device__ constexpr std::uint32_t shuffle(std::uint32_t step, int bits) {
  const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
  const int half = (bits + 1) / 2;
  std::uint32_t x = (step * 0x9e3779b1u) & mask;
  x ^= x >> half;
  x = (x * 0x85ebca6bu) & mask;
  x ^= x >> half;
  x = (x * 0xc2b2ae35u) & mask;
  return x ^ (x >> half);
}

// The first step of CTA `cta`: the CTAs set out evenly spaced along the ring.
__host__ __device__ constexpr std::uint32_t first_step(int cta, int ctas, int bits) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(cta) << bits) / ctas);
}

// Keeps each launch from walking where the one before has just been: in a ring larger than L2 it
// would find there what that one left.
class Walk {
 public:
  Walk(int ctas, int bits) : ctas_(ctas), bits_(bits) {}

  // How far along the ring the next launch, of `steps` steps per CTA, is to set out.
  std::uint32_t set_out(std::int64_t steps) {
    const std::uint32_t offset = walked_;
    walked_ += static_cast<std::uint32_t>(steps);
    return offset;
  }
  // The step at which the last launch must have left this CTA.
  std::uint32_t end(int cta) const {
    return (first_step(cta, ctas_, bits_) + walked_) & ((std::uint32_t{1} << bits_) - 1);
  }

 private:
  int ctas_, bits_;
  std::uint32_t walked_ = 0;  // wraps at 2^32, a multiple of the ring's length
};

}  // namespace assay
