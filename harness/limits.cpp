// SPDX-License-Identifier: Apache-2.0
#include "harness/limits.hpp"

#include <array>

namespace assay::limits {
namespace {

struct Row {
  std::string_view element;
  // sm_89, sm_90a, sm_100a, sm_103a, sm_120a
  std::array<double, 5> per_clock;
};

// NVIDIA H100 whitepaper (table 3), Ada and RTX Blackwell whitepapers, Blackwell datasheets, as
// collected in OpenXLA's cuda_core_info_table.cc. GeForce parts of sm_89 and sm_120 halve f16 and
// bf16 with f32 accumulation: the figures here are the full chips'. 0: not offered or not known.
constexpr Row kTensor[] = {{"f64", {0, 256, 128, 0, 0}},
                           {"tf32", {512, 2048, 4096, 4096, 512}},
                           {"f16", {1024, 4096, 8192, 8192, 1024}},
                           {"bf16", {1024, 4096, 8192, 8192, 1024}},
                           {"e4m3", {2048, 8192, 16384, 16384, 2048}},
                           {"s8", {2048, 8192, 16384, 512, 2048}},
                           {"mxf4", {0, 0, 32768, 49152, 4096}}};

constexpr const char* kTensorSource =
    "vendor whitepapers and datasheets: dense peak / (SMs x clock)";

}  // namespace

Limit tensor(Target target, std::string_view element) {
  for (const Row& row : kTensor)
    if (row.element == element && target != Target::host)
      return {row.per_clock[static_cast<std::size_t>(target) - 1], kTensorSource};
  return {};
}

Limit ffma() { return {256, "128 FP32 lanes per SM, CUDA C++ Best Practices Guide 13.0, 12.1.1"}; }

Limit special_function(Target target, std::string_view function) {
  const bool doubled = target == Target::sm_103a && function == "ex2";
  return {doubled ? 32.0 : 16.0,
          "special function results per clock and SM, CUDA C++ Best Practices Guide 13.0, 12.1.1"};
}

}  // namespace assay::limits
