// SPDX-License-Identifier: Apache-2.0
#include "probes/tma/box_plan.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "harness/error.hpp"

namespace assay {
namespace {

std::uint64_t product(const std::vector<std::uint32_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{1}, std::multiplies<>());
}

TEST(BoxPlan, CutsTheArrayIntoBoxesThatTouchEachByteOnce) {
  constexpr std::uint64_t kArray = 96 << 10;  // no power of two
  for (const char* type : {"u8", "bf16", "f32", "f64"})
    for (const char* swizzle : {"none", "32B", "64B", "128B"})
      for (int dimensions = 1; dimensions <= kMaxDimensions; ++dimensions)
        for (const std::uint32_t across : {1u, 4u})
          for (const std::uint32_t box_bytes : {32u, 1024u, 4096u}) {
            const BoxForm form{dimensions, type, swizzle, box_bytes, across};
            if (!explain_no_box(form).empty()) continue;
            const BoxPlan plan = plan_boxes(form, kArray);
            EXPECT_EQ(explain_refusal(plan.shape), "");
            ASSERT_EQ(product(plan.shape.box) * plan.element_bytes, box_bytes);
            ASSERT_EQ(plan.tiles, kArray / box_bytes);
            std::vector<int> touched(kArray / plan.element_bytes);
            for (std::uint32_t tile = 0; tile < plan.tiles; ++tile)
              for (std::uint32_t i = 0; i < box_bytes / plan.element_bytes; ++i)
                ++touched.at(plan.source_offset(tile, i) / plan.element_bytes);
            for (const int times : touched) ASSERT_EQ(times, 1);
          }
}

TEST(BoxPlan, ABoxAcrossOneIsContiguous) {
  const BoxPlan plan = plan_boxes({.dimensions = 4, .swizzle = "64B", .box_bytes = 4096}, 1 << 20);
  EXPECT_EQ(plan.shape.box, (std::vector<std::uint32_t>{32, 4, 4, 4}));
  for (std::uint32_t i = 0; i < 2048; ++i) ASSERT_EQ(plan.source_offset(3, i), 3 * 4096 + 2 * i);
}

TEST(BoxPlan, RowsOfAMatrixAreBoxesAcrossApart) {
  const BoxPlan plan =
      plan_boxes({.swizzle = "128B", .box_bytes = 8192, .boxes_across = 64}, 1 << 24);
  EXPECT_EQ(plan.shape.extents, (std::vector<std::uint64_t>{4096, 2048}));
  EXPECT_EQ(plan.shape.strides, (std::vector<std::uint64_t>{8192}));
  EXPECT_EQ(plan.grid.coordinate(65, 0), 64);
  EXPECT_EQ(plan.grid.coordinate(65, 1), 64);
}

TEST(BoxPlan, SaysWhyThereIsNoBox) {
  EXPECT_NE(explain_no_box({.dimensions = 1, .swizzle = "128B", .box_bytes = 256}), "");
  EXPECT_NE(explain_no_box({.dimensions = 1, .type = "f32", .box_bytes = 2048}), "");
  EXPECT_EQ(explain_no_box({.dimensions = 1, .type = "f64", .box_bytes = 2048}), "");
  EXPECT_NE(explain_no_box({.box_bytes = 3000}), "");
  EXPECT_THROW(plan_boxes({.dimensions = 6}, 1 << 20), Error);
}

TEST(BoxPlan, PitchKeepsTheSwizzleAligned) {
  EXPECT_EQ(box_pitch({.swizzle = "128B", .box_bytes = 256}), 1024u);
  EXPECT_EQ(box_pitch({.swizzle = "none", .box_bytes = 64}), 128u);
  EXPECT_EQ(box_pitch({.swizzle = "32B", .box_bytes = 8192}), 8192u);
}

}  // namespace
}  // namespace assay
