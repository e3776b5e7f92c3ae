// SPDX-License-Identifier: Apache-2.0
// tcgen05.ld and tcgen05.st: which cell each register of each thread of a warp stands for. PTX ISA
// 9.0, 9.7.16.2.3.1 "Memory Layout", figures 183 to 187, and 9.7.16.8 "Tensor Memory and Register
// Load/Store Instructions". What only the figures show agrees with CUTLASS's
// cute/atom/copy_traits_sm100.hpp, from which it was taken down in the formulas below.
#pragma once
#include <cstdint>

#include "harness/model/tensor_memory/cell.hpp"

namespace assay::model {

enum class TensorShape : std::uint8_t { s32x32b, s16x64b, s16x128b, s16x256b, s16x32bx2 };

// An access. `repeat` is the number behind .x: 1, 2, 4, ... 128. With `pack` (.pack::16b of a load,
// .unpack::16b of a store) a register stands for two cells in neighbouring columns: its lower half
// for the lower 16 bits of the first, its upper half for those of the second.
struct TensorAccess {
  TensorShape shape;
  int repeat = 1;
  bool pack = false;
  std::uint32_t address = 0;
  int half_split = 0;  // immHalfSplitoff of 16x32bx2, in columns
};

// Columns that a repetition takes, lanes that the access takes, and registers of a thread.
// Table 49.
constexpr int columns_of(TensorShape shape) {
  switch (shape) {
    case TensorShape::s16x64b:
      return 2;
    case TensorShape::s16x128b:
      return 4;
    case TensorShape::s16x256b:
      return 8;
    default:
      return 1;
  }
}
constexpr int lanes_of(TensorShape shape) { return shape == TensorShape::s32x32b ? 32 : 16; }
constexpr int registers_of(TensorShape shape, int repeat) {
  const int first = shape == TensorShape::s16x128b ? 2 : shape == TensorShape::s16x256b ? 4 : 1;
  return first * repeat;
}

// The cell that register `index` of `thread` (0 to 31) stands for; with `pack` the first of the
// two.
//
//   32x32b     lane = thread,                         column = index
//   16x64b     lane = thread / 4 + 8 (thread % 2),    column = thread / 2 % 2 + 2 index
//   16x128b    lane = thread / 4 + 8 (index % 2),     column = thread % 4 + 4 (index / 2)
//   16x256b    lane = thread / 4 + 8 (index / 2 % 2), column = 2 (thread % 4) + index % 2 +
//                                                              8 (index / 4)
//   16x32bx2   lane = thread % 16,                    column = index, from the second address on
//                                                              for threads 16 to 31
constexpr TensorCell register_cell(const TensorAccess& access, int thread, int index) {
  int lane = thread, column = index, away = 0;
  switch (access.shape) {
    case TensorShape::s32x32b:
      break;
    case TensorShape::s16x64b:
      lane = thread / 4 + 8 * (thread % 2);
      column = thread / 2 % 2 + 2 * index;
      break;
    case TensorShape::s16x128b:
      lane = thread / 4 + 8 * (index % 2);
      column = thread % 4 + 4 * (index / 2);
      break;
    case TensorShape::s16x256b:
      lane = thread / 4 + 8 * (index / 2 % 2);
      column = 2 * (thread % 4) + index % 2 + 8 * (index / 4);
      break;
    case TensorShape::s16x32bx2:
      lane = thread % 16;
      away = thread / 16 * access.half_split;
      break;
  }
  const TensorCell first = tensor_cell(access.address);
  return {.lane = first.lane + lane,
          .column = first.column + away + column * (access.pack ? 2 : 1)};
}

// Throws Violation unless warp `warp` of a warpgroup (its rank in the CTA modulo 4) may make the
// access: 9.7.16.8.1 "Access restrictions", and Table 49 for the repetitions. Unspecified: an
// address whose lane is neither the first nor, for 16 lanes, the middle one of the warp's 32; here
// refused.
void check(const TensorAccess& access, int warp);

}  // namespace assay::model
