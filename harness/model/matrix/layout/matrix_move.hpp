// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix: small matrices between rows of shared memory and a warp's
// registers. PTX ISA 9.0, 9.7.14.5.15 "ldmatrix", "stmatrix", "movmatrix".
//
// A row of a matrix is 16 bytes of shared memory whose address one lane gives: lane i that of row
// i of all matrices counted together. The addresses of lanes beyond these are not looked at.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "harness/model/matrix/element_type.hpp"
#include "harness/model/matrix/layout/row_format.hpp"

namespace assay::model::matrix {

inline constexpr int kLanes = 32;

struct MatrixMove {
  int rows_of_one;   // of one matrix in shared memory: 8, or 16 (m16n16)
  int count;         // matrices: .x1, .x2, .x4
  int element_bits;  // in registers: 8 or 16
  bool transposed;
  RowFormat format = RowFormat::plain;

  int rows() const { return rows_of_one * count; }  // and lanes that give addresses
  int registers() const { return rows() / 8; }      // of each lane
  ElementRow row() const;
};

// {"ldmatrix", "sync", "aligned", "m8n8", "x4", "trans", "shared", "b16"}, likewise "stmatrix".
// Throws Violation("ldmatrix.modifier") for what is not known, Violation("ldmatrix.form") for what
// the manual does not have ("stmatrix." for that).
MatrixMove matrix_move(std::span<const std::string_view> modifiers);

// `memory`: [row][16] bytes. `registers`: [register][lane].
void load_matrix(const MatrixMove& move, std::span<const std::uint8_t> memory,
                 std::span<Word> registers);
void store_matrix(const MatrixMove& move, std::span<const Word> registers,
                  std::span<std::uint8_t> memory);

// movmatrix.sync.aligned.m8n8.trans.b16 between the lanes of a warp.
void move_matrix(std::span<const Word> from, std::span<Word> to);

// Throws Violation if a row's address is no multiple of 16.
void check_row_address(std::string_view instruction, int lane, std::uint32_t address);

}  // namespace assay::model::matrix
