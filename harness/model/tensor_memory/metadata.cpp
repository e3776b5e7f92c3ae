// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/model/violation.hpp"

namespace assay::model {

void TensorMetadata::columns(int g, std::uint32_t nibble, std::span<std::uint8_t> to) const {
  // Two 2-bit indices, the first in the low bits. Not in order is 0b0110 alone.
  constexpr std::array kOfPairs = {0b0100u, 0b1000u, 0b1100u, 0b1001u, 0b1101u, 0b0110u, 0b1110u};
  constexpr std::array kOfTf32 = {0b1110u, 0b0100u};
  const bool halves = width == MetadataWidth::tf32;  // it numbers halves of an element
  const bool meaningful = halves ? std::ranges::find(kOfTf32, nibble) != kOfTf32.end()
                                 : std::ranges::find(kOfPairs, nibble) != kOfPairs.end();
  if (!meaningful)
    throw Violation("sparse.metadata",
                    fmt::format("the metadata of a row's columns from {} on are {:#06b}, which "
                                "the manual does not list",
                                g * group, nibble));
  const auto put = [&](std::size_t at, int column) {
    to[at] = static_cast<std::uint8_t>(g * group + column);
  };
  const int first = static_cast<int>(nibble & 3), second = static_cast<int>(nibble >> 2);
  if (halves) return put(0, first / 2);
  const int unit = group / 4;  // elements that an index counts
  for (int i = 0; i < unit; ++i) {
    put(static_cast<std::size_t>(i), first * unit + i);
    put(static_cast<std::size_t>(unit + i), second * unit + i);
  }
}

TensorMetadata tensor_metadata(ptx::tcgen05::Kind kind, const MmaShape& shape, int k,
                               std::uint32_t address, int selector) {
  using enum ptx::tcgen05::Kind;
  const DataPath path = data_path(shape);
  if (path == DataPath::c || path == DataPath::f)
    throw Violation("model.unknown",
                    fmt::format("where the metadata of M = {} with {} CTA{} lie only figures of "
                                "the manual show: not modelled",
                                shape.m, shape.ctas, shape.ctas == 1 ? "" : "s"));
  TensorMetadata m{.width = MetadataWidth::bits8, .group = 4, .k = k, .first = {}};
  if (kind == f16) m.width = MetadataWidth::f16;
  if (kind == tf32) m.width = MetadataWidth::tf32, m.group = 2;
  if (kind == mxf4 || kind == mxf4nvf4) m.width = MetadataWidth::bits4, m.group = 8;
  const bool pairs = kind == f16 || kind == tf32;  // of columns, of which the selector names one
  if (selector < 0 || selector > (pairs ? 1 : 0))
    throw Violation(
        pairs ? "model.unknown" : "sparse.selector",
        fmt::format("the sparsity selector is {}: {}", selector,
                    pairs ? "what 2 and 3 select is unspecified" : "it must be 0 for this kind"));
  m.copies = a_copies(shape);
  m.first = pairs ? metadata_address(address, selector) : tensor_cell(address);
  return m;
}

}  // namespace assay::model
