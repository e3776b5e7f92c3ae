// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.hpp"

#include <string>
#include <string_view>

#include "kernels/c_api/arguments.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/c_api/boundary.hpp"
#include "kernels/gemm/shapes.hpp"

namespace assay::kernels {
namespace {

constexpr std::string_view kOf16Bits[] = {"bf16", "f16"};
constexpr std::string_view kOf8Bits[] = {"", "", "", "e4m3", "e5m2"};
constexpr std::string_view kResults[] = {"bf16", "f16", "f32"};
constexpr std::string_view kLayouts[] = {"nt", "nn", "tn", "tt"};
constexpr std::string_view kActivations[] = {"identity", "gelu", "silu", "gelu_tanh"};
constexpr std::string_view kScalings[] = {"", "tensor", "row"};

// Everything that can be said without a GPU, then what needs one; then the launch.
void run_gemm(const std::string& name, const GemmProblem& p, const GemmOperands& o, void* stream) {
  require_pointers(name, {{"d", o.d}, {"a", o.a}, {"b", o.b}});
  if (p.beta != 0) require_pointers(name, {{"c", o.c}});
  if (p.bias) require_pointers(name, {{"bias", o.bias}});
  if (p.scaling != Scaling::none)
    require_pointers(name, {{"scale_a", o.scale_a, 4}, {"scale_b", o.scale_b, 4}});
  require_valid(p);
  require_here(name,
               {{"d", o.d},
                {"a", o.a},
                {"b", o.b},
                {"c", p.beta != 0 ? o.c : nullptr},
                {"bias", o.bias},
                {"scale_a", o.scale_a},
                {"scale_b", o.scale_b}},
               stream);
  plan_gemm(p, o).run(static_cast<cudaStream_t>(stream));
}

GemmProblem sized(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.m = require_size(name, "m", m),
          .n = require_size(name, "n", n),
          .k = require_size(name, "k", k)};
}

Activation activation_of(const std::string& name, int number) {
  require_name(name, "activation", number, kActivations);
  return static_cast<Activation>(number);
}

}  // namespace
}  // namespace assay::kernels

using namespace assay::kernels;

int assay_gemm_bf16_nt(void* d, const void* a, const void* b, int m, int n, int k, void* stream) {
  return guarded([&] {
    run_gemm("assay_gemm_bf16_nt", {.m = m, .n = n, .k = k}, {.d = d, .a = a, .b = b}, stream);
  });
}

int assay_gemm(void* d, const void* a, const void* b, const void* c, const void* bias, int type,
               int type_d, int layout, int64_t m, int64_t n, int64_t k, float alpha, float beta,
               int activation, void* stream) {
  return guarded([&] {
    const std::string name = "assay_gemm";
    GemmProblem p = sized(name, m, n, k);
    p.type = require_name(name, "type", type, kOf16Bits);
    p.type_d = require_name(name, "type_d", type_d, kResults);
    p.layout = require_name(name, "layout", layout, kLayouts);
    p.alpha = alpha;
    p.beta = beta;
    p.bias = bias != nullptr;
    p.activation = activation_of(name, activation);
    run_gemm(name, p, {.d = d, .a = a, .b = b, .c = c, .bias = bias}, stream);
  });
}

int assay_gemm_fp8(void* d, const void* a, const void* b, const float* scale_a,
                   const float* scale_b, const void* c, const void* bias, int type_a, int type_b,
                   int type_d, int scaling, int64_t m, int64_t n, int64_t k, float alpha,
                   float beta, int activation, void* stream) {
  return guarded([&] {
    const std::string name = "assay_gemm_fp8";
    GemmProblem p = sized(name, m, n, k);
    p.type = require_name(name, "type_a", type_a, kOf8Bits);
    p.type_b = require_name(name, "type_b", type_b, kOf8Bits);
    p.type_d = require_name(name, "type_d", type_d, kResults);
    require_name(name, "scaling", scaling, kScalings);
    p.scaling = static_cast<Scaling>(scaling);
    p.alpha = alpha;
    p.beta = beta;
    p.bias = bias != nullptr;
    p.activation = activation_of(name, activation);
    run_gemm(name, p,
             {.d = d, .a = a, .b = b, .c = c, .bias = bias, .scale_a = scale_a, .scale_b = scale_b},
             stream);
  });
}

int assay_gemm_shape(int index, int* m, int* n, int* k, int* set, const char** model,
                     const char** layer) {
  return guarded([&] {
    const std::string name = "assay_gemm_shape";
    require_pointers(name, {{"m", m, 1},
                            {"n", n, 1},
                            {"k", k, 1},
                            {"set", set, 1},
                            {"model", model, 1},
                            {"layer", layer, 1}});
    const auto shapes = gemm_shapes();
    require_index(name, "shapes", index, shapes.size());
    const GemmShape& shape = shapes[static_cast<std::size_t>(index)];
    *m = shape.m;
    *n = shape.n;
    *k = shape.k;
    *set = static_cast<int>(shape.set);
    // Both views are of whole literals.
    *model = shape.model.empty() ? "" : shape.model.data();
    *layer = shape.layer.empty() ? "" : shape.layer.data();
  });
}
