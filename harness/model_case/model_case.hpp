// SPDX-License-Identifier: Apache-2.0
// A kernel of the suite on a small shape, for the host model: `assay model` and the tests run these
// without a GPU. A namespace-scope `const ModelCase::Registration c{{.name = ...}};` adds one.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
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
  std::string name;                  // "kernels/gemm/bf16/m256n512k256/nt"
  std::vector<std::string> kernels;  // that it launches: what the PTX calls each, in part
  // Makes operands in `gpu`, launches, compares with a reference.
  Callable<ModelResult(model::Gpu& gpu, const model::Options& options)> run;

  struct Registration {
    explicit Registration(ModelCase one);
    explicit Registration(std::vector<ModelCase> many);
  };
};

// All that this program has, by name.
const std::vector<ModelCase>& model_cases();

// The PTX in this very program of these kernels, of one source file, without others that were
// compiled with them: they are many, and would take longer to read than the kernels to run. Throws
// Error(unfit) if there is no such kernel.
std::string ptx_of(const std::vector<std::string>& kernels);

// Lets a grid before write these arrays (null pointers: none), as they are: kernels that are
// launched early must wait before they touch them. They are the kernels of ptx_of(), and wait for
// grids (griddepcontrol); else throws Violation. What the host does afterwards waits for that grid.
void written_by_a_grid_before(model::Gpu& gpu, std::initializer_list<const void*> arrays);

}  // namespace assay
