// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/allocation.hpp"

#include <fmt/format.h>

#include <bit>

#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

template <class... Values>
void require(bool holds, const char* rule, fmt::format_string<Values...> text, Values&&... values) {
  if (!holds) throw Violation(rule, fmt::format(text, std::forward<Values>(values)...));
}

void check_number(int columns) {
  require(columns >= 32 && columns <= 512 && std::has_single_bit(static_cast<unsigned>(columns)),
          "tensor_memory.columns", "{} columns are no power of two from 32 to 512", columns);
}

}  // namespace

std::optional<std::uint32_t> TensorAllocator::allocate(int columns) {
  check_number(columns);
  require(!relinquished_, "tensor_memory.relinquished",
          "the CTA allocates tensor memory after it relinquished the permit");
  require(columns <= largest_, "tensor_memory.columns",
          "an allocation of {} columns follows one of {}: they must not grow", columns, largest_);
  for (int first = 0; first < kTensorColumns; first += columns) {
    bool free = true;
    for (int column = first; column < first + columns; column += kUnit)
      free &= !taken_[unit(column)];
    if (!free) continue;
    for (int column = first; column < first + columns; column += kUnit) taken_.set(unit(column));
    blocks_[first] = columns;
    largest_ = columns;
    return tensor_address({0, first});
  }
  return std::nullopt;
}

void TensorAllocator::release(std::uint32_t address, int columns) {
  check_number(columns);
  const TensorCell first = tensor_cell(address);
  const auto block = blocks_.find(first.column);
  require(first.lane == 0 && block != blocks_.end(), "tensor_memory.dealloc",
          "address {:#x} is not that of an allocation", address);
  require(block->second == columns, "tensor_memory.dealloc",
          "{} columns are released of an allocation of {}", columns, block->second);
  for (int column = first.column; column < first.column + columns; column += kUnit)
    taken_.reset(unit(column));
  blocks_.erase(block);
}

std::vector<TensorAllocator::Block> TensorAllocator::left() const {
  std::vector<Block> blocks;
  for (const auto& [column, columns] : blocks_) blocks.push_back({column, columns});
  return blocks;
}

}  // namespace assay::model
