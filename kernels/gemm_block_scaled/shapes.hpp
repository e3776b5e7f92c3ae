// SPDX-License-Identifier: Apache-2.0
// The shapes that block-scaled products are measured in: layers of the model that introduced these
// scales, at many tokens and at few, squares, and one that is no multiple of a tile.
#pragma once
#include <span>
#include <string_view>

#include "harness/probe.hpp"

namespace assay::kernels {

// m: tokens. n, k: outputs and inputs of a model's layer.
struct BlockScaledShape {
  int m, n, k;
  Suite suite;
  std::string_view model = {}, layer = {};  // empty: of no model
};

std::span<const BlockScaledShape> block_scaled_shapes();

}  // namespace assay::kernels
