// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of one warp: mma.sync, ldmatrix, stmatrix, movmatrix. PTX ISA 9.0, "Warp
// Level Matrix Multiply-Accumulate Instructions".
#include <array>
#include <string_view>

#include "harness/model/matrix/layout/matrix_move.hpp"
#include "harness/model/matrix/mma_form.hpp"
#include "harness/model/semantics/lanes.hpp"

namespace assay::model {
namespace {

std::vector<std::string_view> words(const Instruction& i) {
  return {i.parts.begin(), i.parts.end()};
}

// Hopper's sums for sm_90, the exact ones for what no chip was at hand for.
matrix::Machine machine_of(Decoder& d) {
  const std::string& target = d.target();
  if (target.starts_with("sm_90")) return matrix::Machine::hopper;
  return target.starts_with("sm_8") ? matrix::Machine::ada : matrix::Machine::blackwell;
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
    if (!converged(w, m)) return Next::blocked;
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
    if (!converged(w, m)) return Next::blocked;
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
    if (!converged(w, m)) return Next::blocked;
    std::array<matrix::Word, 32> from{}, to{};
    for (std::size_t l = 0; l < 32; ++l) from[l] = static_cast<matrix::Word>(w.reg(in)[l]);
    matrix::move_matrix(from, to);
    for (std::size_t l = 0; l < 32; ++l) w.reg(out)[l] = to[l];
    return Next::step;
  };
}

// mma.sync of 32-bit registers (all but f64).
Next multiply_words(Warp& w, const matrix::MmaForm& f, const std::vector<int>& out,
                    const std::vector<int>& a, const std::vector<int>& b,
                    const std::vector<int>& c) {
  const auto& x = f.arithmetic;
  const auto gather = [&](const matrix::Fragment& fragment, const std::vector<int>& slots) {
    std::vector<matrix::Word> elements(
        static_cast<std::size_t>(fragment.rows() * fragment.columns()));
    fragment.gather<matrix::Word>(
        [&](int lane, int reg) {
          return static_cast<matrix::Word>(w.reg(slots[static_cast<std::size_t>(reg)])[lane]);
        },
        elements);
    return elements;
  };
  const auto am = gather(f.a, a), bm = gather(f.b, b), cm = gather(f.c, c);
  std::vector<matrix::Word> dm(static_cast<std::size_t>(x.m * x.n));
  matrix::multiply(x, {am, bm, cm}, dm);
  f.d.scatter<matrix::Word>(dm, [&](int lane, int reg, matrix::Word v) {
    w.reg(out[static_cast<std::size_t>(reg)])[lane] = v;
  });
  return Next::step;
}

Next multiply_doubles(Warp& w, const matrix::MmaForm& f, const std::vector<int>& out,
                      const std::vector<int>& a, const std::vector<int>& b,
                      const std::vector<int>& c) {
  const auto gather = [&](const matrix::Fragment& fragment, const std::vector<int>& slots) {
    std::vector<std::uint64_t> elements(
        static_cast<std::size_t>(fragment.rows() * fragment.columns()));
    fragment.gather<std::uint64_t>(
        [&](int lane, int reg) { return w.reg(slots[static_cast<std::size_t>(reg)])[lane]; },
        elements);
    return elements;
  };
  const auto am = gather(f.a, a), bm = gather(f.b, b), cm = gather(f.c, c);
  std::vector<std::uint64_t> dm(static_cast<std::size_t>(f.arithmetic.m * f.arithmetic.n));
  matrix::multiply_f64(f.arithmetic, am, bm, cm, dm);
  f.d.scatter<std::uint64_t>(dm, [&](int lane, int reg, std::uint64_t v) {
    w.reg(out[static_cast<std::size_t>(reg)])[lane] = v;
  });
  return Next::step;
}

Action multiply(Decoder& d, const Instruction& i) {
  const auto parts = words(i);
  const matrix::MmaForm f = matrix::mma_form(machine_of(d), parts);
  if (f.sparsity || f.quad_pairs || f.arithmetic.scale != matrix::Scale::none)
    throw Violation("model.unknown", "this form of mma is not yet executed by the model");
  const auto out = d.destinations(i.operands.at(0)), a = d.sources(i.operands.at(1)),
             b = d.sources(i.operands.at(2)), c = d.sources(i.operands.at(3));
  const auto fits = [](const matrix::Fragment& fragment, const std::vector<int>& slots) {
    return static_cast<int>(slots.size()) == fragment.registers();
  };
  if (!fits(f.a, a) || !fits(f.b, b) || !fits(f.c, c) || !fits(f.d, out))
    throw Violation("mma.registers", "the counts of registers are not those of the instruction");
  const bool doubles = f.arithmetic.a == matrix::Type::f64;
  return [=](Warp& w, Mask m) {
    if (!converged(w, m)) return Next::blocked;
    return doubles ? multiply_doubles(w, f, out, a, b, c) : multiply_words(w, f, out, a, b, c);
  };
}

}  // namespace

void add_matrix(Meanings& all) {
  all.add("ldmatrix", load_matrix);
  all.add("stmatrix", store_matrix);
  all.add("movmatrix", move_matrix);
  all.add("mma", multiply);
}

}  // namespace assay::model
