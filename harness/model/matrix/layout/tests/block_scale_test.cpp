// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/block_scale.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

// Register of lane l: bytes 4 l to 4 l + 3, so that each byte says where it is from.
std::vector<Word> numbered() {
  std::vector<Word> registers;
  for (Word lane = 0; lane < 32; ++lane) registers.push_back(0x03020100u + lane * 0x04040404u);
  return registers;
}

// PTX ISA 9.0, 9.7.14.3: A's rows 0 to 7 come from lane 0 of each quad, 8 to 15 from lane 1, if
// thread-id-a is 0; B's column from the lane that thread-id-b says.
TEST(BlockScale, ComesFromTheSelectedLanesAndBytes) {
  std::vector<Word> a(16 * 2), b(8 * 2);
  gather_scales_of_a(2, {2, 0}, numbered(), a);
  EXPECT_EQ(a[2 * 3], 4 * 12 + 2u);
  EXPECT_EQ(a[2 * 3 + 1], 4 * 12 + 3u);
  EXPECT_EQ(a[2 * 11], 4 * 13 + 2u);
  gather_scales_of_a(2, {0, 1}, numbered(), a);
  EXPECT_EQ(a[2 * 11 + 1], 4 * 15 + 1u);
  gather_scales_of_b(2, {0, 3}, numbered(), b);
  EXPECT_EQ(b[2 * 5 + 1], 4 * 23 + 1u);
  std::vector<Word> four(16 * 4), one(8);
  gather_scales_of_a(4, {0, 0}, numbered(), four);
  EXPECT_EQ(four[3], 3u);
  gather_scales_of_b(1, {3, 0}, numbered(), one);
  EXPECT_EQ(one[1], 4 * 4 + 3u);
}

TEST(BlockScale, RefusesOtherSelectors) {
  std::vector<Word> a(16 * 2), b(8 * 4);
  EXPECT_THROW(gather_scales_of_a(2, {1, 0}, numbered(), a), Violation);
  EXPECT_THROW(gather_scales_of_a(2, {0, 2}, numbered(), a), Violation);
  EXPECT_THROW(gather_scales_of_b(4, {2, 0}, numbered(), b), Violation);
}

}  // namespace
}  // namespace assay::model::matrix
