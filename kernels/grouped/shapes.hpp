// SPDX-License-Identifier: Apache-2.0
// The groups that grouped products are measured on.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "harness/probe.hpp"
#include "kernels/grouped/grouped.hpp"

namespace assay::kernels {

// Rows: contiguous and gradient, of all groups; masked, each group's room, of which `used` are used
// on average.
struct GroupedShape {
  Grouping grouping;
  int groups, rows, used, n, k;
  bool uneven;
  Suite suite;
  std::string_view model = {}, layer = {};
};

std::span<const GroupedShape> grouped_shapes();

// How many rows each group has: all about the same, or, uneven, between none and several times the
// average, every eighth group none. But for masked, they add up to `rows`. The same every time.
std::vector<int> rows_of_groups(const GroupedShape& shape);

// What the kernel is given: where each group's rows end, or masked how many there are.
std::vector<int> sizes_of_groups(const GroupedShape& shape);

}  // namespace assay::kernels
