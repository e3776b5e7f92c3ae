// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/copy.hpp"

#include <fmt/format.h>

#include "harness/model/tensor_memory/cell.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

void check_columns(int column, int width) {
  if (column + width > kTensorColumns)
    throw Violation("tensor_memory.column",
                    fmt::format("{} columns from {} on reach beyond the {} of tensor memory", width,
                                column, kTensorColumns));
}

}  // namespace

void check_copy(TensorCopyShape shape, std::uint32_t address) {
  const TensorCell first = tensor_cell(address);
  const TensorCopyExtent extent = extent_of(shape);
  const int last = first.lane + lane_of_row(shape, extent.rows - 1, extent.copies - 1);
  if (last >= kTensorLanes)
    throw Violation("tensor_memory.lane",
                    fmt::format("a copy from lane {} on reaches lane {} of {}", first.lane, last,
                                kTensorLanes));
  check_columns(first.column, extent.columns);
}

void check_shift(std::uint32_t address) {
  const TensorCell first = tensor_cell(address);
  if (first.lane % 32 != 0 || first.lane >= kTensorLanes)
    throw Violation(
        "tensor_memory.lane",
        fmt::format("a shift starts at a lane that is a multiple of 32, not {}", first.lane));
  check_columns(first.column, kShiftColumns);
}

}  // namespace assay::model
