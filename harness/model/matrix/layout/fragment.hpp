// SPDX-License-Identifier: Apache-2.0
// Which thread and register of a matrix instruction holds which element of A, B and D (C lies as D
// does). PTX ISA 9.0, 9.7.14.5 "Matrix Fragments for mma.m*n*k*" and 9.7.15.5 "Register Fragments"
// of wgmma.
//
// Nearly all are one layout: a quad of four threads shares a row of A and D and a column of B (the
// manual's groupID, lane / 4), and its threads (threadID_in_group, lane % 4) take turns, register
// by register.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "harness/model/matrix/element_type.hpp"

namespace assay::model::matrix {

struct Slot {
  int thread, reg;
  int element;  // of those in the register, the lowest bits first
  bool operator==(const Slot&) const = default;
};
struct Position {
  int row, column;  // of A [m][k], of B [n][k], of D [m][n]
  bool operator==(const Position&) const = default;
};

// The common layout. `elements` is how many a register holds.
//
// Of A with m = 8 all registers belong to row groupID; with 16 they alternate between groupID and
// groupID + 8; with 64 each of four warps has 16 rows.
constexpr Position position_in_a(int m, int elements, Slot s) {
  const int halves = m == 8 ? 1 : 2;
  return {16 * (s.thread / 32) + s.thread % 32 / 4 + 8 * (s.reg % halves),
          elements * (4 * (s.reg / halves) + s.thread % 4) + s.element};
}
constexpr Position position_in_b(int elements, Slot s) {
  return {s.thread % 32 / 4, elements * (4 * s.reg + s.thread % 4) + s.element};
}
constexpr Position position_in_d(int m, int elements, Slot s) {
  const int halves = m == 8 ? 1 : 2, index = s.reg * elements + s.element;
  return {16 * (s.thread / 32) + s.thread % 32 / 4 + 8 * (index / 2 % halves),
          8 * (index / 2 / halves) + 2 * (s.thread % 4) + index % 2};
}

// The registers of one operand, as a table.
class Fragment {
 public:
  // `container_bits` of a register belong to an element, `bits` of these from `offset` on are it.
  struct Packing {
    int container_bits, bits, offset = 0;
    int register_bits = 32;
    int elements() const { return register_bits / container_bits; }
  };

  template <class PositionOf>
  Fragment(int rows, int columns, int threads, Packing packing, PositionOf position_of)
      : rows_(rows), columns_(columns), threads_(threads), packing_(packing) {
    registers_ = rows * columns / threads / packing.elements();
    places_.resize(static_cast<std::size_t>(rows * columns));
    for (int thread = 0; thread < threads; ++thread)
      for (int reg = 0; reg < registers_; ++reg)
        for (int element = 0; element < packing.elements(); ++element)
          put({thread, reg, element}, position_of(Slot{thread, reg, element}));
  }
  Fragment() = default;

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int threads() const { return threads_; }
  int registers() const { return registers_; }  // of each thread
  const Packing& packing() const { return packing_; }
  Slot slot(Position p) const;

  // All elements, row by row: read(thread, register) gives a register, of 32 or 64 bits.
  template <class Element, class Read>
  void gather(const Read& read, std::span<Element> elements) const {
    const auto mask = static_cast<Element>(
        packing_.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << packing_.bits) - 1);
    for (std::size_t at = 0; at < places_.size(); ++at)
      elements[at] =
          static_cast<Element>(read(places_[at].thread, places_[at].reg) >> places_[at].shift) &
          mask;
  }
  // The other way round: write(thread, register, bits) once for each register, other bits 0.
  template <class Element, class Write>
  void scatter(std::span<const Element> elements, const Write& write) const {
    if (packing_.elements() == 1) {
      for (std::size_t at = 0; at < places_.size(); ++at)
        write(places_[at].thread, places_[at].reg, elements[at] << places_[at].shift);
      return;
    }
    std::vector<Element> registers(static_cast<std::size_t>(threads_ * registers_));
    for (std::size_t at = 0; at < places_.size(); ++at)
      registers[static_cast<std::size_t>(places_[at].thread * registers_ + places_[at].reg)] |=
          elements[at] << places_[at].shift;
    for (int thread = 0; thread < threads_; ++thread)
      for (int reg = 0; reg < registers_; ++reg)
        write(thread, reg, registers[static_cast<std::size_t>(thread * registers_ + reg)]);
  }

 private:
  struct Place {
    std::uint8_t thread, reg, shift;
  };
  void put(Slot slot, Position p);

  int rows_ = 0, columns_ = 0, threads_ = 0, registers_ = 0;
  Packing packing_{32, 32};
  std::vector<Place> places_;  // [row][column]
};

// mma.sync and wgmma with the operand in registers. `k` is what is stored: half of a sparse A.
Fragment fragment_of_a(int m, int k, Fragment::Packing packing);
Fragment fragment_of_b(int k, Fragment::Packing packing);
Fragment fragment_of_d(int m, int n, Fragment::Packing packing);

// mma.sync.m8n8k4 of f16: four 8 x 8 x 4 products, each of a quad pair: threads 4p to 4p + 3 and
// 4p + 16 to 4p + 19. Tables of pair p alone, with threads 0 to 3 and 4 to 7 for those.
struct QuadPair {
  static constexpr int kPairs = 4;
  static constexpr int lane(int pair, int thread) {
    return 4 * pair + thread % 4 + (thread < 4 ? 0 : 16);
  }
};
Fragment quad_pair_fragment_of_a(bool row_major);
Fragment quad_pair_fragment_of_b(bool column_major);
Fragment quad_pair_fragment_of_d(Type type);  // f16 or f32

}  // namespace assay::model::matrix
