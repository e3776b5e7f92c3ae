// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/skinny.hpp"

#include <cstddef>
#include <string>

#include "harness/error.hpp"
#include "kernels/c_api/arguments.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/c_api/boundary.hpp"
#include "kernels/skinny/shapes.hpp"

int assay_skinny(const char* weights, void* d, const void* x, const void* w, const void* scales,
                 const float* scale, int m, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    if (weights == nullptr) throw assay::Error(assay::ExitCode::usage, "skinny: weights is null");
    const SkinnyProblem problem{.m = m, .n = n, .k = k, .weights = skinny_weights(weights)};
    const SkinnyOperands operands{d, x, w, scales, scale};
    require_valid(problem);
    require_valid(problem, operands);
    require_here("assay_skinny",
                 {{"d", d},
                  {"x", x},
                  {"w", w},
                  {"scales", problem.scale_bytes() > 0 ? scales : nullptr},
                  {"scale", problem.weights == SkinnyWeights::nvf4 ? scale : nullptr}},
                 stream);
    plan_skinny(problem, operands).run(static_cast<cudaStream_t>(stream));
  });
}

int assay_skinny_layer(int index, int* n, int* k, int* set, const char** model,
                       const char** layer) {
  using namespace assay::kernels;
  return guarded([&] {
    const std::string name = "assay_skinny_layer";
    require_pointers(
        name,
        {{"n", n, 1}, {"k", k, 1}, {"set", set, 1}, {"model", model, 1}, {"layer", layer, 1}});
    const auto layers = skinny_layers();
    require_index(name, "layers", index, layers.size());
    const SkinnyLayer& one = layers[static_cast<std::size_t>(index)];
    *n = one.n;
    *k = one.k;
    *set = static_cast<int>(one.suite);
    // Both views are of whole literals.
    *model = one.model.empty() ? "" : one.model.data();
    *layer = one.layer.empty() ? "" : one.layer.data();
  });
}
