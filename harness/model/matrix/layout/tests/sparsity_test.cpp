// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/sparsity.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "harness/model/matrix/arithmetic.hpp"
#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

// Figures of "Matrix Fragments for sparse mma.m16n8k16", "... k32" of f16, "... k64" of 8 bits.
TEST(Sparsity, PlacesMetadataAsTheManualDoes) {
  const Sparsity k16 = sparsity_of(Type::f16, false, 16, 16, false);
  EXPECT_EQ(k16.selectors(), 4);
  EXPECT_EQ(metadata_place(k16, 2, 3, 0), (MetadataPlace{14, 0}));
  EXPECT_EQ(metadata_place(k16, 2, 11, 3), (MetadataPlace{14, 28}));
  const Sparsity k32 = sparsity_of(Type::bf16, false, 16, 32, false);
  EXPECT_EQ(k32.selectors(), 2);
  EXPECT_EQ(metadata_place(k32, 0, 1, 3), (MetadataPlace{4, 12}));
  EXPECT_EQ(metadata_place(k32, 0, 9, 4), (MetadataPlace{5, 16}));
  EXPECT_EQ(metadata_place(k32, 1, 9, 4), (MetadataPlace{7, 16}));
  const Sparsity bytes = sparsity_of(Type::s8, false, 16, 32, false);
  EXPECT_EQ(bytes.selectors(), 2);
  EXPECT_EQ(metadata_place(bytes, 0, 1, 7), (MetadataPlace{4, 28}));
  EXPECT_EQ(metadata_place(bytes, 1, 9, 0), (MetadataPlace{7, 0}));
  const Sparsity k64 = sparsity_of(Type::e4m3, false, 16, 64, false);
  EXPECT_EQ(k64.selectors(), 1);
  EXPECT_EQ(metadata_place(k64, 0, 0, 7), (MetadataPlace{0, 28}));
  EXPECT_EQ(metadata_place(k64, 0, 8, 0), (MetadataPlace{1, 0}));
  EXPECT_EQ(metadata_place(k64, 0, 0, 8), (MetadataPlace{2, 0}));
  const Sparsity wgmma = sparsity_of(Type::tf32, false, 64, 16, false);
  EXPECT_EQ(metadata_place(wgmma, 0, 41, 4), (MetadataPlace{69, 16}));
}

TEST(Sparsity, EveryGroupHasBitsOfItsOwn) {
  struct Case {
    Type type;
    bool mixed;
    int rows, k;
  };
  for (const Case& c : {Case{Type::f16, false, 16, 16},
                        {Type::f16, false, 16, 32},
                        {Type::tf32, false, 16, 8},
                        {Type::tf32, false, 64, 16},
                        {Type::s8, false, 16, 32},
                        {Type::s8, false, 64, 64},
                        {Type::s4, false, 16, 64},
                        {Type::s4, false, 16, 128},
                        {Type::e2m1, true, 16, 64},
                        {Type::e2m1, false, 16, 128}}) {
    const Sparsity s = sparsity_of(c.type, c.mixed, c.rows, c.k, true);
    for (int selector = 0; selector < s.selectors(); ++selector) {
      std::set<std::pair<int, int>> seen;
      for (int row = 0; row < s.rows; ++row)
        for (int group = 0; group < s.groups(); ++group) {
          const MetadataPlace p = metadata_place(s, selector, row, group);
          EXPECT_EQ(p.thread % 32 / 4, row % 8);
          EXPECT_EQ(p.thread / 32, row / 16);
          seen.emplace(p.thread, p.bit);
        }
      EXPECT_EQ(static_cast<int>(seen.size()), s.rows * s.groups()) << name(c.type) << c.k;
    }
  }
}

TEST(Sparsity, SelectsColumns) {
  std::vector<std::uint8_t> columns(16 * 8);
  select(sparsity_of(Type::f16, false, 16, 16, true), 0, std::vector<Word>(32, 0x4e4e4e4e),
         columns);
  EXPECT_EQ((std::vector<std::uint8_t>(columns.begin(), columns.begin() + 8)),
            (std::vector<std::uint8_t>{2, 3, 4, 5, 10, 11, 12, 13}));
  columns.resize(16 * 4);
  select(sparsity_of(Type::tf32, false, 16, 8, false), 3, std::vector<Word>(32, 0x4e4e4e4e),
         columns);
  EXPECT_EQ((std::vector<std::uint8_t>(columns.begin(), columns.begin() + 4)),
            (std::vector<std::uint8_t>{1, 2, 5, 6}));
  columns.resize(16 * 32);
  select(sparsity_of(Type::u4, false, 16, 64, false), 1, std::vector<Word>(32, 0x88888888),
         columns);
  EXPECT_EQ((std::vector<std::uint8_t>(columns.begin(), columns.begin() + 8)),
            (std::vector<std::uint8_t>{0, 1, 4, 5, 8, 9, 12, 13}));
}

TEST(Sparsity, RefusesInvalidMetadata) {
  std::vector<std::uint8_t> columns(16 * 16);
  const auto rule = [&](Type type, int k, bool ordered, int selector, Word four) {
    try {
      select(sparsity_of(type, false, 16, k, ordered), selector,
             std::vector<Word>(32, four * 0x11111111), columns);
    } catch (const Violation& violation) {
      return violation.rule();
    }
    return std::string();
  };
  EXPECT_EQ(rule(Type::f16, 16, false, 0, 0b0001), "");
  EXPECT_EQ(rule(Type::f16, 16, true, 0, 0b0001), "sparse.metadata");
  EXPECT_EQ(rule(Type::f16, 16, false, 0, 0b1010), "sparse.metadata");
  EXPECT_EQ(rule(Type::tf32, 16, false, 0, 0b1000), "sparse.metadata");
  EXPECT_EQ(rule(Type::f16, 16, false, 4, 0b0100), "sparse.selector");
  EXPECT_EQ(rule(Type::bf16, 32, false, 2, 0b0100), "sparse.selector");
}

// A sparse product is the dense one of A with its zeros put in.
TEST(Sparsity, MultipliesAsWithZerosPutIn) {
  std::mt19937 random(5);
  for (const Type type : {Type::f16, Type::s8}) {
    const Type d = is_integer(type) ? Type::s32 : Type::f32;
    const int stored = is_integer(type) ? 32 : 16, n = 8, m = 64;
    const Operation operation{Machine::hopper, Unit::wgmma, type, type, d, d, m, n, stored, true};
    const Sparsity s = sparsity_of(type, false, m, 2 * stored, false);
    std::vector<Word> metadata(128);
    constexpr Word kValid[] = {0b0001, 0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110};
    for (Word& word : metadata)
      for (int at = 0; at < 8; ++at) word |= kValid[random() % 7] << (4 * at);
    std::vector<std::uint8_t> columns(static_cast<std::size_t>(m * stored));
    select(s, 0, metadata, columns);
    const auto number = [&] {
      return is_integer(type) ? random() & 0xff : 0x3000 + (random() & 0x8fff);
    };
    std::vector<Word> a(columns.size()), b(static_cast<std::size_t>(n * 2 * stored));
    for (Word& x : a) x = static_cast<Word>(number());
    for (Word& x : b) x = static_cast<Word>(number());
    std::vector<Word> whole(static_cast<std::size_t>(m * 2 * stored));
    for (std::size_t at = 0; at < a.size(); ++at)
      whole[at / static_cast<std::size_t>(stored) * 2 * static_cast<std::size_t>(stored) +
            columns[at]] = a[at];
    std::vector<Word> sparse(static_cast<std::size_t>(m * n)), dense(sparse.size());
    multiply(arithmetic_of(operation), {.a = a, .b = b, .c = {}, .columns = columns}, sparse);
    Operation twice = operation;
    twice.k = 2 * stored;
    multiply(arithmetic_of(twice), {.a = whole, .b = b, .c = {}}, dense);
    EXPECT_EQ(sparse, dense) << name(type);
  }
}

}  // namespace
}  // namespace assay::model::matrix
