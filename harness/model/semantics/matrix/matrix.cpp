// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of one warp: mma.sync, ldmatrix, stmatrix, movmatrix. PTX ISA 9.0, "Warp
// Level Matrix Multiply-Accumulate Instructions".
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "harness/model/matrix/layout/block_scale.hpp"
#include "harness/model/matrix/layout/matrix_move.hpp"
#include "harness/model/matrix/mma_form.hpp"
#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/matrix/target.hpp"

namespace assay::model {
namespace {

std::vector<std::string_view> words(const Instruction& i) {
  return {i.parts.begin(), i.parts.end()};
}

Action load_matrix(Decoder& d, const Instruction& i) {
  const auto parts = words(i);
  const matrix::MatrixMove move = matrix::matrix_move(parts);
  const auto out = d.destinations(i.operands.at(0));
  const AddressOperand at = d.address(i.operands.at(1));
  if (static_cast<int>(out.size()) != move.registers())
    throw Violation("ldmatrix.registers", "the instruction fills " +
                                              std::to_string(move.registers()) +
                                              " registers, not " + std::to_string(out.size()));
  const bool generic = i.opcode.find(".shared") == std::string::npos;
  return [=](Warp& w, Mask m) {
    if (!whole_warp(w, m)) return Next::blocked;
    std::vector<std::uint8_t> rows(static_cast<std::size_t>(move.rows()) * 16);
    for (int row = 0; row < move.rows(); ++row)
      w.run->load(w, row, generic ? Space::generic : Space::shared, address_at(w, at, row),
                  rows.data() + row * 16, 16);
    std::vector<matrix::Word> registers(static_cast<std::size_t>(move.registers()) * 32);
    matrix::load_matrix(move, rows, registers);
    for (std::size_t r = 0; r < out.size(); ++r)
      for (std::size_t l = 0; l < 32; ++l) w.reg(out[r])[l] = registers[r * 32 + l];
    return Next::step;
  };
}

Action store_matrix(Decoder& d, const Instruction& i) {
  const auto parts = words(i);
  const matrix::MatrixMove move = matrix::matrix_move(parts);
  const AddressOperand at = d.address(i.operands.at(0));
  const auto in = d.sources(i.operands.at(1));
  if (static_cast<int>(in.size()) != move.registers())
    throw Violation("stmatrix.registers", "the instruction takes " +
                                              std::to_string(move.registers()) +
                                              " registers, not " + std::to_string(in.size()));
  const bool generic = i.opcode.find(".shared") == std::string::npos;
  return [=](Warp& w, Mask m) {
    if (!whole_warp(w, m)) return Next::blocked;
    std::vector<matrix::Word> registers(static_cast<std::size_t>(move.registers()) * 32);
    for (std::size_t r = 0; r < in.size(); ++r)
      for (std::size_t l = 0; l < 32; ++l)
        registers[r * 32 + l] = static_cast<matrix::Word>(w.reg(in[r])[l]);
    std::vector<std::uint8_t> rows(static_cast<std::size_t>(move.rows()) * 16);
    matrix::store_matrix(move, registers, rows);
    for (int row = 0; row < move.rows(); ++row)
      w.run->store(w, row, generic ? Space::generic : Space::shared, address_at(w, at, row),
                   rows.data() + row * 16, 16);
    return Next::step;
  };
}

Action move_matrix(Decoder& d, const Instruction& i) {
  const int out = d.destination(i.operands.at(0)), in = d.source(i.operands.at(1));
  return [=](Warp& w, Mask m) {
    if (!whole_warp(w, m)) return Next::blocked;
    std::array<matrix::Word, 32> from{}, to{};
    for (std::size_t l = 0; l < 32; ++l) from[l] = static_cast<matrix::Word>(w.reg(in)[l]);
    matrix::move_matrix(from, to);
    for (std::size_t l = 0; l < 32; ++l) w.reg(out)[l] = to[l];
    return Next::step;
  };
}

// Registers that hold the scales of one operand, and those that say which of them are meant.
struct Scales {
  int data = -1, byte_id = -1, thread_id = -1;
};

struct Mma {
  matrix::MmaForm form;
  std::vector<int> d, a, b, c;
  int metadata = -1, selector = 0;  // of a sparse form
  Scales scale_a, scale_b;          // of a block-scaled one
};

using Lanes = std::array<matrix::Word, 32>;

Lanes lanes_of(Warp& w, int slot) {
  Lanes values{};
  for (std::size_t l = 0; l < 32; ++l) values[l] = static_cast<matrix::Word>(w.reg(slot)[l]);
  return values;
}

// The elements of an operand. `lane` tells which lane of the warp a thread of the fragment is.
template <class Element, class LaneOf>
std::vector<Element> gathered(Warp& w, const matrix::Fragment& fragment,
                              const std::vector<int>& slots, const LaneOf& lane) {
  std::vector<Element> elements(static_cast<std::size_t>(fragment.rows() * fragment.columns()));
  fragment.gather<Element>(
      [&](int thread, int reg) {
        return static_cast<Element>(w.reg(slots[static_cast<std::size_t>(reg)])[lane(thread)]);
      },
      elements);
  return elements;
}

template <class Element, class LaneOf>
void scatter(Warp& w, const Mma& x, const std::vector<Element>& elements, const LaneOf& lane) {
  x.form.d.scatter<Element>(elements, [&](int thread, int reg, Element v) {
    w.reg(x.d[static_cast<std::size_t>(reg)])[lane(thread)] = v;
  });
}

// One number that all lanes of the warp give.
int uniform(Warp& w, int slot, const char* what) {
  const Lanes values = lanes_of(w, slot);
  for (const matrix::Word value : values)
    if (value != values[0])
      throw Violation("mma.scale_selector",
                      std::string("lanes of a warp give different ") + what + "s");
  return static_cast<int>(values[0]);
}

matrix::ScaleSelector selector_of(Warp& w, const Scales& s) {
  return {.byte_id = uniform(w, s.byte_id, "byte-id"),
          .thread_id = uniform(w, s.thread_id, "thread-id")};
}

// Registers of 32 bits: all but f64.
template <class LaneOf>
void multiply_words(Warp& w, const Mma& x, const LaneOf& lane) {
  const auto& f = x.form;
  const auto& sums = f.arithmetic;
  const auto a = gathered<matrix::Word>(w, f.a, x.a, lane),
             b = gathered<matrix::Word>(w, f.b, x.b, lane),
             c = gathered<matrix::Word>(w, f.c, x.c, lane);
  matrix::Factors factors{.a = a, .b = b, .c = c};
  std::vector<std::uint8_t> columns;
  if (f.sparsity) {
    columns.resize(static_cast<std::size_t>(f.sparsity->rows * f.sparsity->stored()));
    matrix::select(*f.sparsity, x.selector, lanes_of(w, x.metadata), columns);
    factors.columns = columns;
  }
  std::vector<matrix::Word> scale_a, scale_b;
  if (const int count = sums.scales(); count > 0) {
    scale_a.resize(static_cast<std::size_t>(sums.m * count));
    scale_b.resize(static_cast<std::size_t>(sums.n * count));
    matrix::gather_scales_of_a(count, selector_of(w, x.scale_a), lanes_of(w, x.scale_a.data),
                               scale_a);
    matrix::gather_scales_of_b(count, selector_of(w, x.scale_b), lanes_of(w, x.scale_b.data),
                               scale_b);
    factors.scale_a = scale_a;
    factors.scale_b = scale_b;
  }
  std::vector<matrix::Word> d(static_cast<std::size_t>(sums.m * sums.n));
  matrix::multiply(sums, factors, d);
  scatter(w, x, d, lane);
}

void multiply_doubles(Warp& w, const Mma& x) {
  const auto lane = [](int thread) { return thread; };
  const auto& f = x.form;
  const auto a = gathered<std::uint64_t>(w, f.a, x.a, lane),
             b = gathered<std::uint64_t>(w, f.b, x.b, lane),
             c = gathered<std::uint64_t>(w, f.c, x.c, lane);
  std::vector<std::uint64_t> d(static_cast<std::size_t>(f.arithmetic.m * f.arithmetic.n));
  matrix::multiply_f64(f.arithmetic, a, b, c, d);
  scatter(w, x, d, lane);
}

Next execute(Warp& w, Mask m, const Mma& x) {
  if (!whole_warp(w, m)) return Next::blocked;
  if (x.form.arithmetic.a == matrix::Type::f64) {
    multiply_doubles(w, x);
  } else if (x.form.quad_pairs) {
    for (int pair = 0; pair < matrix::QuadPair::kPairs; ++pair)
      multiply_words(w, x, [&](int thread) { return matrix::QuadPair::lane(pair, thread); });
  } else {
    multiply_words(w, x, [](int thread) { return thread; });
  }
  return Next::step;
}

// scale-data, {byte-id, thread-id}
Scales scales_of(Decoder& d, const Operand& data, const Operand& which) {
  const auto registers = d.sources(data);
  const auto selector = d.sources(which, {Type::Kind::unsigned_, 16});
  if (registers.size() != 1 || selector.size() != 2)
    throw Violation("mma.registers",
                    "scales are one register, and {byte-id, thread-id} say which of them");
  return {.data = registers[0], .byte_id = selector[0], .thread_id = selector[1]};
}

// Chips that lack the form. PTX ISA 9.0, "mma" and "mma.sp": Target ISA Notes; of which of them
// have what part of kind::f8f6f4 the notes say nothing, and this is what ptxas 13.0 takes.
void check_target(Decoder& d, const matrix::MmaForm& f) {
  const FeatureSet features = features_of(d);
  const matrix::Type a = f.arithmetic.a, b = f.arithmetic.b;
  const auto has_8_bits = [](matrix::Type type) { return matrix::bits_of(type) == 8; };
  const bool sparse_f16 = f.sparsity && has_8_bits(a) && f.arithmetic.d == matrix::Type::f16;
  const auto need = [&](Feature feature, const std::string& what, const char* whose) {
    if (!features.contains(feature))
      throw Violation("mma.target",
                      what + " of mma.sync is for " + whose + ", not for " + d.target());
  };
  if (f.kind.starts_with("mx"))
    need(Feature::mma_block_scale, "'.kind::" + f.kind + "'", "sm_120a and its like");
  if (!f.kind.empty()) need(Feature::mma_kinds, "'.kind::" + f.kind + "'", "sm_100a and later");
  if (!f.kind.empty() && (!has_8_bits(a) || !has_8_bits(b)))
    need(Feature::mma_narrow_floats, "a type of 4 or 6 bits", "sm_120a and its like");
  if (sparse_f16)
    need(Feature::mma_narrow_floats, "a sparse 8-bit product with sums in f16",
         "sm_120a and its like");
  if ((!f.kind.empty() || sparse_f16) && d.target().back() != 'a' && d.target().back() != 'f')
    throw Violation("mma.target", "this mma.sync is for targets of one architecture or family, " +
                                      d.target() + "a or " + d.target() + "f");
  if (a == matrix::Type::f64 && f.arithmetic.m == 16)
    need(Feature::mma_f64_m16, "f64 with 16 rows", "sm_90 and later");
}

// d, a, b, c [, metadata, selector] [, scales of a, {byte-id, thread-id}, scales of b, {..}]
Action multiply(Decoder& d, const Instruction& i) {
  const auto parts = words(i);
  auto x = std::make_shared<Mma>();
  x->form = matrix::mma_form(machine_of(d), parts);
  const matrix::MmaForm& f = x->form;
  check_target(d, f);
  x->d = d.destinations(i.operands.at(0));
  x->a = d.sources(i.operands.at(1));
  x->b = d.sources(i.operands.at(2));
  x->c = d.sources(i.operands.at(3));
  const auto fits = [](const matrix::Fragment& fragment, const std::vector<int>& slots) {
    return static_cast<int>(slots.size()) == fragment.registers();
  };
  if (!fits(f.a, x->a) || !fits(f.b, x->b) || !fits(f.c, x->c) || !fits(f.d, x->d))
    throw Violation("mma.registers", "the counts of registers are not those of the instruction");
  std::size_t next = 4;
  if (f.sparsity) {
    x->metadata = d.source(i.operands.at(next++));
    x->selector =
        static_cast<int>(Decoder::immediate(i.operands.at(next++), "the sparsity selector"));
    if (x->selector < 0 || x->selector >= f.sparsity->selectors())
      throw Violation("sparse.selector", "the sparsity selector is " + std::to_string(x->selector) +
                                             ", but less than " +
                                             std::to_string(f.sparsity->selectors()) +
                                             " for this shape and type");
  }
  if (f.arithmetic.scale != matrix::Scale::none) {
    x->scale_a = scales_of(d, i.operands.at(next), i.operands.at(next + 1));
    x->scale_b = scales_of(d, i.operands.at(next + 2), i.operands.at(next + 3));
    next += 4;
  }
  if (i.operands.size() > next)
    throw Violation("mma.registers", "the instruction has " + std::to_string(next) +
                                         " operands, not " + std::to_string(i.operands.size()));
  return [x](Warp& w, Mask m) { return execute(w, m, *x); };
}

}  // namespace

void add_matrix(Meanings& all) {
  all.add("ldmatrix", load_matrix);
  all.add("stmatrix", store_matrix);
  all.add("movmatrix", move_matrix);
  all.add("mma", multiply);
}

}  // namespace assay::model
