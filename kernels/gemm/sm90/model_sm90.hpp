// SPDX-License-Identifier: Apache-2.0
// The forms of the Hopper product that run in the host model, and on a GPU on the same inputs
// (kernels/gemm/sweep/record_gemm_sm90.cpp).
#pragma once
#include <string>
#include <vector>

#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"

namespace assay::kernels {

struct ModelFormSm90 {
  std::string name;  // of the model's case
  GemmProblem problem;
  GemmChoiceSm90 choice;
  bool plain = false;  // operands are ModelOperands, else ModelProblem; both of seed 0
};

const std::vector<ModelFormSm90>& model_forms_sm90();

// Where the bits of a whole-tile product of a shape stand, whatever its form:
// "kernels/gemm/bf16/m65n72k136/nt".
std::string name_of_whole_sm90(const GemmProblem& problem);

}  // namespace assay::kernels
