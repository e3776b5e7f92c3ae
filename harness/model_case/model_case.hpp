// SPDX-License-Identifier: Apache-2.0
// A kernel of the suite on a small shape, for the host model: `assay model` and the tests run these
// without a GPU. A namespace-scope `const ModelCase::Registration c{{.name = ...}};` adds one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/callable.hpp"
#include "harness/model/model.hpp"

namespace assay {

struct ModelResult {
  model::Outcome outcome;
  std::string wrong = {};  // what the result is that it should not be; empty if it is right
  std::uint32_t hash = 0;  // CRC-32 of the result, if the kernel ended
};

struct ModelCase {
  std::string name;    // "kernels/gemm/bf16/m256n512k256/nt"
  std::string kernel;  // what the PTX's kernel is called, in part
  // Makes operands in `gpu`, launches, compares with a reference.
  Callable<ModelResult(model::Gpu& gpu, const model::Options& options)> run;
  std::string second = {};  // part of another kernel's name that `run` launches too

  struct Registration {
    explicit Registration(ModelCase one);
    explicit Registration(std::vector<ModelCase> many);
  };
};

// All that this program has, by name.
const std::vector<ModelCase>& model_cases();

// The PTX of a kernel of that name in this very program, without the other kernels that were
// compiled with it, but for `second`. Throws Error(unfit) if there is none.
std::string ptx_of(std::string_view kernel, std::string_view second = {});

}  // namespace assay
