// SPDX-License-Identifier: Apache-2.0
// Sixteen bytes of shared memory as elements: what ldmatrix, wgmma and tcgen05.mma read at once.
#pragma once
#include <cstdint>
#include <span>

#include "harness/model/matrix/element_type.hpp"

namespace assay::model::matrix {

inline constexpr int kRowBytes = 16;

// How they hold elements: all of them, or 16 elements of 4 or 6 bits in the first 8 or 12 bytes,
// the rest being padding that is not looked at. PTX ISA 9.0, "ldmatrix"; for tcgen05 what TMA
// writes as CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B and _16U6_ALIGN16B.
enum class RowFormat : std::uint8_t { plain, b4x16_p64, b6x16_p32 };

struct ElementRow {
  RowFormat format;
  int bits;  // of an element in memory

  int elements() const { return format == RowFormat::plain ? 8 * kRowBytes / bits : 16; }
  int bytes_read() const;

  // `bytes`: 16 of them; `to`: elements() of them, each in the low bits.
  void unpack(std::span<const std::uint8_t> bytes, std::span<Word> to) const;
};

// How a chunk of shared memory holds elements of this type. `mixed`: in one of the kinds that take
// types of 8, 6 and 4 bits together, which are 16 in a chunk whatever their size.
ElementRow row_of(Type type, bool mixed);

}  // namespace assay::model::matrix
