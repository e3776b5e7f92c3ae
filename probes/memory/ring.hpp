// SPDX-License-Identifier: Apache-2.0
// The order of every chase: a closed walk in pseudo-random order through 2^bits places, in closed
// form: step t is at place shuffle(t), step 0 at place 0. So a ring of any size is laid out by one
// kernel, and where a chain of any length must end is known without walking it.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

// A bijection of 0 .. 2^bits - 1 (0 < bits < 32): products with odd numbers and xors of a number
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

// The same for any number of places (0 < count < 2^31): the bijection of the next power of two,
// over and over until it falls among the first `count` (cycle walking: Black and Rogaway, "Ciphers
// with Arbitrary Finite Domains", CT-RSA 2002). Fewer than two rounds on average.
__host__ __device__ constexpr std::uint32_t shuffle_within(std::uint32_t step,
                                                           std::uint32_t count) {
  int bits = 1;
  while ((std::uint32_t{1} << bits) < count) ++bits;
  do step = shuffle(step, bits);
  while (step >= count);
  return step;
}

// Where the CTAs of one launch begin: CTA b at step offset + b * apart.
struct Start {
  std::uint32_t offset, apart;
};

// Spreads the CTAs evenly along the ring and moves them on from launch to launch: in a ring larger
// than L2, one that began where the last began would find there what that one left.
class RingWalk {
 public:
  RingWalk(int ctas, int bits)
      : apart_((std::uint32_t{1} << bits) / static_cast<std::uint32_t>(ctas)),
        mask_((std::uint32_t{1} << bits) - 1) {}

  // The start of a launch in which each CTA goes `steps` steps.
  Start set_out(std::int64_t steps) {
    const std::uint32_t offset = walked_;
    walked_ += static_cast<std::uint32_t>(steps);
    return {offset, apart_};
  }
  // The step at which the last launch must have left CTA `cta`.
  std::uint32_t end(int cta) const {
    return (walked_ + static_cast<std::uint32_t>(cta) * apart_) & mask_;
  }

 private:
  std::uint32_t apart_, mask_;
  std::uint32_t walked_ = 0;  // wraps at 2^32, a multiple of the ring's length
};

}  // namespace assay
