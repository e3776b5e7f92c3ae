// SPDX-License-Identifier: Apache-2.0
#include "harness/ptx/descriptor/tensor_map.hpp"

#include <gtest/gtest.h>

#include "harness/error.hpp"

namespace assay::ptx {
namespace {

TensorMapShape matrix() {
  return {.base = reinterpret_cast<void*>(0x1000),
          .extents = {4096, 1024},
          .strides = {8192},
          .box = {64, 128}};
}

TEST(TensorMap, AcceptsWhatTheDriverDocuments) {
  EXPECT_EQ(explain_refusal(matrix()), "");
  TensorMapShape one = matrix();
  one.extents = {100};
  one.strides = {};
  one.box = {16};
  EXPECT_EQ(explain_refusal(one), "");
}

TEST(TensorMap, SaysWhatIsWrong) {
  const auto refusal = [](auto change) {
    TensorMapShape shape = matrix();
    change(shape);
    return explain_refusal(shape);
  };
  EXPECT_EQ(refusal([](auto& s) { s.base = reinterpret_cast<void*>(0x1008); }),
            "the tensor starts at 0x1008, which is not a multiple of 16 bytes");
  EXPECT_EQ(refusal([](auto& s) { s.strides = {8200}; }),
            "stride 8200 of dimension 1 is not a multiple of 16 bytes below 2^40");
  EXPECT_EQ(refusal([](auto& s) {
              s.box = {64, 512};
            }),
            "box extent 512 of dimension 1 is not in 1 .. 256");
  EXPECT_EQ(refusal([](auto& s) {
              s.box = {128, 64};
            }),
            "rows of the box are 256 bytes, more than the 128-byte swizzle holds");
  EXPECT_EQ(refusal([](auto& s) {
              s.box = {128, 64};
              s.swizzle = Swizzle::bytes128_atoms32;
            }),
            "rows of the box are 256 bytes, more than the 128-byte swizzle holds");
  EXPECT_EQ(refusal([](auto& s) {
              s.box = {4, 64};
            }),
            "rows of the box are 8 bytes, which is not a multiple of 16");
  EXPECT_EQ(refusal([](auto& s) {
              s.extents = {4096, 0};
            }),
            "extent 0 of dimension 1 is not in 1 .. 2^32");
  EXPECT_EQ(refusal([](auto& s) { s.strides = {}; }),
            "2 dimensions need 1 strides and 2 box extents");
}

TEST(TensorMap, RefusesBeforeItAsksTheDriver) {
  TensorMapShape shape = matrix();
  shape.box = {128, 64};
  try {
    encode_tensor_map(shape);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
}

}  // namespace
}  // namespace assay::ptx
