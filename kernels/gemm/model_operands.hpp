// SPDX-License-Identifier: Apache-2.0
// Operands of a product in the host model, and what its result must be. D is bf16, or of A's type if
// that has 16 bits.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model_case/model_case.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/gemm/gemm.hpp"

namespace assay::kernels {

struct ModelShape {
  int m, n, k;
  std::string name() const;  // "m256n512k256"
};

// What encode_tensor_map() makes of a shape whose base is an address in the model.
model::TensorMapBytes model_map(const ptx::TensorMapShape& shape);

// A, B as the problem's layout says, and an uninitialized D in the model's global memory.
class ModelOperands {
 public:
  ModelOperands(model::Gpu& gpu, const GemmProblem& problem, std::uint64_t seed);
  ModelOperands(model::Gpu& gpu, const ModelShape& shape, std::uint64_t seed);  // bf16 nt

  // The addresses, as pointers.
  GemmOperands operands() const;

  // What encode_bf16_matrix() asks the driver for: boxes under the 128-byte swizzle.
  model::TensorMapBytes map_a(int box_rows, int box_columns) const;
  model::TensorMapBytes map_b(int box_rows, int box_columns) const;
  model::TensorMapBytes map_d(int box_rows, int box_columns) const;
  model::Address d() const { return d_; }

  // Reads D: its hash, and what is wrong with it.
  void compare(model::Gpu& gpu, ModelResult& result) const;

 private:
  GemmProblem problem_;
  std::vector<std::uint16_t> host_a_, host_b_;  // each element's bits
  model::Address a_, b_, d_;
};

// Shapes that are no multiples of any tile; K and N are multiples of 8, for TMA wants rows that
// begin on 16 bytes.
const std::vector<ModelShape>& awkward_shapes();

}  // namespace assay::kernels
