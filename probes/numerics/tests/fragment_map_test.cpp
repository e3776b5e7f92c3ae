// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/fragment_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "harness/element.hpp"

namespace assay::numerics {
namespace {

// An MMA on the CPU that takes its operands from where they are documented to be, except that the
// threads of each quad stand in reverse order for one operand.
class FakeMma {
 public:
  FakeMma(const MmaInstruction& instruction, std::optional<Operand> reversed)
      : i_(instruction),
        reversed_(reversed),
        layout_(instruction),
        a_places_(places_of(Operand::a)),
        b_places_(places_of(Operand::b)) {}

  std::vector<Block> run(const std::vector<Block>& blocks) const {
    std::vector<Block> results;
    for (const Block& block : blocks) {
      Block result = layout_.empty_block();
      for (const Slot slot : i_.slots(Operand::d)) {
        const Position at = position(Operand::d, slot);
        double sum = 0;
        for (int k = 0; k < i_.k; ++k)
          sum += input(block, Operand::a, {at.row, k}) * input(block, Operand::b, {k, at.column});
        layout_.put_slot(result, Operand::d, slot,
                         pack(i_.accumulator, element_bits(i_.accumulator), sum));
      }
      result.erase(result.begin(), result.begin() + MmaPtx{i_}.operand_bytes());
      results.push_back(result);
    }
    return results;
  }
  Position position(Operand operand, Slot slot) const {
    if (operand == reversed_) slot.thread ^= 3;
    return documented_position(i_, operand, slot);
  }

 private:
  // Where the layout puts an element is where a block that holds nothing else is not zero.
  std::vector<std::ptrdiff_t> places_of(Operand operand) const {
    std::vector<std::ptrdiff_t> places(
        static_cast<std::size_t>(i_.rows(operand) * i_.columns(operand)));
    const auto find = [&](Position wanted, Position documented) {
      Block marked = layout_.empty_block();
      layout_.put(marked, operand, documented, ~Bits{0});
      places[static_cast<std::size_t>(wanted.row * i_.columns(operand) + wanted.column)] =
          std::ranges::find_if(marked, [](std::byte b) { return b != std::byte{0}; }) -
          marked.begin();
    };
    for (int row = 0; row < i_.rows(operand); ++row)
      for (int column = 0; column < i_.columns(operand); ++column)
        find({row, column}, {row, column});
    if (operand == reversed_)
      for (const Slot slot : i_.slots(operand))
        find(position(operand, slot), documented_position(i_, operand, slot));
    return places;
  }
  double input(const Block& block, Operand operand, Position at) const {
    const auto& places = operand == Operand::a ? a_places_ : b_places_;
    Bits bits = 0;
    std::memcpy(
        &bits,
        block.data() + places[static_cast<std::size_t>(at.row * i_.columns(operand) + at.column)],
        static_cast<std::size_t>(element_bits(i_.element)) / 8);
    return bits == 0 ? 0 : unpack(i_.element, bits);
  }

  MmaInstruction i_;
  std::optional<Operand> reversed_;
  BlockLayout layout_;
  std::vector<std::ptrdiff_t> a_places_, b_places_;
};

void expect_found(const MmaInstruction& i, Operand operand, std::optional<Operand> reversed) {
  SCOPED_TRACE(i.type_name() + " " + i.shape() + " " + std::to_string(static_cast<int>(operand)));
  const FakeMma fake(i, reversed);
  const auto found = discover(i, operand, BlockLayout(i),
                              [&](const std::vector<Block>& blocks) { return fake.run(blocks); });
  const std::vector<Slot> slots = i.slots(operand);
  ASSERT_EQ(found.size(), slots.size());
  for (std::size_t at = 0; at < slots.size(); ++at)
    ASSERT_TRUE(found[at] == fake.position(operand, slots[at])) << "slot " << at;
}

TEST(FragmentMap, FindsTheDocumentedAndAnyOther) {
  for (const MmaInstruction& i : {MmaInstruction{Family::mma_sync, "f16", "f32", 16, 8, 8},
                                  {Family::mma_sync, "f16", "f16", 16, 8, 16},
                                  {Family::mma_sync, "tf32", "f32", 16, 8, 4},
                                  {Family::mma_sync, "s8", "s32", 16, 8, 32},
                                  {Family::mma_sync, "e4m3", "f32", 16, 8, 32},
                                  {Family::mma_sync, "f64", "f64", 8, 8, 4},
                                  {Family::mma_sync, "f64", "f64", 16, 8, 16}})
    for (const Operand operand : {Operand::a, Operand::b, Operand::d}) {
      expect_found(i, operand, std::nullopt);
      expect_found(i, operand, operand);
    }
}

TEST(FragmentMap, OfWgmma) {
  expect_found({Family::wgmma, "tf32", "f32", 64, 8, 8}, Operand::a, std::nullopt);
  expect_found({Family::wgmma, "s8", "s32", 64, 8, 32, false}, Operand::d, Operand::d);
  expect_found({Family::wgmma, "f16", "f32", 64, 256, 16, false}, Operand::d, std::nullopt);
  expect_found({Family::wgmma, "f16", "f16", 64, 64, 16, false}, Operand::d, Operand::d);
}

}  // namespace
}  // namespace assay::numerics
