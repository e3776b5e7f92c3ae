// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/fragment.hpp"

#include <gtest/gtest.h>

namespace assay::model::matrix {
namespace {

// Every element has a slot of its own: what is scattered is gathered again.
void expect_bijection(const Fragment& f) {
  const auto count = static_cast<std::size_t>(f.rows() * f.columns());
  std::vector<std::uint64_t> elements(count), back(count);
  const std::uint64_t mask =
      f.packing().bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << f.packing().bits) - 1;
  for (std::size_t at = 0; at < count; ++at) elements[at] = (at * 2654435761u + 1) & mask;
  std::vector<std::uint64_t> registers(static_cast<std::size_t>(f.threads() * f.registers()));
  const auto at = [&](int thread, int reg) {
    return static_cast<std::size_t>(thread * f.registers() + reg);
  };
  f.scatter<std::uint64_t>(elements, [&](int thread, int reg, std::uint64_t bits) {
    registers[at(thread, reg)] = bits;
  });
  f.gather<std::uint64_t>([&](int thread, int reg) { return registers[at(thread, reg)]; }, back);
  EXPECT_EQ(back, elements) << f.rows() << " x " << f.columns();
}

TEST(Fragment, EveryElementHasOneSlot) {
  for (const int m : {8, 16, 64})
    for (const int bits : {1, 4, 8, 16, 32})
      expect_bijection(fragment_of_a(m, 8 * 32 / bits, {bits, bits}));
  for (const int bits : {1, 4, 8, 16, 32})
    expect_bijection(fragment_of_b(4 * 32 / bits, {bits, bits}));
  expect_bijection(fragment_of_a(16, 16, {64, 64, 0, 64}));
  expect_bijection(fragment_of_b(32, {8, 4, 2}));
  for (const int n : {8, 24, 256}) {
    expect_bijection(fragment_of_d(64, n, {32, 32}));
    expect_bijection(fragment_of_d(64, n, {16, 16}));
  }
  expect_bijection(fragment_of_d(8, 8, {32, 32}));
  for (const bool other : {false, true}) {
    expect_bijection(quad_pair_fragment_of_a(other));
    expect_bijection(quad_pair_fragment_of_b(other));
  }
  expect_bijection(quad_pair_fragment_of_d(Type::f16));
  expect_bijection(quad_pair_fragment_of_d(Type::f32));
}

// Entries of the manual's figures for lane 13: groupID 3, threadID_in_group 1. B is [n][k] here.
TEST(Fragment, AgreesWithThePtxIsa) {
  using S = Slot;
  const Fragment b1 = fragment_of_a(16, 256, {1, 1});
  EXPECT_EQ(b1.slot({3, 32}), (S{13, 0, 0}));
  EXPECT_EQ(b1.slot({11, 63}), (S{13, 1, 31}));
  EXPECT_EQ(b1.slot({3, 160}), (S{13, 2, 0}));
  const Fragment s4 = fragment_of_b(64, {4, 4});
  EXPECT_EQ(s4.slot({3, 8}), (S{13, 0, 0}));
  EXPECT_EQ(s4.slot({3, 47}), (S{13, 1, 7}));
  const Fragment s8 = fragment_of_a(8, 16, {8, 8});
  EXPECT_EQ(s8.slot({3, 6}), (S{13, 0, 2}));
  const Fragment d = fragment_of_d(8, 8, {32, 32});
  EXPECT_EQ(d.slot({3, 3}), (S{13, 1, 0}));
}

// The manual's m8n8k4: row-major A of lane 17 (pair 0, thread 5) is row 5; of D in f32 its c6 is
// row 1 + 2 + 4, column 4.
TEST(Fragment, OfQuadPairs) {
  EXPECT_EQ(QuadPair::lane(0, 5), 17);
  EXPECT_EQ(QuadPair::lane(3, 3), 15);
  EXPECT_EQ(quad_pair_fragment_of_a(true).slot({5, 3}), (Slot{5, 1, 1}));
  EXPECT_EQ(quad_pair_fragment_of_a(false).slot({5, 3}), (Slot{7, 0, 1}));
  EXPECT_EQ(quad_pair_fragment_of_d(Type::f32).slot({7, 4}), (Slot{5, 6, 0}));
  EXPECT_EQ(quad_pair_fragment_of_d(Type::f16).slot({5, 6}), (Slot{5, 3, 0}));
}

}  // namespace
}  // namespace assay::model::matrix
