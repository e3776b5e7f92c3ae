// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/block_layout.hpp"

#include <cstring>

#include "harness/element.hpp"

namespace assay::numerics {
namespace {

constexpr Operand kOperands[] = {Operand::a, Operand::b, Operand::d};

std::size_t index_of(const MmaInstruction& i, Operand operand, Position p) {
  return static_cast<std::size_t>(p.row * i.columns(operand) + p.column);
}

std::size_t bytes_of(const MmaInstruction& i, Operand operand) {
  return static_cast<std::size_t>(element_bits(i.type_of(operand)) / 8);
}

}  // namespace

BlockLayout::BlockLayout(const MmaInstruction& instruction)
    : instruction_(instruction),
      operand_bytes_(static_cast<std::size_t>(MmaPtx{instruction}.operand_bytes())) {
  for (const Operand operand : kOperands) {
    const int rows = instruction.rows(operand), columns = instruction.columns(operand);
    auto& places = places_[static_cast<std::size_t>(operand)];
    places.resize(static_cast<std::size_t>(rows * columns));
    if (instruction.in_registers(operand)) {
      for (const Slot slot : instruction.slots(operand))
        places[index_of(instruction, operand, documented_position(instruction, operand, slot))] =
            offset(operand, slot);
      continue;
    }
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column)
        places[index_of(instruction, operand, {row, column})] =
            static_cast<std::size_t>(tile_offset(instruction, operand, {row, column}));
  }
}

Block BlockLayout::empty_block() const {
  return Block(static_cast<std::size_t>(MmaPtx{instruction_}.block_bytes()), std::byte{0});
}

std::size_t BlockLayout::offset(Operand operand, Slot slot) const {
  int registers = slot.reg;
  for (const Operand before : kOperands) {
    if (before == operand) break;
    if (instruction_.in_registers(before)) registers += instruction_.fragment(before).registers;
  }
  const int at = registers * instruction_.threads() + slot.thread;
  return static_cast<std::size_t>(tile_bytes(instruction_) + at * instruction_.register_bytes()) +
         static_cast<std::size_t>(slot.element) * bytes_of(instruction_, operand);
}

std::size_t BlockLayout::place(Operand operand, Position position) const {
  return places_[static_cast<std::size_t>(operand)][index_of(instruction_, operand, position)];
}

void BlockLayout::put(std::span<std::byte> block, Operand operand, Position position,
                      Bits bits) const {
  std::memcpy(block.data() + place(operand, position), &bits, bytes_of(instruction_, operand));
}

void BlockLayout::put_slot(std::span<std::byte> block, Operand operand, Slot slot,
                           Bits bits) const {
  std::memcpy(block.data() + offset(operand, slot), &bits, bytes_of(instruction_, operand));
}

Bits BlockLayout::get(std::span<const std::byte> result, Position position) const {
  Bits bits = 0;
  std::memcpy(&bits, result.data() + place(Operand::d, position) - operand_bytes_,
              bytes_of(instruction_, Operand::d));
  return bits;
}

Bits BlockLayout::get_slot(std::span<const std::byte> result, Slot slot) const {
  Bits bits = 0;
  std::memcpy(&bits, result.data() + offset(Operand::d, slot) - operand_bytes_,
              bytes_of(instruction_, Operand::d));
  return bits;
}

}  // namespace assay::numerics
