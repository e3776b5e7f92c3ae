// SPDX-License-Identifier: Apache-2.0
// Any matrix product in the host model: its operands in the model's memory, and what D must be, by
// the bound of kernels/gemm/bound.hpp.
#pragma once
#include <cstdint>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/gemm.hpp"

namespace assay::kernels {

// Normal random operands, factors around one; C and the bias where the problem has them, scales
// where it is scaled. D is uninitialized.
class ModelProblem {
 public:
  ModelProblem(model::Gpu& gpu, const GemmProblem& problem, std::uint64_t seed);

  // The model's addresses as pointers.
  GemmOperands operands() const;

  // Reads D: its hash, and what is wrong with it.
  void compare(model::Gpu& gpu, ModelResult& result) const;

 private:
  // An array in the model's memory, and its values.
  struct Values {
    model::Address at = 0;
    std::vector<double> values = {};
  };

  GemmProblem problem_;
  Values a_, b_, c_, bias_, scale_a_, scale_b_;
  model::Address d_ = 0;
};

}  // namespace assay::kernels
