// SPDX-License-Identifier: Apache-2.0
// Tensor maps of TMA's im2col mode: columns of an implicit convolution, pixel after pixel.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "harness/ptx/descriptor/swizzle.hpp"

namespace assay::ptx {

// Images of bf16, laid out as [image][row][column][channel], convolved with a filter of
// `taps` x `taps` around each pixel, zeros beyond the edges. A copy brings `channels` channels of
// `pixels` pixels, one after another along columns, rows and images, each displaced by the tap.
struct Im2colShape {
  void* base = nullptr;            // 16-byte aligned
  int images, rows, columns;       // rows and columns each more than `taps`
  int image_channels;              // a multiple of 8
  int taps = 3;                    // odd
  int channels = 64, pixels = 64;  // of a copy: at most 256, at most 1024
  Swizzle swizzle = Swizzle::bytes128;

  // Where in the images the first channel of a copy's pixel comes from, in elements; -1 for a pixel
  // beyond the edge, which reads as zeros. Copies begin at every `pixels`-th pixel of all images,
  // and taps count from 0 at the upper left.
  __host__ __device__ std::int64_t source(std::int64_t first_pixel, int pixel, int tap_row,
                                          int tap_column) const {
    const std::int64_t at = first_pixel + pixel;
    const std::int64_t image = at / (rows * columns);
    const int within = static_cast<int>(at % (rows * columns));
    const int row = within / columns + tap_row - taps / 2;
    const int column = within % columns + tap_column - taps / 2;
    if (row < 0 || row >= rows || column < 0 || column >= columns) return -1;
    return ((image * rows + row) * columns + column) * image_channels;
  }
};

// Encodes the map with the driver's cuTensorMapEncodeIm2col. Its boxes start half a filter before
// the pixel, so that the coordinates of a copy are those of the pixel less taps / 2, and a tap's
// offsets are its own. Throws Error(failed) if the driver refuses, Error(unfit) if it has none.
CUtensorMap encode_im2col_map(const Im2colShape& shape);

}  // namespace assay::ptx
