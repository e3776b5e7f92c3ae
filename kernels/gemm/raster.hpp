// SPDX-License-Identifier: Apache-2.0
// The order in which tiles of D are visited.
//
// Tiles that run at the same time should share operands in L2. Walking down bands of `band` tile
// rows, column by column, keeps the running set close to a square: with w tiles at once, it covers
// band x (w / band) tiles and reads (band + w / band) tile rows of operands, least at band =
// sqrt(w).
#pragma once
#include <cuda_runtime_api.h>

#include "kernels/frame/divisor.hpp"

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

// The same order, with its divisions made ready by the host.
class PreparedRaster {
 public:
  constexpr PreparedRaster() = default;
  __host__ __device__ constexpr PreparedRaster(const Raster& raster)
      : raster_(raster),
        of_band_(raster.band * raster.columns),
        of_row_(raster.band),
        of_last_row_(raster.rows % raster.band > 0 ? raster.rows % raster.band : raster.band) {}

  __host__ __device__ constexpr int count() const { return raster_.count(); }
  __host__ __device__ constexpr int columns() const { return raster_.columns; }

  __host__ __device__ constexpr TilePosition at(int index) const {
    const int bands = of_band_.quotient(index);
    const int first_row = bands * raster_.band, rest = of_band_.rest(index, bands);
    const bool last = raster_.rows - first_row < raster_.band;
    const Divisor height = last ? of_last_row_ : of_row_;
    const int n = height.quotient(rest);
    return {first_row + height.rest(rest, n), n};
  }

 private:
  Raster raster_ = {};
  Divisor of_band_, of_row_, of_last_row_;
};

}  // namespace assay::kernels
