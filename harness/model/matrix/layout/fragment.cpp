// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/fragment.hpp"

namespace assay::model::matrix {

void Fragment::put(Slot slot, Position p) {
  places_[static_cast<std::size_t>(p.row * columns_ + p.column)] = {
      static_cast<std::uint8_t>(slot.thread), static_cast<std::uint8_t>(slot.reg),
      static_cast<std::uint8_t>(slot.element * packing_.container_bits + packing_.offset)};
}

Slot Fragment::slot(Position p) const {
  const Place& place = places_[static_cast<std::size_t>(p.row * columns_ + p.column)];
  return {place.thread, place.reg, place.shift / packing_.container_bits};
}

Fragment fragment_of_a(int m, int k, Fragment::Packing packing) {
  return {m, k, m == 64 ? 128 : 32, packing,
          [&](Slot s) { return position_in_a(m, packing.elements(), s); }};
}

Fragment fragment_of_b(int k, Fragment::Packing packing) {
  return {8, k, 32, packing, [&](Slot s) { return position_in_b(packing.elements(), s); }};
}

Fragment fragment_of_d(int m, int n, Fragment::Packing packing) {
  return {m, n, m == 64 ? 128 : 32, packing,
          [&](Slot s) { return position_in_d(m, packing.elements(), s); }};
}

// PTX ISA 9.0, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type": a thread has four
// elements of A and of B. Row-major A: row laneid % 4, and 4 more from lane 16 on; column i.
// Column-major: row i, and 4 more; column laneid % 4. B the other way round.
namespace {

Position strip(bool along_k, Slot s) {
  const int i = 2 * s.reg + s.element, half = s.thread / 4 * 4;
  return along_k ? Position{s.thread % 4 + half, i} : Position{i + half, s.thread % 4};
}

}  // namespace

Fragment quad_pair_fragment_of_a(bool row_major) {
  return {8, 4, 8, {16, 16}, [&](Slot s) { return strip(row_major, s); }};
}

Fragment quad_pair_fragment_of_b(bool column_major) {
  return {8, 4, 8, {16, 16}, [&](Slot s) { return strip(column_major, s); }};
}

Fragment quad_pair_fragment_of_d(Type type) {
  if (type == Type::f16)
    return {8, 8, 8, {16, 16}, [](Slot s) {
              return Position{s.thread % 4 + s.thread / 4 * 4, 2 * s.reg + s.element};
            }};
  // Row: bit 0 of the lane, bit 1 of i, and 4 more from lane 16 on; column: bit 2 of i, bit 1 of
  // the lane, bit 0 of i.
  return {8, 8, 8, {32, 32}, [](Slot s) {
            const int i = s.reg;
            return Position{(s.thread & 1) + (i & 2) + s.thread / 4 * 4,
                            (i & 4) + (s.thread & 2) + (i & 1)};
          }};
}

}  // namespace assay::model::matrix
