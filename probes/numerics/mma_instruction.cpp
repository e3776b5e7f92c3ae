// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/mma_instruction.hpp"

#include <fmt/format.h>

#include "harness/element.hpp"
#include "harness/ptx/matrix_descriptor.hpp"
#include "harness/ptx_text.hpp"

namespace assay::numerics {
namespace {

constexpr int kRowBytes = 32;  // K of every wgmma

std::string registers_of(const std::string& name, int count) {
  std::string text;
  for (int r = 0; r < count; ++r) text += fmt::format("{}%{}{}", r ? ", " : "", name, r);
  return text;
}

}  // namespace

const std::string& MmaInstruction::type_of(Operand operand) const {
  return operand == Operand::d ? accumulator : element;
}

bool MmaInstruction::in_registers(Operand operand) const {
  if (operand == Operand::d || !wgmma()) return true;
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

std::string MmaInstruction::type_name() const {
  return fmt::format("{}/{}{}", family_name(), element, accumulator == "f16" ? "/acc_f16" : "");
}

Position documented_position(const MmaInstruction& instruction, Operand operand, Slot slot) {
  const int warp = slot.thread / 32, quad = slot.thread % 32 / 4, lane = slot.thread % 4;
  const int halves = instruction.m == 8 ? 1 : 2;  // eight rows each, of the warp's
  const int elements = instruction.fragment(operand).elements;
  const int row = 16 * warp + quad;
  const auto along_k = [&](int reg) { return elements * (4 * reg + lane) + slot.element; };
  switch (operand) {
    case Operand::a:
      return {row + 8 * (slot.reg % halves), along_k(slot.reg / halves)};
    case Operand::b:
      return {along_k(slot.reg), quad};
    case Operand::d:
      break;
  }
  const int index = slot.reg * elements + slot.element;
  return {row + 8 * (index / 2 % halves), 8 * (index / 2 / halves) + 2 * lane + index % 2};
}

int tile_bytes(const MmaInstruction& instruction) {
  if (!instruction.wgmma()) return 0;
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

int MmaPtx::operand_bytes() const {
  int registers = 0;
  for (const Operand operand : {Operand::a, Operand::b})
    if (instruction.in_registers(operand)) registers += instruction.fragment(operand).registers;
  return tile_bytes(instruction) + registers * instruction.threads() * instruction.register_bytes();
}

int MmaPtx::result_bytes() const {
  return instruction.fragment(Operand::d).registers * instruction.threads() *
         instruction.register_bytes();
}

int MmaPtx::block_bytes() const { return operand_bytes() + result_bytes(); }

std::string MmaPtx::declarations() const {
  const char* type = instruction.element == "f64" ? "f64" : "b32";
  std::string text = "  .reg .b64 %mine, %result;\n";
  if (instruction.wgmma())
    text += fmt::format(
        "  .shared .align 1024 .b8 tile[{}];\n"
        "  .reg .pred %add;\n  .reg .b32 %tile, %at;\n  .reg .b64 %from, %desc_a, %desc_b;\n",
        tile_bytes(instruction));
  for (const auto& [operand, name] :
       {std::pair{Operand::a, "a"}, {Operand::b, "b"}, {Operand::d, "d"}})
    if (instruction.in_registers(operand))
      text +=
          fmt::format("  .reg .{} %{}<{}>;\n", type, name, instruction.fragment(operand).registers);
  return text;
}

std::string MmaPtx::setup() const {
  std::string text = fmt::format(
      "  mad.wide.u32 %mine, %thread, {0}, %in;\n"
      "  mad.wide.u32 %result, %thread, {0}, %out;\n",
      instruction.register_bytes());
  if (!instruction.wgmma()) return text;
  // A K-major operand: eight rows of 32 bytes are one swizzle atom, the next eight follow.
  const std::uint64_t a = ptx::encode({0, 16, 8 * kRowBytes, ptx::Swizzle::bytes32});
  const int first = instruction.a_in_registers ? 0 : instruction.m * kRowBytes;
  return text + fmt::format(
                    "  mov.u32 %tile, tile;\n"
                    "  setp.ne.u32 %add, 1, 0;\n"
                    "  shr.u32 %at, %tile, 4;\n  cvt.u64.u32 %from, %at;\n"
                    "  add.u64 %desc_a, %from, {};\n  add.u64 %desc_b, %from, {};\n",
                    a, ptx::advance(a, static_cast<std::uint32_t>(first)));
}

std::string MmaPtx::load_operands() const {
  std::string text;
  // The tile's last readers are done, since they waited for their MMA.
  if (instruction.wgmma())
    text += "  bar.sync 0;\n" + load_tile(tile_bytes(instruction), instruction.threads()) +
            "  bar.sync 0;\n";
  const int bytes = instruction.register_bytes();
  int offset = tile_bytes(instruction);
  for (const auto& [operand, name] : {std::pair{Operand::a, "a"}, {Operand::b, "b"}}) {
    if (!instruction.in_registers(operand)) continue;
    for (int r = 0; r < instruction.fragment(operand).registers; ++r) {
      text += fmt::format("  ld.global.b{} %{}{}, [%mine+{}];\n", bytes * 8, name, r, offset);
      offset += instruction.threads() * bytes;
    }
  }
  return text;
}

std::string MmaPtx::load_c() const {
  std::string text;
  const int bytes = instruction.register_bytes();
  for (int r = 0; r < instruction.fragment(Operand::d).registers; ++r)
    text += fmt::format("  ld.global.b{} %d{}, [%mine+{}];\n", bytes * 8, r,
                        operand_bytes() + r * instruction.threads() * bytes);
  return text;
}

std::string MmaPtx::zero_c() const {
  std::string text;
  for (int r = 0; r < instruction.fragment(Operand::d).registers; ++r)
    text += fmt::format("  mov.b32 %d{}, 0;\n", r);
  return text;
}

std::string MmaPtx::multiply() const {
  const auto registers = [&](Operand operand, const char* name) {
    return "{" + registers_of(name, instruction.fragment(operand).registers) + "}";
  };
  const std::string d = registers(Operand::d, "d");
  const std::string types =
      fmt::format("{}.{}.{}", instruction.accumulator, instruction.element, instruction.element);
  if (!instruction.wgmma())
    return fmt::format("  mma.sync.aligned.{}.row.col.{}.{} {}, {}, {}, {};\n", instruction.shape(),
                       types, instruction.accumulator, d, registers(Operand::a, "a"),
                       registers(Operand::b, "b"), d);
  // The trailing zeros say "not transposed", which only 16-bit operands in shared memory can be.
  const bool sixteen = element_bits(instruction.element) == 16;
  std::string flags = instruction.element[0] == 's' ? "" : ", 1, 1";
  if (sixteen) flags += instruction.a_in_registers ? ", 0" : ", 0, 0";
  return fmt::format(
      "  wgmma.fence.sync.aligned;\n"
      "  wgmma.mma_async.sync.aligned.{}.{} {}, {}, %desc_b, %add{};\n"
      "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n",
      instruction.shape(), types, d,
      instruction.a_in_registers ? registers(Operand::a, "a") : "%desc_a", flags);
}

std::string MmaPtx::store_d(const std::string& registers) const {
  std::string text;
  const int bytes = instruction.register_bytes();
  for (int r = 0; r < instruction.fragment(Operand::d).registers; ++r)
    text += fmt::format("  st.global.b{} [%result+{}], %{}{};\n", bytes * 8,
                        r * instruction.threads() * bytes, registers, r);
  return text;
}

std::string MmaPtx::next_block(int bytes) const {
  return fmt::format("  add.u64 %in, %in, {0};\n  add.u64 %mine, %mine, {0};\n", bytes);
}

std::string MmaPtx::next_result() const {
  return fmt::format("  add.u64 %result, %result, {};\n", result_bytes());
}

}  // namespace assay::numerics
