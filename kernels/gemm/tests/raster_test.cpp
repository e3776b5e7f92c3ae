// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/raster.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace assay::kernels {
namespace {

TEST(Raster, VisitsEveryTileOnceAndPreparedTheSame) {
  for (const Raster raster : {Raster{1, 1, 8}, Raster{16, 16, 8}, Raster{17, 5, 8},
                              Raster{3, 40, 1}, Raster{5, 7, 100}, Raster{33, 9, 12}}) {
    const PreparedRaster prepared(raster);
    EXPECT_EQ(prepared.count(), raster.count());
    std::set<std::pair<int, int>> seen;
    for (int i = 0; i < raster.count(); ++i) {
      const TilePosition at = raster.at(i);
      EXPECT_TRUE(at.m >= 0 && at.m < raster.rows && at.n >= 0 && at.n < raster.columns);
      EXPECT_EQ(prepared.at(i).m, at.m);
      EXPECT_EQ(prepared.at(i).n, at.n);
      seen.insert({at.m, at.n});
    }
    EXPECT_EQ(static_cast<int>(seen.size()), raster.rows * raster.columns);
  }
}

TEST(Raster, WalksDownABandFirst) {
  constexpr Raster raster{16, 16, 4};
  EXPECT_EQ(raster.at(3).m, 3);
  EXPECT_EQ(raster.at(3).n, 0);
  EXPECT_EQ(raster.at(4).m, 0);
  EXPECT_EQ(raster.at(4).n, 1);
  EXPECT_EQ(raster.at(4 * 16).m, 4);  // the next band
  EXPECT_EQ(raster.at(4 * 16).n, 0);
}

}  // namespace
}  // namespace assay::kernels
