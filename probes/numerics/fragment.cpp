// SPDX-License-Identifier: Apache-2.0
// Which thread and register holds which element of A, B and D of an MMA, found by running it.
//
// The accumulators show row and column when both are written in binary along K: A[row][k] is bit k
// of the row, B[k][column] is 2^k, and the other way round. A register of A or B shows itself when
// it alone holds a one: the only row (or column) of D that is not zero is its own, and the other
// operand spells k in binary across the columns (rows) of that. wgmma takes what a map does not
// concern from shared memory, whose layout TMA shares. mma.sync takes all from registers, so that
// each of its maps is found relative to the other two, which are taken as documented.
//
// Series `map`, axes register x lane (of wgmma thread, 0..127) [x element of the register]: the
// element's row * columns + column in A (M x K), B (K x N) or D (M x N); NaN where a register is
// none. Parameters `rows` and `columns` say what of. `matches_ptx_isa` is 1 where the map is the
// documented one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/element.hpp"
#include "probes/numerics/mma_runner.hpp"

namespace {

using namespace assay;
using namespace assay::numerics;
using numerics::Operand;

struct Map {
  MmaInstruction instruction;
  Operand operand;
};

const char* letter(Operand operand) {
  return operand == Operand::a ? "a" : operand == Operand::b ? "b" : "d";
}

std::vector<Map> maps() {
  std::vector<Map> all;
  const auto mma_sync = [&](const char* element, const char* accumulator, int m, int k) {
    for (const Operand operand : {Operand::a, Operand::b, Operand::d})
      all.push_back({{Family::mma_sync, element, accumulator, m, 8, k}, operand});
  };
  for (const int k : {8, 16}) mma_sync("f16", "f32", 16, k);
  mma_sync("bf16", "f32", 16, 16);
  for (const int k : {4, 8}) mma_sync("tf32", "f32", 16, k);
  for (const int k : {16, 32}) mma_sync("s8", "s32", 16, k);
  mma_sync("e4m3", "f32", 16, 32);
  mma_sync("f64", "f64", 8, 4);
  for (const int k : {4, 8, 16}) mma_sync("f64", "f64", 16, k);
  all.push_back({{Family::mma_sync, "f16", "f16", 16, 8, 16}, Operand::d});

  struct Type {
    const char *element, *accumulator;
    int k;
  };
  for (const Type& type : {Type{"f16", "f32", 16},
                           {"bf16", "f32", 16},
                           {"tf32", "f32", 8},
                           {"e4m3", "f32", 32},
                           {"s8", "s32", 32}}) {
    all.push_back({{Family::wgmma, type.element, type.accumulator, 64, 8, type.k}, Operand::a});
    for (const int n : {8, 64, 256})
      if (n == 8 || type.element == std::string("f16"))
        all.push_back(
            {{Family::wgmma, type.element, type.accumulator, 64, n, type.k, false}, Operand::d});
  }
  all.push_back({{Family::wgmma, "f16", "f16", 64, 64, 16, false}, Operand::d});
  return all;
}

std::string case_name(const Map& map) {
  const MmaInstruction& i = map.instruction;
  return fmt::format("{}/{}/{}/{}{}", i.family_name(), i.element, i.shape(), letter(map.operand),
                     i.accumulator == "f16" ? "/acc_f16" : "");
}

const Map& map_of(const Case& c) {
  static const std::vector<Map> all = maps();
  for (const Map& map : all)
    if (case_name(map) == c.name) return map;
  throw std::logic_error("a case of an unknown map");
}

class Discovery {
 public:
  Discovery(State& s, const Map& map)
      : i_(map.instruction), operand_(map.operand), runner_(s, map.instruction, "mma") {}

  // Of every slot, in their order; none where the register is nothing's.
  std::vector<std::optional<Position>> positions() const {
    return operand_ == Operand::d ? of_accumulators() : of_inputs();
  }

 private:
  Bits input(double value) const { return pack(i_.element, element_bits(i_.element), value); }
  double output(Bits bits) const { return unpack(i_.accumulator, bits); }
  const BlockLayout& layout() const { return runner_.layout(); }

  // D[row][column] = the row (or the column): the factors of each power of two share it, since s8
  // has no 128.
  MmaRunner::Block numbered(bool by_row) const {
    MmaRunner::Block block = runner_.empty_block();
    const auto factor = [&](Operand operand, int at, int k) {
      const bool counted = (operand == Operand::a) == by_row;
      const double weight = std::exp2(counted ? k / 2 : k - k / 2);
      return input(counted ? (at >> k & 1) * weight : weight);
    };
    for (int k = 0; k < std::min(i_.k, 8); ++k) {
      for (int row = 0; row < i_.m; ++row)
        layout().put(block, Operand::a, {row, k}, factor(Operand::a, row, k));
      for (int column = 0; column < i_.n; ++column)
        layout().put(block, Operand::b, {k, column}, factor(Operand::b, column, k));
    }
    return block;
  }

  std::vector<std::optional<Position>> of_accumulators() const {
    const auto found = runner_.run({numbered(true), numbered(false)});
    std::vector<std::optional<Position>> positions;
    for (const Slot slot : i_.slots(operand_)) {
      const double row = output(layout().get_slot(found[0], slot));
      const double column = output(layout().get_slot(found[1], slot));
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
    MmaRunner::Block frame = runner_.empty_block();
    for (int k = 0; k < i_.k; ++k)
      for (int at = 0; at <= last; ++at) {
        const Bits bits = input(at == last ? 1 : k >> at & 1);
        if (of_a)
          layout().put(frame, Operand::b, {k, at}, bits);
        else
          layout().put(frame, Operand::a, {at, k}, bits);
      }
    std::vector<MmaRunner::Block> blocks;
    for (const Slot slot : i_.slots(operand_)) {
      blocks.push_back(frame);
      layout().put_slot(blocks.back(), operand_, slot, input(1));
    }
    std::vector<std::optional<Position>> positions;
    for (const auto& result : runner_.run(blocks)) positions.push_back(decode(result, last));
    return positions;
  }

  std::optional<Position> decode(const std::vector<std::byte>& result, int last) const {
    const bool of_a = operand_ == Operand::a;
    const auto at = [&](int line, int place) {  // of D, or of its transpose
      return output(layout().get(result, of_a ? Position{line, place} : Position{place, line}));
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
  MmaRunner runner_;
};

std::vector<Value> numbers(int count) {
  std::vector<Value> all;
  for (std::int64_t i = 0; i < count; ++i) all.emplace_back(i);
  return all;
}

void run(State& s) {
  const Map& map = map_of(s.which());
  const MmaInstruction& i = map.instruction;
  const auto found = Discovery(s, map).positions();
  const std::vector<Slot> slots = i.slots(map.operand);
  const Fragment fragment = i.fragment(map.operand);
  const int columns = i.columns(map.operand);
  Series series{.name = "map",
                .unit = "row * columns + column",
                .axes = {{"register", numbers(fragment.registers)},
                         {i.wgmma() ? "thread" : "lane", numbers(i.threads())}},
                .values = {}};
  if (fragment.elements > 1) series.axes.push_back({"element", numbers(fragment.elements)});
  int differing = 0;
  for (std::size_t at = 0; at < slots.size(); ++at) {
    series.values.push_back(found[at] ? found[at]->row * columns + found[at]->column
                                      : std::nan(""));
    const Position documented = documented_position(i, map.operand, slots[at]);
    if (found[at] == documented || differing++ > 0) continue;
    const std::string where =
        found[at] ? fmt::format("row {}, column {}", found[at]->row, found[at]->column) : "none";
    s.set_param("first_difference",
                fmt::format("thread {}, register {}, element {} holds {}, documented is row {}, "
                            "column {}",
                            slots[at].thread, slots[at].reg, slots[at].element, where,
                            documented.row, documented.column));
  }
  s.add_exact("matches_ptx_isa", "", Better::higher, differing == 0);
  s.add_series(std::move(series));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Map& map : maps()) {
    const MmaInstruction& i = map.instruction;
    all.push_back({.name = case_name(map),
                   .params = {{"a", i.element},
                              {"accumulate", i.accumulator},
                              {"shape", i.shape()},
                              {"operand", letter(map.operand)},
                              {"rows", std::int64_t{i.rows(map.operand)}},
                              {"columns", std::int64_t{i.columns(map.operand)}}},
                   .targets = targets_of(i),
                   .suite = Suite::full});
  }
  return all;
}

const Registration registration{{
    .name = "numerics/fragment",
    .question = "Which thread and register of an MMA holds which element of A, B and D?",
    .cases = cases(),
    .kernels =
        [](const Case& c, Target target) {
          return std::vector{single_mma_kernel(map_of(c).instruction, "mma", target)};
        },
    .run = run,
}};

}  // namespace
