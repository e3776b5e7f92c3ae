// SPDX-License-Identifier: Apache-2.0
// The tensor maps that the block-scaled kernels take as their first parameter.
#pragma once
#include <cuda.h>

namespace assay::kernels {

// Boxes: of A, B and D rows of 128 bytes under the 128-byte swizzle, of A and B a CTA's share of
// its cluster's tile, of D 16; of scale_a as many rows as a tile may touch of those by four, of
// scale_b four blocks along k of each 128 columns.
struct BlockScaledMaps {
  CUtensorMap a, b, scale_a, scale_b, d;
};

}  // namespace assay::kernels
