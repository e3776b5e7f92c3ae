// SPDX-License-Identifier: Apache-2.0
// The shapes that block-scaled products are measured in: layers of the model that introduced these
// scales, at many tokens and at few, squares, and one that is no multiple of a tile.
#pragma once
#include <span>

#include "kernels/gemm/shapes.hpp"

namespace assay::kernels {

std::span<const GemmShape> block_scaled_shapes();

}  // namespace assay::kernels
