// SPDX-License-Identifier: Apache-2.0
// tcgen05.alloc, dealloc and relinquish_alloc_permit: which columns of a CTA's (with cta_group::2 a
// pair's) tensor memory are taken. PTX ISA 9.0, 9.7.16.1.2 and 9.7.16.7 "Tensor Memory Allocation
// and Management Instructions".
#pragma once
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "harness/model/tensor_memory/cell.hpp"

namespace assay::model {

class TensorAllocator {
 public:
  struct Block {
    int column, columns;
    bool operator==(const Block&) const = default;
  };

  // The address of so many columns, all lanes of them; nullopt if the instruction blocks because
  // they are not free. Unspecified: which free columns are given; here the first that are aligned
  // to their number. Throws Violation for numbers that are no power of two from 32 to 512, for more
  // columns than an allocation before asked for, and after relinquish().
  std::optional<std::uint32_t> allocate(int columns);

  // Throws Violation unless exactly these columns were allocated by one instruction.
  void release(std::uint32_t address, int columns);

  void relinquish() { relinquished_ = true; }

  // What was never released: a kernel must not exit with any.
  std::vector<Block> left() const;

  // Whether a cell lies in an allocated column.
  bool holds(TensorCell cell) const {
    return cell.column >= 0 && cell.column < kTensorColumns && taken_[unit(cell.column)];
  }

 private:
  static constexpr int kUnit = 32;  // columns
  static constexpr std::size_t unit(int column) { return static_cast<std::size_t>(column / kUnit); }

  std::bitset<kTensorColumns / kUnit> taken_;
  std::map<int, int> blocks_;  // first column -> columns
  int largest_ = kTensorColumns;
  bool relinquished_ = false;
};

}  // namespace assay::model
