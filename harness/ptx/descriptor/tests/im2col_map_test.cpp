// SPDX-License-Identifier: Apache-2.0
#include "harness/ptx/descriptor/im2col_map.hpp"

#include <gtest/gtest.h>

namespace assay::ptx {
namespace {

TEST(Im2colShape, FindsEveryTapOfEveryPixel) {
  const Im2colShape shape{.images = 2, .rows = 5, .columns = 7, .image_channels = 16, .taps = 3};
  std::int64_t pixel = 0;
  for (int image = 0; image < 2; ++image)
    for (int row = 0; row < 5; ++row)
      for (int column = 0; column < 7; ++column, ++pixel)
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) {
            const int y = row + r - 1, x = column + c - 1;
            const bool inside = y >= 0 && y < 5 && x >= 0 && x < 7;
            const std::int64_t expected = inside ? ((image * 5 + y) * 7 + x) * 16 : -1;
            EXPECT_EQ(shape.source(pixel, 0, r, c), expected);
            if (pixel >= 3) {
              EXPECT_EQ(shape.source(pixel - 3, 3, r, c), expected);
            }
          }
}

TEST(Im2colShape, OfOneTapIsTheImagesThemselves) {
  const Im2colShape shape{.images = 3, .rows = 4, .columns = 4, .image_channels = 8, .taps = 1};
  for (int pixel = 0; pixel < 48; ++pixel) EXPECT_EQ(shape.source(0, pixel, 0, 0), pixel * 8);
}

}  // namespace
}  // namespace assay::ptx
