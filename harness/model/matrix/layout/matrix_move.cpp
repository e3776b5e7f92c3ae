// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/matrix_move.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

// Where a register's element comes from: row of all matrices, element of the row.
struct Place {
  int row, element;
};

Place place_of(const MatrixMove& m, int lane, int reg, int element) {
  const int group = lane / 4, member = lane % 4;
  if (m.element_bits == 16) {
    // A lane holds two neighbours of a row, and of the transpose two of a column.
    const int along = 2 * member + element;
    return m.transposed ? Place{8 * reg + along, group} : Place{8 * reg + group, along};
  }
  if (!m.transposed) return {8 * reg + group, 4 * member + element};
  // Bytes 0 and 1 are of column `group`, 2 and 3 of column `group` + 8; each two rows of it follow
  // each other. The figures of the manual are as CUTLASS's SM100_U8x8_LDSM_T and SM100_U8x4_STSM_T
  // have them (cute/atom/copy_traits_sm100.hpp).
  const int column = group + 8 * (element / 2);
  if (m.rows_of_one == 8) return {8 * reg + 2 * member + element % 2, column};
  return {16 * (reg / 2) + 4 * member + 2 * (reg % 2) + element % 2, column};
}

}  // namespace

ElementRow MatrixMove::row() const {
  return {format, format == RowFormat::b4x16_p64   ? 4
                  : format == RowFormat::b6x16_p32 ? 6
                                                   : element_bits};
}

MatrixMove matrix_move(std::span<const std::string_view> modifiers) {
  const std::string instruction(modifiers.empty() ? "" : modifiers[0]);
  const bool load = instruction == "ldmatrix";
  std::string_view shape, type, source, destination;
  int count = 0;
  bool sync = false, aligned = false, transposed = false, shared = false;
  const std::string all = fmt::format("{}", fmt::join(modifiers, "."));
  for (std::size_t at = 0; at < modifiers.size(); ++at) {
    const std::string_view word = modifiers[at];
    if (at == 0) continue;
    if (word == "sync") {
      sync = true;
    } else if (word == "aligned") {
      aligned = true;
    } else if (word == "trans") {
      transposed = true;
    } else if (word == "shared" || word == "shared::cta") {
      shared = true;
    } else if (word == "x1" || word == "x2" || word == "x4") {
      count = word[1] - '0';
    } else if (word == "m8n8" || word == "m16n16" || word == "m8n16" || word == "m16n8") {
      shape = word;
    } else if (word == "b16" || word == "b8") {
      type = word;
    } else if (word == "b8x16") {
      destination = word;
    } else if (word == "b4x16_p64" || word == "b6x16_p32") {
      source = word;
    } else {
      throw Violation(instruction + ".modifier",
                      instruction + " has no modifier '." + std::string(word) + "'");
    }
  }
  const auto require = [&](bool good, const char* why) {
    if (!good) throw Violation(instruction + ".form", all + ": " + why);
  };
  require(load || instruction == "stmatrix", "neither ldmatrix nor stmatrix");
  require(sync && aligned, "it is always .sync.aligned");
  require(count != 0, "it needs .x1, .x2 or .x4");
  static_cast<void>(shared);  // generic addressing is allowed
  if (shape == "m8n8") {
    require(type == "b16", ".m8n8 is of .b16");
    return {8, count, 16, transposed};
  }
  if (!load) {
    require(shape == "m16n8" && type == "b8", "the shapes are .m8n8 of .b16 and .m16n8 of .b8");
    require(transposed, ".m16n8 is always .trans");
    return {8, count, 8, true};
  }
  const bool packed = !source.empty();
  require(packed ? destination == "b8x16" && type.empty() : type == "b8" && destination.empty(),
          "it is of .b8, or of .b8x16 and .b4x16_p64 or .b6x16_p32");
  const RowFormat format = !packed                 ? RowFormat::plain
                           : source == "b4x16_p64" ? RowFormat::b4x16_p64
                                                   : RowFormat::b6x16_p32;
  if (shape == "m16n16") {
    require(transposed, ".m16n16 is always .trans");
    require(count != 4, ".m16n16 has .x1 and .x2");
    return {16, count, 8, true, format};
  }
  require(shape == "m8n16", "the shapes are .m8n8, .m16n16 and .m8n16");
  require(packed && !transposed, ".m8n16 is of .b8x16, and never .trans");
  return {8, count, 8, false, format};
}

void load_matrix(const MatrixMove& m, std::span<const std::uint8_t> memory,
                 std::span<Word> registers) {
  const ElementRow row = m.row();
  const int elements = 32 / m.element_bits, row_elements = row.elements();
  std::array<Word, 32 * 16> all;  // [row][element]
  for (int at = 0; at < m.rows(); ++at)
    row.unpack(memory.subspan(static_cast<std::size_t>(at * kRowBytes), kRowBytes),
               std::span(all).subspan(static_cast<std::size_t>(at * row_elements)));
  for (int reg = 0; reg < m.registers(); ++reg)
    for (int lane = 0; lane < kLanes; ++lane) {
      Word bits = 0;
      for (int element = 0; element < elements; ++element) {
        const Place p = place_of(m, lane, reg, element);
        bits |= all[static_cast<std::size_t>(p.row * row_elements + p.element)]
                << (element * m.element_bits);
      }
      registers[static_cast<std::size_t>(reg * kLanes + lane)] = bits;
    }
}

void store_matrix(const MatrixMove& m, std::span<const Word> registers,
                  std::span<std::uint8_t> memory) {
  const int elements = 32 / m.element_bits, bytes = m.element_bits / 8;
  for (int reg = 0; reg < m.registers(); ++reg)
    for (int lane = 0; lane < kLanes; ++lane)
      for (int element = 0; element < elements; ++element) {
        const Place p = place_of(m, lane, reg, element);
        const Word bits =
            registers[static_cast<std::size_t>(reg * kLanes + lane)] >> (element * m.element_bits);
        for (int byte = 0; byte < bytes; ++byte)
          memory[static_cast<std::size_t>(p.row * kRowBytes + p.element * bytes + byte)] =
              static_cast<std::uint8_t>(bits >> (8 * byte));
      }
}

void move_matrix(std::span<const Word> from, std::span<Word> to) {
  std::array<std::uint8_t, 8 * kRowBytes> rows{};
  store_matrix({8, 1, 16, false}, from, rows);
  load_matrix({8, 1, 16, true}, rows, to);
}

void check_row_address(std::string_view instruction, int lane, std::uint32_t address) {
  if (address % kRowBytes != 0)
    throw Violation(std::string(instruction) + ".alignment",
                    "the row address of lane " + std::to_string(lane) + " is " +
                        std::to_string(address) + ", not a multiple of 16");
}

}  // namespace assay::model::matrix
