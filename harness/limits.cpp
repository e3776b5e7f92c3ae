// SPDX-License-Identifier: Apache-2.0
#include "harness/limits.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace assay::limits {
namespace {

struct Kind {
  std::string_view element;
  TensorRate TensorRates::*rate;
};
constexpr Kind kKinds[] = {
    {"f64", &TensorRates::f64},     {"tf32", &TensorRates::tf32},   {"f16", &TensorRates::f16},
    {"bf16", &TensorRates::bf16},   {"e4m3", &TensorRates::fp8},    {"e5m2", &TensorRates::fp8},
    {"mxf8", &TensorRates::mxf8},   {"e3m2", &TensorRates::narrow}, {"e2m3", &TensorRates::narrow},
    {"e2m1", &TensorRates::narrow}, {"mxf6", &TensorRates::narrow}, {"mxf4", &TensorRates::fp4},
    {"nvf4", &TensorRates::fp4},    {"s8", &TensorRates::s8},       {"u8", &TensorRates::s8},
    {"s4", &TensorRates::s4},       {"b1", &TensorRates::b1}};

TensorRate rate_of(Target target, std::string_view element) {
  const Kind* const kind = std::ranges::find(kKinds, element, &Kind::element);
  return kind == std::end(kKinds) ? TensorRate{} : row_of(target).tensor.*(kind->rate);
}

// Counters are one for dense and one for sparse products where there are both.
std::string counter(const TensorRate& rate, bool sparse) {
  const std::string name = rate.counter;
  if (name.empty()) return {};
  return "sm__ops_path_tensor_" + name +
         (rate.sparse_factor == 0 ? ""
          : sparse                ? "_sparsity_on"
                                  : "_sparsity_off");
}

}  // namespace

Limit unknown(std::string_view why) { return {0, "none is known: " + std::string(why)}; }

Limit l1_path() { return {128, "a line, or 32 banks of 4 bytes, a clock"}; }

Limit l2_port() {
  return {128, "the SM's port to L2, as CUPTI says of l1tex__m_xbar2l1tex_read_bytes on sm_90"};
}

Limit tensor(Target target, std::string_view element) {
  const TensorRate rate = rate_of(target, element);
  if (rate.dense <= 0) return {};
  return {rate.dense,
          element == "b1" ? "8 x the s8 peak, as in the A100 whitepaper, table 1"
                          : "vendor whitepapers and datasheets: dense peak / (SMs x clock)",
          counter(rate, false)};
}

Limit sparse_tensor(Target target, std::string_view element) {
  const TensorRate rate = rate_of(target, element);
  const double value = rate.sparse_factor * rate.dense;
  if (value <= 0) return {};
  return {value, "vendor whitepapers and datasheets: sparse peak / (SMs x clock)",
          counter(rate, true)};
}

Limit ffma() { return {256, "128 FP32 lanes per SM, CUDA C++ Best Practices Guide 13.0, 12.1.1"}; }

Limit special_function(Target target, std::string_view function) {
  const double results = function == "ex2" ? row_of(target).scalar.ex2 : 16;
  if (results <= 0) return {};
  return {results,
          "special function results per clock and SM, CUDA C++ Best Practices Guide 13.0, 12.1.1"};
}

}  // namespace assay::limits
