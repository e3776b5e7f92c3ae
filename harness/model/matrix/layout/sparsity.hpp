// SPDX-License-Identifier: Apache-2.0
// Which elements of a sparse A are stored: the metadata registers of mma.sp and wgmma.mma_async.sp.
//
// A row of A is cut into groups, half of whose elements are stored, in order. Four bits of metadata
// say which, the indices of the first and second stored one, the first in the low two bits:
//
//   16- and 8-bit types   2 of 4 elements
//   tf32                  1 of 2: the four bits number halves of an element, 0b0100 and 0b1110
//   4-bit types           4 of 8, in pairs: 2 of 4 pairs of neighbours
//
// PTX ISA 9.0, 9.7.14.6.1 and 9.7.15.6.1 "Sparse matrix storage". Types of 4 and 6 bits in kinds
// that mix them with 8 bits count as 8-bit types.
#pragma once
#include <cstdint>
#include <span>

#include "harness/model/matrix/element_type.hpp"

namespace assay::model::matrix {

struct Sparsity {
  int rows, k;   // of A as it is multiplied, zeros included
  int bits;      // of an element
  int group;     // elements of a group
  bool ordered;  // .sp::ordered_metadata: the first index is the smaller one

  int stored() const { return k / 2; }              // elements of a row
  int groups() const { return k / group; }          // of a row
  int bits_of_row() const { return 4 * groups(); }  // 16, 32 or 64
  // Lanes of a quad whose registers are read: one, a pair or all four; the selector is 0 to 3, 0 or
  // 1, or 0.
  int lanes_of_quad() const { return bits_of_row() / 16; }
  int selectors() const { return 4 / lanes_of_quad(); }
};

// mma.sp has 16 rows, wgmma.mma_async.sp 64 (and always ordered metadata, but the manual does not
// say so). `mixed` as of row_of().
Sparsity sparsity_of(Type type, bool mixed, int rows, int k, bool ordered);

// The lane (of its warp) and bit of the four bits of a group. Of a quad's lanes that take part,
// rows of 16 and 32 bits are in all: the row of groupID in the low, that of groupID + 8 in the high
// half; the second lane continues along K. Rows of 64 bits, and of 32 bits of 8- and 4-bit types:
// even lanes hold row groupID, odd ones groupID + 8, the upper pair continues along K, or has the
// selector 1. (An H200 does so of m16n8k32 with 8 bits: golden/silicon.txt.) Figures of 9.7.14.6.2,
// as ELayout_64x16, 64x32 and 64x64 of CUTLASS's cute/atom/mma_traits_sm90_gmma_sparse.hpp and
// ELayout of mma_traits_sm120_sparse.hpp have them.
struct MetadataPlace {
  int thread;  // of the warp or warpgroup
  int bit;
  bool operator==(const MetadataPlace&) const = default;
};
MetadataPlace metadata_place(const Sparsity& sparsity, int selector, int row, int group);

// Column along K of every stored element, [row][stored()], from each thread's register. Throws
// Violation("sparse.selector") if the selector is too great, Violation("sparse.metadata") for four
// bits that the manual calls invalid.
void select(const Sparsity& sparsity, int selector, std::span<const Word> metadata,
            std::span<std::uint8_t> columns);

}  // namespace assay::model::matrix
