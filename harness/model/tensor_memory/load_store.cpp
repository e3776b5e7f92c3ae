// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/load_store.hpp"

#include <fmt/format.h>

#include <bit>

#include "harness/model/violation.hpp"

namespace assay::model {

void check(const TensorAccess& access, int warp) {
  const TensorCell first = tensor_cell(access.address);
  const int lanes = lanes_of(access.shape), within = first.lane - 32 * warp;
  const int registers = registers_of(access.shape, access.repeat);
  if (access.repeat < 1 || !std::has_single_bit(static_cast<unsigned>(access.repeat)) ||
      registers > 128) {
    throw Violation("tensor_memory.repeat",
                    fmt::format("a repetition of {} takes {} registers, which is no power of two "
                                "up to 128",
                                access.repeat, registers));
  }
  if (within < 0 || within + lanes > 32 || within % lanes != 0) {
    throw Violation("tensor_memory.lane",
                    fmt::format("warp {} of the warpgroup may access lanes {} to {}, not {} lanes "
                                "from {} on",
                                warp, 32 * warp, 32 * warp + 31, lanes, first.lane));
  }
  const int width = columns_of(access.shape) * access.repeat * (access.pack ? 2 : 1);
  const int last = first.column + (access.shape == TensorShape::s16x32bx2 ? access.half_split : 0);
  if (first.column + width > kTensorColumns || last < 0 || last + width > kTensorColumns) {
    throw Violation("tensor_memory.column",
                    fmt::format("{} columns from {} on reach beyond the {} of tensor memory", width,
                                std::max(first.column, last), kTensorColumns));
  }
}

}  // namespace assay::model
