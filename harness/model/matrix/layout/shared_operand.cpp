// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/shared_operand.hpp"

#include <array>
#include <charconv>
#include <string>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

using ptx::Swizzle;

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::uint64_t field(std::uint64_t descriptor, int first, int count) {
  return descriptor >> first & ((std::uint64_t{1} << count) - 1);
}

// 14 bits in units of 16 bytes.
std::uint32_t bytes_field(std::uint64_t descriptor, int first) {
  return static_cast<std::uint32_t>(field(descriptor, first, 14) << 4);
}

SharedOperand common_fields(std::uint64_t d) {
  return {.start = bytes_field(d, 0),
          .leading = bytes_field(d, 16),
          .stride = bytes_field(d, 32),
          .base_offset = static_cast<std::uint32_t>(field(d, 49, 3)),
          .swizzle = Swizzle::none};
}

// Chunks in a row of the swizzle's pattern.
std::uint32_t width(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      return 1;
    case Swizzle::bytes32:
      return 2;
    case Swizzle::bytes64:
      return 4;
    case Swizzle::bytes128:
    case Swizzle::bytes128_atoms32:
      break;
  }
  return 8;
}

std::uint32_t swizzled(const SharedOperand& o, std::uint32_t address) {
  const std::uint32_t in_pattern = address - (o.base_offset << 7);
  return address ^ in_pattern ^ ptx::swizzle_offset(o.swizzle, in_pattern);
}

// The start of row and chunk along K before the swizzle.
std::uint32_t k_major_address(const SharedOperand& o, std::uint32_t row, std::uint32_t c) {
  const std::uint32_t down = row / 8 * o.stride + row % 8 * width(o.swizzle) * kRowBytes;
  if (o.swizzle == Swizzle::none) return o.start + down + c * o.leading;
  // A K of 48 bytes may go over the end of its 128 bytes; it goes on where the leading dimension's
  // address says.
  const std::uint32_t left = 8 - o.start % 128 / kRowBytes;
  if (o.leading_is_address && c >= left) return o.leading + down + (c - left) * kRowBytes;
  return o.start + down + c * kRowBytes;
}

std::uint32_t mn_major_address(const SharedOperand& o, std::uint32_t c, std::uint32_t k) {
  if (o.swizzle == Swizzle::none)
    return o.start + c * o.stride + k % 8 * kRowBytes + k / 8 * o.leading;
  const std::uint32_t w = width(o.swizzle);
  const std::uint32_t rows = o.swizzle == Swizzle::bytes128_atoms32 ? 4 : 8;
  return o.start + (c % w) * kRowBytes + c / w * o.leading + k % rows * w * kRowBytes +
         k / rows * o.stride;
}

}  // namespace

SharedOperand wgmma_operand(std::uint64_t d) {
  if (field(d, 14, 2) || field(d, 30, 2) || field(d, 46, 3) || field(d, 52, 10))
    throw Violation("wgmma.descriptor", "the matrix descriptor " + hex(d) +
                                            " has bits set that no field of it has: was a "
                                            "shared-memory address added to that is too great?");
  SharedOperand o = common_fields(d);
  constexpr std::array kModes = {Swizzle::none, Swizzle::bytes128, Swizzle::bytes64,
                                 Swizzle::bytes32};
  o.swizzle = kModes[field(d, 62, 2)];
  return o;
}

SharedOperand tcgen05_operand(std::uint64_t d) {
  if (field(d, 14, 2) || field(d, 30, 2) || field(d, 53, 8))
    throw Violation("tcgen05.descriptor",
                    "the matrix descriptor " + hex(d) + " has bits set that no field of it has");
  if (field(d, 46, 3) != 1)
    throw Violation("tcgen05.descriptor", "bits 46 to 48 of the matrix descriptor " + hex(d) +
                                              " are " + std::to_string(field(d, 46, 3)) +
                                              ", but always 1");
  SharedOperand o = common_fields(d);
  o.leading_is_address = field(d, 52, 1) != 0;
  switch (field(d, 61, 3)) {
    case 0:
      break;
    case 1:
      o.swizzle = Swizzle::bytes128_atoms32;
      break;
    case 2:
      o.swizzle = Swizzle::bytes128;
      break;
    case 4:
      o.swizzle = Swizzle::bytes64;
      break;
    case 6:
      o.swizzle = Swizzle::bytes32;
      break;
    default:
      throw Violation("tcgen05.descriptor", "the swizzle of the matrix descriptor " + hex(d) +
                                                " is " + std::to_string(field(d, 61, 3)) +
                                                ": 0, 1, 2, 4 and 6 are known");
  }
  return o;
}

int chunk_count(const OperandShape& s) { return s.rows * s.k / s.row.elements(); }

Chunk chunk(const SharedOperand& operand, const OperandShape& shape, int index) {
  const int elements = shape.row.elements();
  const int along = (shape.mn_major ? shape.rows : shape.k) / elements;  // chunks of a line
  const int line = index / along, c = index % along;
  const std::uint32_t address = shape.mn_major
                                    ? mn_major_address(operand, static_cast<std::uint32_t>(c),
                                                       static_cast<std::uint32_t>(line))
                                    : k_major_address(operand, static_cast<std::uint32_t>(line),
                                                      static_cast<std::uint32_t>(c));
  return {.address = swizzled(operand, address),
          .row = shape.mn_major ? c * elements : line,
          .k = shape.mn_major ? line : c * elements};
}

void gather(const SharedOperand& operand, const OperandShape& shape,
            std::span<const std::uint8_t> shared, std::span<Word> elements) {
  const int count = chunk_count(shape), in_chunk = shape.row.elements();
  std::array<Word, 128> unpacked;
  for (int index = 0; index < count; ++index) {
    const Chunk at = chunk(operand, shape, index);
    if (at.address + kRowBytes > shared.size())
      throw Violation("matrix.operand", "row " + std::to_string(at.row) + ", k " +
                                            std::to_string(at.k) + " of the matrix lies at " +
                                            hex(at.address) + " of shared memory, which has " +
                                            std::to_string(shared.size()) + " bytes");
    const auto bytes = shared.subspan(at.address, kRowBytes);
    const auto first = static_cast<std::size_t>(at.row * shape.k + at.k);
    if (!shape.mn_major) {
      shape.row.unpack(bytes, elements.subspan(first));
      continue;
    }
    shape.row.unpack(bytes, unpacked);
    for (int i = 0; i < in_chunk; ++i)
      elements[first + static_cast<std::size_t>(i * shape.k)] =
          unpacked[static_cast<std::size_t>(i)];
  }
}

}  // namespace assay::model::matrix
