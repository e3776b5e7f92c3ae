// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/mma_instruction.hpp"

#include <fmt/format.h>

#include "harness/element.hpp"
#include "harness/model/matrix/layout/fragment.hpp"
#include "harness/ptx/descriptor/swizzle.hpp"

namespace assay::numerics {

namespace matrix = model::matrix;

namespace {

constexpr int kRowBytes = 32;  // K of every wgmma and tcgen05.mma here

}  // namespace

const std::string& MmaInstruction::type_of(Operand operand) const {
  return operand == Operand::d ? accumulator : element;
}

bool MmaInstruction::in_registers(Operand operand) const {
  if (operand == Operand::d || !asynchronous()) return true;
  return operand == Operand::a && a_in_registers;
}

Fragment MmaInstruction::fragment(Operand operand) const {
  const int elements = register_bytes() * 8 / element_bits(type_of(operand));
  return {rows(operand) * columns(operand) / threads() / elements, elements};
}

std::vector<Slot> MmaInstruction::slots(Operand operand) const {
  const Fragment all = fragment(operand);
  std::vector<Slot> slots;
  for (int reg = 0; reg < all.registers; ++reg)
    for (int thread = 0; thread < threads(); ++thread)
      for (int element = 0; element < all.elements; ++element)
        slots.push_back({thread, reg, element});
  return slots;
}

std::string MmaInstruction::shape() const { return fmt::format("m{}n{}k{}", m, n, k); }

std::string MmaInstruction::family_name() const {
  switch (family) {
    case Family::mma_sync:
      return "mma_sync";
    case Family::wgmma:
      return "wgmma";
    case Family::tcgen05:
      return "tcgen05";
  }
  return "";
}

std::string MmaInstruction::type_name() const {
  return fmt::format("{}/{}{}", family_name(), element, accumulator == "f16" ? "/acc_f16" : "");
}

Position documented_position(const MmaInstruction& instruction, Operand operand, Slot slot) {
  if (instruction.family == Family::tcgen05 && operand == Operand::d)
    return {slot.thread, slot.reg};
  const int elements = instruction.fragment(operand).elements;
  const matrix::Slot there{slot.thread, slot.reg, slot.element};
  switch (operand) {
    case Operand::a: {
      const auto [row, column] = matrix::position_in_a(instruction.m, elements, there);
      return {row, column};
    }
    case Operand::b: {  // the model's B is [n][k]
      const auto [column, row] = matrix::position_in_b(elements, there);
      return {row, column};
    }
    case Operand::d:
      break;
  }
  const auto [row, column] = matrix::position_in_d(instruction.m, elements, there);
  return {row, column};
}

int tile_bytes(const MmaInstruction& instruction) {
  if (!instruction.asynchronous()) return 0;
  return (instruction.n + (instruction.a_in_registers ? 0 : instruction.m)) * kRowBytes;
}

int tile_offset(const MmaInstruction& instruction, Operand operand, Position position) {
  const bool in_a = operand == Operand::a;
  const int along_k = in_a ? position.column : position.row;
  const int row = in_a ? position.row : position.column;
  const int first = in_a || instruction.a_in_registers ? 0 : instruction.m;
  const int bytes = (first + row) * kRowBytes + along_k * element_bits(instruction.element) / 8;
  return static_cast<int>(
      ptx::swizzle_offset(ptx::Swizzle::bytes32, static_cast<std::uint32_t>(bytes)));
}

}  // namespace assay::numerics
