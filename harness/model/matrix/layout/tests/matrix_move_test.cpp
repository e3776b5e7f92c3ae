// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/matrix_move.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "harness/model/matrix/layout/fragment.hpp"
#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

using Words = std::vector<std::string_view>;

std::vector<std::uint8_t> numbered(int bytes) {
  std::vector<std::uint8_t> all(static_cast<std::size_t>(bytes));
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  return all;
}

// PTX ISA 9.0, ldmatrix: lane 0 holds columns 0 and 1 of row 0, lane 5 columns 2 and 3 of row 1.
TEST(MatrixMove, LoadsEightByEight) {
  const MatrixMove m =
      matrix_move(Words{"ldmatrix", "sync", "aligned", "m8n8", "x4", "shared", "b16"});
  EXPECT_EQ(m.rows(), 32);
  EXPECT_EQ(m.registers(), 4);
  std::vector<std::uint8_t> memory(32 * 16);
  for (int row = 0; row < 32; ++row)
    for (int column = 0; column < 8; ++column) {
      memory[static_cast<std::size_t>(row * 16 + column * 2)] = static_cast<std::uint8_t>(column);
      memory[static_cast<std::size_t>(row * 16 + column * 2 + 1)] = static_cast<std::uint8_t>(row);
    }
  std::vector<Word> r(4 * 32);
  load_matrix(m, memory, r);
  EXPECT_EQ(r[0], 0x00010000u);
  EXPECT_EQ(r[5], 0x01030102u);
  EXPECT_EQ(r[32 + 31], 0x0f070f06u);
  EXPECT_EQ(r[3 * 32 + 4], 0x19011900u);
  const MatrixMove t = matrix_move(
      Words{"ldmatrix", "sync", "aligned", "m8n8", "x4", "trans", "shared::cta", "b16"});
  load_matrix(t, memory, r);
  EXPECT_EQ(r[0], 0x01000000u);
  EXPECT_EQ(r[5], 0x03010201u);        // rows 2 and 3 of column 1
  EXPECT_EQ(r[32 + 31], 0x0f070e07u);  // rows 14 and 15 of column 7
}

TEST(MatrixMove, StoreUndoesLoad) {
  for (const bool transposed : {false, true})
    for (const int count : {1, 2, 4})
      for (const int bits : {8, 16}) {
        if (bits == 8 && !transposed) continue;
        const MatrixMove m{8, count, bits, transposed};
        const auto memory = numbered(m.rows() * 16);
        std::vector<Word> r(static_cast<std::size_t>(m.registers() * 32));
        std::vector<std::uint8_t> back(memory.size());
        load_matrix(m, memory, r);
        store_matrix(m, r, back);
        EXPECT_EQ(back, memory) << count << " of " << bits << " bits";
      }
}

// Columns of a D fragment of m16n8 become rows of memory: lane 13 (group 3, member 1) holds rows 3
// and 11 of columns 2 and 3.
TEST(MatrixMove, StoresBytesTransposed) {
  const MatrixMove m =
      matrix_move(Words{"stmatrix", "sync", "aligned", "m16n8", "x1", "trans", "shared", "b8"});
  std::vector<Word> r(32, 0);
  r[13] = 0x44332211;
  std::vector<std::uint8_t> memory(8 * 16);
  store_matrix(m, r, memory);
  EXPECT_EQ(memory[2 * 16 + 3], 0x11);
  EXPECT_EQ(memory[3 * 16 + 3], 0x22);
  EXPECT_EQ(memory[2 * 16 + 11], 0x33);
  EXPECT_EQ(memory[3 * 16 + 11], 0x44);
}

TEST(MatrixMove, SixteenBySixteenHoldsEveryByteOnce) {
  const MatrixMove m =
      matrix_move(Words{"ldmatrix", "sync", "aligned", "m16n16", "x1", "trans", "shared", "b8"});
  EXPECT_EQ(m.rows(), 16);
  EXPECT_EQ(m.registers(), 2);
  const auto memory = numbered(256);
  std::vector<Word> r(64);
  load_matrix(m, memory, r);
  std::set<Word> seen;
  for (const Word w : r)
    for (int byte = 0; byte < 4; ++byte) seen.insert(w >> (8 * byte) & 0xff);
  EXPECT_EQ(seen.size(), 256u);
  EXPECT_EQ(r[0], 0x18081000u);  // rows 0 and 1 of columns 0 and 8
}

TEST(MatrixMove, UnpacksSmallElements) {
  std::vector<std::uint8_t> memory(8 * 16, 0xee);
  for (int i = 0; i < 8; ++i)
    memory[static_cast<std::size_t>(16 + i)] =
        static_cast<std::uint8_t>((2 * i) | (2 * i + 1) << 4);
  std::vector<Word> r(32);
  load_matrix(matrix_move(Words{"ldmatrix", "sync", "aligned", "m8n16", "x1", "shared", "b8x16",
                                "b4x16_p64"}),
              memory, r);
  EXPECT_EQ(r[4], 0x03020100u);
  EXPECT_EQ(r[7], 0x0f0e0d0cu);
  // Six bits each: element i is i + 32.
  std::uint64_t low = 0;
  for (int i = 0; i < 8; ++i) low |= std::uint64_t(i + 32) << (6 * i);
  for (int i = 0; i < 6; ++i)
    memory[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(low >> (8 * i));
  load_matrix(matrix_move(Words{"ldmatrix", "sync", "aligned", "m8n16", "x1", "shared", "b8x16",
                                "b6x16_p32"}),
              memory, r);
  EXPECT_EQ(r[0], 0x23222120u);
  EXPECT_EQ(r[1], 0x27262524u);
}

TEST(MatrixMove, TransposesInRegisters) {
  std::vector<Word> from(32), to(32), back(32);
  std::iota(from.begin(), from.end(), 0x10000u);
  move_matrix(from, to);
  move_matrix(to, back);
  EXPECT_EQ(back, from);
  // Row 1, columns 2 and 3 (lane 5), are rows 2 and 3 of column 1.
  EXPECT_EQ(to[5] & 0xffff, from[4 * 2] >> 16);
  EXPECT_EQ(to[5] >> 16, from[4 * 3] >> 16);
}

// What kernels rely on: four matrices of a row-major A, and two of a B stored [k][n], transposed,
// are the fragments that mma.m16n8k16 takes.
TEST(MatrixMove, LoadsFragmentsOfMma) {
  std::vector<std::uint8_t> a(32 * 16), b(16 * 16);
  const auto put = [](std::vector<std::uint8_t>& memory, int row, int column, int value) {
    memory[static_cast<std::size_t>(row * 16 + column * 2)] = static_cast<std::uint8_t>(value);
  };
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < 16; ++k) put(a, 8 * (m / 8) + 16 * (k / 8) + m % 8, k % 8, 16 * m + k);
  for (int k = 0; k < 16; ++k)
    for (int n = 0; n < 8; ++n) put(b, k, n, 16 * n + k);
  std::vector<Word> of_a(4 * 32), of_b(2 * 32), elements(256);
  load_matrix({8, 4, 16, false}, a, of_a);
  load_matrix({8, 2, 16, true}, b, of_b);
  const auto read = [](const std::vector<Word>& registers) {
    return [&registers](int lane, int reg) {
      return registers[static_cast<std::size_t>(reg * 32 + lane)];
    };
  };
  fragment_of_a(16, 16, {16, 16}).gather<Word>(read(of_a), elements);
  for (std::size_t at = 0; at < 256; ++at) ASSERT_EQ(elements[at], at);
  elements.resize(128);
  fragment_of_b(16, {16, 16}).gather<Word>(read(of_b), elements);
  for (std::size_t at = 0; at < 128; ++at) ASSERT_EQ(elements[at], at);
}

std::string rule_of(const Words& words) {
  try {
    matrix_move(words);
  } catch (const Violation& violation) {
    return violation.rule();
  }
  return "";
}

TEST(MatrixMove, RefusesWhatTheManualDoesNotHave) {
  EXPECT_EQ(rule_of({"ldmatrix", "sync", "aligned", "m8n8", "x3", "b16"}), "ldmatrix.modifier");
  EXPECT_EQ(rule_of({"ldmatrix", "sync", "aligned", "m16n16", "x1", "b8"}), "ldmatrix.form");
  EXPECT_EQ(rule_of({"stmatrix", "sync", "aligned", "m16n16", "x1", "trans", "b8"}),
            "stmatrix.form");
  EXPECT_EQ(rule_of({"ldmatrix", "aligned", "m8n8", "x1", "b16"}), "ldmatrix.form");
  EXPECT_THROW(check_row_address("ldmatrix", 3, 24), Violation);
}

}  // namespace
}  // namespace assay::model::matrix
