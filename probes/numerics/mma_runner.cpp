// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/mma_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/element.hpp"
#include "harness/ptx_text.hpp"

namespace assay::numerics {
namespace {

constexpr std::size_t kBatch = 256;  // MMAs of one launch
constexpr Operand kOperands[] = {Operand::a, Operand::b, Operand::d};

std::size_t index_of(const MmaInstruction& i, Operand operand, Position p) {
  return static_cast<std::size_t>(p.row * i.columns(operand) + p.column);
}

std::size_t bytes_of(const MmaInstruction& i, Operand operand) {
  return static_cast<std::size_t>(element_bits(i.type_of(operand)) / 8);
}

Bits read(const std::byte* from, std::size_t bytes) {
  Bits bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

}  // namespace

KernelUse single_mma_kernel(const MmaInstruction& instruction, const std::string& entry,
                            Target target) {
  const MmaPtx ptx{instruction};
  return {
      .kernel = entry,
      .sass = sass_rules(instruction, target, 1),
      .ptx = ptx_text({.target = target,
                       .entry = entry,
                       .threads = instruction.threads(),
                       .declarations = ptx.declarations(),
                       .setup = ptx.setup(),
                       .loop = ptx.load_operands() + ptx.load_c() + ptx.multiply() + ptx.store_d() +
                               ptx.next_block(ptx.block_bytes()) + ptx.next_result()}),
      .emulated = emulated(instruction, target)};
}

MmaRunner::MmaRunner(State& s, const MmaInstruction& instruction, const std::string& entry)
    : s_(s),
      instruction_(instruction),
      kernel_(s, entry, instruction.threads(),
              kBatch * static_cast<std::size_t>(MmaPtx{instruction}.block_bytes()),
              kBatch * static_cast<std::size_t>(MmaPtx{instruction}.result_bytes())) {
  for (const Operand operand : kOperands) {
    auto& places = places_[static_cast<std::size_t>(operand)];
    places.resize(
        static_cast<std::size_t>(instruction.rows(operand) * instruction.columns(operand)));
    if (instruction.in_registers(operand)) {
      for (const Slot slot : instruction.slots(operand))
        places[index_of(instruction, operand, documented_position(instruction, operand, slot))] =
            offset(operand, slot);
      continue;
    }
    for (int row = 0; row < instruction.rows(operand); ++row)
      for (int column = 0; column < instruction.columns(operand); ++column)
        places[index_of(instruction, operand, {row, column})] =
            static_cast<std::size_t>(tile_offset(instruction, operand, {row, column}));
  }
}

std::size_t MmaRunner::offset(Operand operand, Slot slot) const {
  int registers = slot.reg;
  for (const Operand before : kOperands) {
    if (before == operand) break;
    if (instruction_.in_registers(before)) registers += instruction_.fragment(before).registers;
  }
  const int at = registers * instruction_.threads() + slot.thread;
  return static_cast<std::size_t>(tile_bytes(instruction_) + at * instruction_.register_bytes()) +
         static_cast<std::size_t>(slot.element) * bytes_of(instruction_, operand);
}

MmaRunner::Block MmaRunner::empty_block() const {
  return Block(static_cast<std::size_t>(MmaPtx{instruction_}.block_bytes()), std::byte{0});
}

void MmaRunner::put(Block& block, Operand operand, Position position, Bits bits) const {
  const std::size_t at =
      places_[static_cast<std::size_t>(operand)][index_of(instruction_, operand, position)];
  std::memcpy(block.data() + at, &bits, bytes_of(instruction_, operand));
}

void MmaRunner::put_slot(Block& block, Operand operand, Slot slot, Bits bits) const {
  std::memcpy(block.data() + offset(operand, slot), &bits, bytes_of(instruction_, operand));
}

std::vector<std::byte> MmaRunner::registers(const std::vector<Block>& blocks) const {
  const MmaPtx ptx{instruction_};
  const auto block_bytes = static_cast<std::size_t>(ptx.block_bytes());
  const auto result_bytes = static_cast<std::size_t>(ptx.result_bytes());
  std::vector<std::byte> results;
  results.reserve(blocks.size() * result_bytes);
  for (std::size_t first = 0; first < blocks.size(); first += kBatch) {
    const std::size_t count = std::min(kBatch, blocks.size() - first);
    std::vector<std::byte> in(kBatch * block_bytes);
    for (std::size_t i = 0; i < count; ++i)
      std::ranges::copy(blocks[first + i],
                        in.begin() + static_cast<std::ptrdiff_t>(i * block_bytes));
    kernel_.set_inputs(in);
    const auto out = kernel_.outputs_after<std::byte>(static_cast<std::int64_t>(count));
    results.insert(results.end(), out.begin(),
                   out.begin() + static_cast<std::ptrdiff_t>(count * result_bytes));
  }
  return results;
}

Bits MmaRunner::element(std::span<const std::byte> result, Slot slot) const {
  const auto before = static_cast<std::size_t>(MmaPtx{instruction_}.operand_bytes());
  return read(result.data() + offset(Operand::d, slot) - before,
              bytes_of(instruction_, Operand::d));
}

std::vector<std::vector<Bits>> MmaRunner::results(const std::vector<Block>& blocks) const {
  const MmaPtx ptx{instruction_};
  const std::vector<std::byte> all = registers(blocks);
  const auto& places = places_[static_cast<std::size_t>(Operand::d)];
  std::vector<std::vector<Bits>> results(blocks.size(), std::vector<Bits>(places.size()));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t first = i * static_cast<std::size_t>(ptx.result_bytes());
    for (std::size_t at = 0; at < places.size(); ++at)
      results[i][at] =
          read(all.data() + first + places[at] - static_cast<std::size_t>(ptx.operand_bytes()),
               bytes_of(instruction_, Operand::d));
  }
  return results;
}

std::vector<Bits> MmaRunner::dots(const std::vector<Dot>& dots) const {
  std::vector<Block> blocks;
  for (const Dot& dot : dots) {
    Block& block = blocks.emplace_back(empty_block());
    for (int k = 0; k < instruction_.k; ++k) {
      const auto at = static_cast<std::size_t>(k);
      for (int row = 0; row < instruction_.m; ++row) put(block, Operand::a, {row, k}, dot.a[at]);
      for (int column = 0; column < instruction_.n; ++column)
        put(block, Operand::b, {k, column}, dot.b[at]);
    }
    for (int row = 0; row < instruction_.m; ++row)
      for (int column = 0; column < instruction_.n; ++column)
        put(block, Operand::d, {row, column}, dot.c);
  }
  std::vector<Bits> found;
  for (const std::vector<Bits>& d : results(blocks)) {
    for (std::size_t at = 1; at < d.size(); ++at)
      s_.require(d[at] == d[0],
                 fmt::format("the same dot product is {:#x} in row 0, column 0 of D and {:#x} in "
                             "row {}, column {}",
                             d[0], d[at], at / static_cast<std::size_t>(instruction_.n),
                             at % static_cast<std::size_t>(instruction_.n)));
    found.push_back(d[0]);
  }
  return found;
}

}  // namespace assay::numerics
