// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/sparsity.hpp"

#include <string>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {

Sparsity sparsity_of(Type type, bool mixed, int rows, int k, bool ordered) {
  const int bits = mixed ? 8 : bits_of(type);
  return {.rows = rows,
          .k = k,
          .bits = bits,
          .group = bits == 32  ? 2
                   : bits == 4 ? 8
                               : 4,
          .ordered = ordered};
}

MetadataPlace metadata_place(const Sparsity& s, int selector, int row, int group) {
  const int quad = row / 16 * 32 + row % 8 * 4;  // its first thread
  const int half = row % 16 / 8, lanes = s.lanes_of_quad();
  if (lanes == 4) return {quad + half + 2 * (group / 8), 4 * (group % 8)};
  if (lanes == 2 && s.bits <= 8) return {quad + 2 * selector + half, 4 * group};
  return {quad + lanes * selector + group / 4, 16 * half + 4 * (group % 4)};
}

void select(const Sparsity& s, int selector, std::span<const Word> metadata,
            std::span<std::uint8_t> columns) {
  if (selector < 0 || selector >= s.selectors())
    throw Violation("sparse.selector", "the sparsity selector is " + std::to_string(selector) +
                                           ", but less than " + std::to_string(s.selectors()) +
                                           " for this shape and type");
  const int unit = s.group / 4;  // elements that an index counts; tf32: half of one
  std::size_t to = 0;
  for (int row = 0; row < s.rows; ++row)
    for (int group = 0; group < s.groups(); ++group) {
      const MetadataPlace place = metadata_place(s, selector, row, group);
      const Word four = metadata[static_cast<std::size_t>(place.thread)] >> place.bit & 0xf;
      const int first = static_cast<int>(four & 3), second = static_cast<int>(four >> 2);
      const bool whole = s.group != 2 || four == 0b0100 || four == 0b1110;
      if (first == second || (s.ordered && first > second) || !whole)
        throw Violation("sparse.metadata", "the metadata of row " + std::to_string(row) +
                                               ", group " + std::to_string(group) + " of A are " +
                                               std::to_string(four) + ": no valid indices");
      const int begin = group * s.group;
      if (s.group == 2) {
        columns[to++] = static_cast<std::uint8_t>(begin + first / 2);
        continue;
      }
      for (const int index : {first, second})
        for (int i = 0; i < unit; ++i)
          columns[to++] = static_cast<std::uint8_t>(begin + index * unit + i);
    }
}

}  // namespace assay::model::matrix
