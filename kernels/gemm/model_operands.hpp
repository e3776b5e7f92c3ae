// SPDX-License-Identifier: Apache-2.0
// Operands of a bf16 product in the host model, and what its result must be. D = A B^T.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/gemm.hpp"

namespace assay::kernels {

struct ModelShape {
  int m, n, k;
  std::string name() const;  // "m256n512k256"
};

// A [m][k], B [n][k] and an uninitialized D [m][n] in the model's global memory.
class ModelOperands {
 public:
  ModelOperands(model::Gpu& gpu, const ModelShape& shape, std::uint64_t seed);

  // What encode_bf16_matrix() asks the driver for: boxes under the 128-byte swizzle.
  model::TensorMapBytes map_a(int box_rows, int box_columns) const;
  model::TensorMapBytes map_b(int box_rows, int box_columns) const;
  model::TensorMapBytes map_d(int box_rows, int box_columns) const;
  model::Address d() const { return d_; }
  GemmOperands operands() const;  // the addresses as pointers

  // Reads D: its hash, and what is wrong with it.
  void compare(model::Gpu& gpu, ModelResult& result) const;

 private:
  ModelShape shape_;
  std::vector<std::uint16_t> host_a_, host_b_;
  model::Address a_, b_, d_;
};

// Shapes that are no multiples of any tile; K and N are multiples of 8, for TMA wants rows that
// begin on 16 bytes.
const std::vector<ModelShape>& awkward_shapes();

}  // namespace assay::kernels
