// SPDX-License-Identifier: Apache-2.0
// The shapes that matrix products are measured in.
#pragma once
#include <span>
#include <string_view>

#include "harness/probe.hpp"

namespace assay::kernels {

// m: tokens. n, k: outputs and inputs of a model's layer.
struct GemmShape {
  int m, n, k;
  Suite suite;
  std::string_view model = {}, layer = {};  // empty: of no model
};

std::span<const GemmShape> gemm_shapes();

}  // namespace assay::kernels
