// SPDX-License-Identifier: Apache-2.0
// Operands of a block-scaled e4m3 product in the host model, and what its result must be.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model_case/model_case.hpp"

namespace assay::kernels {

struct BlockScaledModelShape {
  int m, n, k;
  std::string name() const;  // "m256n512k256"
};

// A [m][k], B [n][k], their scales, and an uninitialized D [m][n] in the model's global memory.
class BlockScaledModelOperands {
 public:
  BlockScaledModelOperands(model::Gpu& gpu, const BlockScaledModelShape& shape, std::uint64_t seed);

  struct Addresses {
    model::Address d, a, b, scale_a, scale_b;
  };
  Addresses addresses() const { return {d_, a_, b_, scale_a_, scale_b_}; }

  // Reads D: its hash, and what is wrong with it.
  void compare(model::Gpu& gpu, ModelResult& result) const;

 private:
  BlockScaledModelShape shape_;
  std::vector<std::uint8_t> host_a_, host_b_;
  std::vector<float> host_scale_a_, host_scale_b_;
  model::Address a_, b_, scale_a_, scale_b_, d_;
};

// Shapes that are no multiples of any tile; K is a multiple of 16 and N of 8, for TMA wants rows
// that begin on 16 bytes.
const std::vector<BlockScaledModelShape>& awkward_block_scaled_shapes();

}  // namespace assay::kernels
