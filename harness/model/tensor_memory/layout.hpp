// SPDX-License-Identifier: Apache-2.0
// Where the matrices of tcgen05.mma lie in tensor memory. PTX ISA 9.0, 9.7.16.10.5 "Data Path
// Layout Organization", 9.7.16.10.7 "Block Scaling", 9.7.16.10.8.4 "Sparsity selector". What only
// the figures show agrees with CUTLASS's cute/atom/mma_traits_sm100_frag.hpp.
#pragma once
#include <cstdint>
#include <stdexcept>

#include "harness/model/tensor_memory/cell.hpp"
#include "harness/ptx/descriptor/scale_layout.hpp"

namespace assay::model {

// The manual's layouts, of all rows of D, the M of the instruction:
//
//   A  M = 256, two CTAs: 128 rows in each, a row to a lane
//   B  M = 128, two CTAs, dense: 64 rows in each; columns from N / 2 on lie 64 lanes further on
//   C  M = 128, two CTAs, sparse: 64 rows in each, as F
//   D  M = 128, one CTA: a row to a lane
//   E  M = 64, .ws: as B in one CTA
//   F  M = 64: 16 rows to each warp's 32 lanes, in the lower or, with the lane alignment 16, the
//      upper half of them
//   G  M = 32, .ws: every quarter of the columns lies 32 lanes further on
enum class DataPath : std::uint8_t { a, b, c, d, e, f, g };

struct MmaShape {
  int m, n, ctas = 1;
  bool sparse = false, ws = false;
};

// The table of 9.7.16.10.5. Throws std::invalid_argument where it has no row.
constexpr DataPath data_path(const MmaShape& s) {
  if (s.ctas == 1) {
    if (s.m == 32 && s.ws) return DataPath::g;
    if (s.m == 64) return s.ws ? DataPath::e : DataPath::f;
    if (s.m == 128) return DataPath::d;
  } else if (s.ctas == 2 && !s.ws) {
    if (s.m == 128) return s.sparse ? DataPath::c : DataPath::b;
    if (s.m == 256) return DataPath::a;
  }
  throw std::invalid_argument("no layout of tensor memory has this M");
}

// Which CTA of the pair, by the last bit of its rank, and which lane and column behind the address.
struct MmaCell {
  int cta, lane, column;
  bool operator==(const MmaCell&) const = default;
};

constexpr int spread_lane(int row) { return row / 16 * 32 + row % 16; }  // layouts C and F

// An element of D. Each takes a cell, 16-bit ones its lower half (9.7.16.10.4.1).
constexpr MmaCell d_cell(const MmaShape& s, int row, int column) {
  const int rows = s.m / s.ctas, cta = row / rows, r = row % rows;
  switch (data_path(s)) {
    case DataPath::a:
    case DataPath::d:
      break;
    case DataPath::b:
    case DataPath::e:
      return {cta, r + column / (s.n / 2) * 64, column % (s.n / 2)};
    case DataPath::c:
    case DataPath::f:
      return {cta, spread_lane(r), column};
    case DataPath::g:
      return {cta, r + column / (s.n / 4) * 32, column % (s.n / 4)};
  }
  return {cta, r, column};
}

// Columns that D takes.
constexpr int d_columns(const MmaShape& s) {
  const DataPath path = data_path(s);
  if (path == DataPath::g) return s.n / 4;
  return path == DataPath::b || path == DataPath::e ? s.n / 2 : s.n;
}

// A in tensor memory: element (row, k) of `bits` bits, packed along the columns. The types of 4 and
// 6 bits take 8 but for kind::mxf4 and mxf4nvf4 (9.7.16.10.4). In layouts B, E and G every part of
// the lanes needs all of A: `copies` places hold the same. Of E and G with .ws the manual says
// nothing (unspecified); they are taken to be like B, which CUTLASS has.
constexpr int a_copies(const MmaShape& s) {
  const DataPath path = data_path(s);
  if (path == DataPath::g) return 4;
  return path == DataPath::b || path == DataPath::e ? 2 : 1;
}
struct PackedCell {
  MmaCell cell;
  int bit;  // of the cell's 32, of the element's lowest one
  bool operator==(const PackedCell&) const = default;
};
constexpr PackedCell a_cell(const MmaShape& s, int row, int k, int bits, int copy = 0) {
  const int rows = s.m / s.ctas, r = row % rows;
  const DataPath path = data_path(s);
  const bool spread = path == DataPath::c || path == DataPath::f;
  const int lane = spread ? spread_lane(r) : r + copy * (128 / a_copies(s));
  return {{row / rows, lane, k * bits / 32}, k * bits % 32};
}

// Where the scales begin. CUTLASS leaves the scale id in the two upper bits of the addresses that
// it gives to the MMA, which no lane has; the id that counts is the instruction descriptor's.
constexpr TensorCell scale_address(std::uint32_t address) {
  return tensor_cell(address & 0x3fffffff);
}

// A row's or a column's block scale, a byte: of A for the CTA's own rows, of B for all columns of
// D. The 32 lanes of every warp hold the same (9.7.16.10.7), but for B in layout B, where the lower
// 64 lanes need the scales of the lower half of the columns and the upper ones those of the upper
// half. `first` is the instruction's scale id.
constexpr PackedCell scale_cell(ptx::ScaleVector vector, int first, int row, int index, int copy) {
  const auto place = ptx::tensor_memory_scale(vector, first, row, index);
  return {{0, place.lane + 32 * copy, place.column}, place.byte * 8};
}
constexpr PackedCell scale_b_cell(const MmaShape& s, ptx::ScaleVector vector, int first, int column,
                                  int index, int copy) {
  if (data_path(s) != DataPath::b) return scale_cell(vector, first, column, index, copy);
  if (copy >= 2) throw std::invalid_argument("two warps' lanes hold a half of the scales");
  const int half = column / (s.n / 2);
  return scale_cell(vector, first, column % (s.n / 2), index, 2 * half + copy);
}

// With K = 96 a row has three scales or six, which begin in any byte of a column and go on in the
// column of the next four. The manual has figures only; this is how CUTLASS's kernels for sm_103a
// lay them out and step through them (tmem_sf_frg, sm103_blockscaled_mma_warpspecialized.hpp):
// `lines` rows of A or columns of B take four columns for every 128 of them, then come the next
// four scales.
constexpr PackedCell scale_cell_k96(int lines, int first, int row, int index, int copy) {
  const int byte = first + index, columns = (lines + 127) / 128 * 4;
  return {{0, row % 32 + 32 * copy, row / 32 + byte / 4 * columns}, byte % 4 * 8};
}

// Metadata of a sparse A: `k` counts the elements of the row as if it were dense; each group of 4
// (f16 and the 8-bit kinds), 2 (tf32) or 8 (4-bit kinds) of them has a nibble: two 2-bit indices.
// The place of a group's nibble behind metadata_address(), in layouts A and D; in E and G, with
// .ws, that of the first of a_copies(), as CUTLASS has it (tmem_e_frg_ws). In C and F it is
// unspecified.
enum class MetadataWidth : std::uint8_t { tf32, f16, bits8, bits4 };
constexpr PackedCell metadata_cell(MetadataWidth width, int row, int k) {
  const int r = row % 128, cta = row / 128;
  switch (width) {
    case MetadataWidth::tf32:
      return {{cta, r % 8 + k / 8 * 8 + r / 16 * 16, 0}, r / 8 % 2 * 16 + k % 8 / 2 * 4};
    case MetadataWidth::f16:
      return {{cta, r % 8 + k / 16 * 8 + r / 16 * 16, 0}, r / 8 % 2 * 16 + k % 16 / 4 * 4};
    case MetadataWidth::bits8:
      return {{cta, r, k / 32}, k % 32 / 4 * 4};
    case MetadataWidth::bits4:
      break;
  }
  return {{cta, r, k / 64}, k % 64 / 8 * 4};
}

// Where the metadata begin. The sparsity selector of kind::f16 and tf32 names a column; the
// manual's figures show which. CUTLASS takes the lowest bit of the column out of the address and
// gives it as selector: it is the column of an aligned pair. Selectors 2 and 3 are unspecified.
constexpr TensorCell metadata_address(std::uint32_t address, int selector) {
  if (selector < 0 || selector > 1)
    throw std::invalid_argument("what sparsity selectors 2 and 3 select is unspecified");
  const TensorCell first = tensor_cell(address);
  return {.lane = first.lane, .column = first.column / 2 * 2 + selector};
}

}  // namespace assay::model
