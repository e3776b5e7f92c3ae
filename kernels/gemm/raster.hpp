// SPDX-License-Identifier: Apache-2.0
// The order in which tiles of D are visited.
//
// Tiles that run at the same time should share operands in L2. Walking down bands of `band` tile
// rows, column by column, keeps the running set close to a square: with w tiles at once, it covers
// band x (w / band) tiles and reads (band + w / band) tile rows of operands, least at band =
// sqrt(w).
#pragma once
#include <cuda_runtime_api.h>

namespace assay::kernels {

struct TilePosition {
  int m, n;  // in units of cluster tiles
};

struct Raster {
  int rows, columns;  // cluster tiles along m and n
  int band;           // rows per band, >= 1

  __host__ __device__ constexpr int count() const { return rows * columns; }

  __host__ __device__ constexpr TilePosition at(int index) const {
    const int per_band = band * columns;
    const int first_row = index / per_band * band;
    const int rest = index % per_band;
    const int height = rows - first_row < band ? rows - first_row : band;
    return {first_row + rest % height, rest / height};
  }
};

}  // namespace assay::kernels
