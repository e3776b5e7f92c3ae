// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/fragment_map.hpp"

#include <algorithm>
#include <cmath>

#include "harness/element.hpp"

namespace assay::numerics {
namespace {

class Discovery {
 public:
  Discovery(const MmaInstruction& instruction, Operand operand, const BlockLayout& layout,
            const RunBlocks& run)
      : i_(instruction), operand_(operand), layout_(layout), run_(run) {}

  // Of every slot, in their order; none where the register is nothing's.
  std::vector<std::optional<Position>> positions() const {
    return operand_ == Operand::d ? of_accumulators() : of_inputs();
  }

 private:
  Bits input(double value) const { return pack(i_.element, element_bits(i_.element), value); }
  double output(Bits bits) const { return unpack(i_.accumulator, bits); }

  // D[row][column] = the row (or the column): the factors of each power of two share it, since s8
  // has no 128.
  Block numbered(bool by_row) const {
    Block block = layout_.empty_block();
    const auto factor = [&](Operand operand, int at, int k) {
      const bool counted = (operand == Operand::a) == by_row;
      const double weight = std::exp2(counted ? k / 2 : k - k / 2);
      return input(counted ? (at >> k & 1) * weight : weight);
    };
    for (int k = 0; k < std::min(i_.k, 8); ++k) {
      for (int row = 0; row < i_.m; ++row)
        layout_.put(block, Operand::a, {row, k}, factor(Operand::a, row, k));
      for (int column = 0; column < i_.n; ++column)
        layout_.put(block, Operand::b, {k, column}, factor(Operand::b, column, k));
    }
    return block;
  }

  std::vector<std::optional<Position>> of_accumulators() const {
    const auto found = run_({numbered(true), numbered(false)});
    std::vector<std::optional<Position>> positions;
    for (const Slot slot : i_.slots(operand_)) {
      const double row = output(layout_.get_slot(found[0], slot));
      const double column = output(layout_.get_slot(found[1], slot));
      const bool inside = row >= 0 && row < i_.m && column >= 0 && column < i_.n;
      positions.push_back(
          inside ? std::optional(Position{static_cast<int>(row), static_cast<int>(column)})
                 : std::nullopt);
    }
    return positions;
  }

  // The other operand: 1 in its last row (column), elsewhere k in binary.
  std::vector<std::optional<Position>> of_inputs() const {
    const bool of_a = operand_ == Operand::a;
    const int last = of_a ? 7 : i_.m - 1;
    Block frame = layout_.empty_block();
    for (int k = 0; k < i_.k; ++k)
      for (int at = 0; at <= last; ++at) {
        const Bits bits = input(at == last ? 1 : k >> at & 1);
        if (of_a)
          layout_.put(frame, Operand::b, {k, at}, bits);
        else
          layout_.put(frame, Operand::a, {at, k}, bits);
      }
    std::vector<Block> blocks;
    for (const Slot slot : i_.slots(operand_)) {
      blocks.push_back(frame);
      layout_.put_slot(blocks.back(), operand_, slot, input(1));
    }
    std::vector<std::optional<Position>> positions;
    for (const auto& result : run_(blocks)) positions.push_back(decode(result, last));
    return positions;
  }

  std::optional<Position> decode(const Block& result, int last) const {
    const bool of_a = operand_ == Operand::a;
    const auto at = [&](int line, int place) {  // of D, or of its transpose
      return output(layout_.get(result, of_a ? Position{line, place} : Position{place, line}));
    };
    std::optional<Position> found;
    for (int line = 0; line < (of_a ? i_.m : i_.n); ++line) {
      if (at(line, last) == 0) continue;
      if (found || at(line, last) != 1) return std::nullopt;
      int k = 0;
      for (int bit = 0; bit < last && bit < 8; ++bit) k |= (at(line, bit) == 1) << bit;
      found = of_a ? Position{line, k} : Position{k, line};
    }
    return found;
  }

  MmaInstruction i_;
  Operand operand_;
  const BlockLayout& layout_;
  const RunBlocks& run_;
};

}  // namespace

std::vector<std::optional<Position>> discover(const MmaInstruction& instruction, Operand operand,
                                              const BlockLayout& layout, const RunBlocks& run) {
  return Discovery(instruction, operand, layout, run).positions();
}

}  // namespace assay::numerics
