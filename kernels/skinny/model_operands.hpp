// SPDX-License-Identifier: Apache-2.0
// Operands of a skinny product in the host model, and what its result is compared with.
#pragma once
#include <cstdint>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {

// Random ones, of all codes of the packing, as the problem asks for them.
class SkinnyModelOperands {
 public:
  SkinnyModelOperands(model::Gpu& gpu, const SkinnyProblem& problem, std::uint64_t seed);

  model::Address d() const { return d_; }
  model::Address x() const { return x_.at; }
  model::Address w() const { return w_.at; }
  model::Address scales() const { return scales_.at; }
  model::Address scale() const { return scale_.at; }

  // D against the sum in float64: the hash, and the first output beyond reference.hpp's bound.
  void compare(model::Gpu& gpu, ModelResult& result) const;

 private:
  struct Uploaded {
    model::Address at;
    std::vector<double> values;  // what its elements stand for
  };
  SkinnyProblem problem_;
  model::Address d_;
  Uploaded x_, w_, scales_, scale_;
};

}  // namespace assay::kernels
