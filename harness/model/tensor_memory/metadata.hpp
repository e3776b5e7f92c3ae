// SPDX-License-Identifier: Apache-2.0
// Metadata of a sparse A in tensor memory: which elements of each row are stored. PTX ISA 9.0,
// 9.7.16.10.8 "Sparse Matrices".
#pragma once
#include <cstdint>
#include <span>

#include "harness/model/tensor_memory/layout.hpp"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"

namespace assay::model {

struct TensorMetadata {
  MetadataWidth width;
  int group;  // elements that a nibble is for, half of which are stored
  int k;      // elements of a row, zeros included
  TensorCell first;
  int copies = 1;  // places that hold the same, for as many parts of the lanes

  int groups() const { return k / group; }  // of a row

  // Each group of a CTA's rows: its cell, and the bit of its nibble; in each copy, the first first.
  template <class Each>
  void for_groups(int rows, Each&& each) const {
    for (int copy = 0; copy < copies; ++copy)
      for (int row = 0; row < rows; ++row)
        for (int g = 0; g < groups(); ++g) {
          const PackedCell p = metadata_cell(width, row, g * group);
          const int lane = first.lane + p.cell.lane + copy * (128 / copies);
          each(row, g, copy, TensorCell{lane, first.column + p.cell.column}, p.bit);
        }
  }
  // The columns of group `g` whose elements are stored, in the order in which they are: one of
  // tf32, two, or four of the 4-bit kinds. Throws Violation("sparse.metadata") for a nibble that
  // 9.7.16.10.8.1 to 3 do not list.
  void columns(int g, std::uint32_t nibble, std::span<std::uint8_t> to) const;
};

// `k`: of the instruction. Throws Violation: for a selector that the kind lacks (9.7.16.10.8.4.5
// and 6), and for an M whose layout the manual has in figures alone and CUTLASS does not have: 64
// without .ws, and 128 of two CTAs.
TensorMetadata tensor_metadata(ptx::tcgen05::Kind kind, const MmaShape& shape, int k,
                               std::uint32_t address, int selector);

}  // namespace assay::model
