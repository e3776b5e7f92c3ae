// SPDX-License-Identifier: Apache-2.0
// A kernel of the suite on a small shape, for the host model: `assay model` and the tests run these
// without a GPU. A namespace-scope `const ModelCase::Registration c{{.name = ...}};` adds one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "harness/callable.hpp"
#include "harness/model/model.hpp"

namespace assay {

struct ModelCase {
  std::string name;    // "kernels/gemm/bf16/m256n512k256/nt"
  std::string kernel;  // what the PTX's kernel is called, in part
  // Makes operands in `gpu`, launches, compares with a reference. What is wrong with the result
  // goes to `wrong`; the findings are the model's.
  Callable<model::Outcome(model::Gpu& gpu, const model::Options& options, std::string& wrong)> run;

  struct Registration {
    explicit Registration(ModelCase one);
    explicit Registration(std::vector<ModelCase> many);
  };
};

// All that this program has, by name.
const std::vector<ModelCase>& model_cases();

// The PTX in this very program that has a kernel of that name. Throws Error(unfit) if none has.
std::string ptx_of(std::string_view kernel);

}  // namespace assay
