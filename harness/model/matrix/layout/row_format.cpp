// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/row_format.hpp"

#include <cstring>

namespace assay::model::matrix {

int ElementRow::bytes_read() const {
  return format == RowFormat::b4x16_p64 ? 8 : format == RowFormat::b6x16_p32 ? 12 : kRowBytes;
}

void ElementRow::unpack(std::span<const std::uint8_t> bytes, std::span<Word> to) const {
  const int count = elements();
  if (bits == 32) {
    std::memcpy(to.data(), bytes.data(), kRowBytes);
  } else if (bits == 16) {
    for (std::size_t at = 0; at < 8; ++at)
      to[at] = Word{bytes[2 * at]} | Word{bytes[2 * at + 1]} << 8;
  } else {
    // Six bits may lie in two bytes; the last of a row do not.
    const Word mask = (Word{1} << bits) - 1;
    for (int at = 0; at < count; ++at) {
      const auto first = static_cast<std::size_t>(at * bits / 8);
      const Word low = bytes[first], high = first + 1 < bytes.size() ? bytes[first + 1] : 0;
      to[static_cast<std::size_t>(at)] = (low | high << 8) >> (at * bits % 8) & mask;
    }
  }
}

ElementRow row_of(Type type, bool mixed) {
  const int bits = bits_of(type);
  const RowFormat format = !mixed || bits == 8 ? RowFormat::plain
                           : bits == 4         ? RowFormat::b4x16_p64
                                               : RowFormat::b6x16_p32;
  return {format, bits};
}

}  // namespace assay::model::matrix
