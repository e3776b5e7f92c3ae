// SPDX-License-Identifier: Apache-2.0
// The PTX of one MMA, from operands in a block of memory to registers of D.
#include <fmt/format.h>

#include <stdexcept>

#include "harness/element.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"
#include "probes/numerics/mma_instruction.hpp"

namespace assay::numerics {
namespace {

namespace umma = ptx::tcgen05;

constexpr int kRowBytes = 32;

std::string registers_of(const std::string& name, int count) {
  std::string text;
  for (int r = 0; r < count; ++r) text += fmt::format("{}%{}{}", r ? ", " : "", name, r);
  return text;
}

umma::Instruction umma_instruction(const MmaInstruction& i) {
  using umma::Accumulator, umma::Element, umma::Kind;
  struct Type {
    const char* name;
    Kind kind;
    Element element;
  };
  constexpr Type kTypes[] = {
      {"f16", Kind::f16, Element::f16},      {"bf16", Kind::f16, Element::bf16},
      {"tf32", Kind::tf32, Element::tf32},   {"e4m3", Kind::f8f6f4, Element::e4m3},
      {"e5m2", Kind::f8f6f4, Element::e5m2}, {"s8", Kind::i8, Element::s8}};
  for (const Type& type : kTypes)
    if (i.element == type.name)
      return {.kind = type.kind,
              .a = type.element,
              .b = type.element,
              .m = i.m,
              .n = i.n,
              .d = i.accumulator == "s32" ? Accumulator::s32 : Accumulator::f32};
  throw std::logic_error("tcgen05 has no such type");
}

const char* kind_name(umma::Kind kind) {
  switch (kind) {
    case umma::Kind::tf32:
      return "tf32";
    case umma::Kind::f8f6f4:
      return "f8f6f4";
    case umma::Kind::i8:
      return "i8";
    default:
      return "f16";
  }
}

// %lanes: the first column of this warp's 32 lanes, which bits 16 and up of an address number.
std::string set_up_tensor_memory() {
  return "  mov.u32 %barrier, control;\n"
         "  add.u32 %slot, %barrier, 8;\n"
         "  @%lead mbarrier.init.shared::cta.b64 [%barrier], 1;\n"
         "  fence.mbarrier_init.release.cluster;\n" +
         allocate_tensor_memory("%slot") +
         "  shr.u32 %warp, %thread, 5;\n"
         "  shfl.sync.idx.b32 %warp, %warp, 0, 31, 0xffffffff;\n"  // now known to be the warp's
         "  setp.ne.u32 %idle, %warp, 0;\n"
         "  shl.b32 %lanes, %warp, 21;\n"
         "  add.u32 %lanes, %lanes, %tmem;\n"
         "  mov.u32 %parity, 0;\n";
}

// C goes to tensor memory, one lane of one warp multiplies, all wait, D comes back.
std::string multiply_in_tensor_memory(const MmaInstruction& i, const std::string& d) {
  const umma::Instruction what = umma_instruction(i);
  return fmt::format(
      "  tcgen05.st.sync.aligned.32x32b.x{0}.b32 [%lanes], {1};\n"
      "  tcgen05.wait::st.sync.aligned;\n"
      "  tcgen05.fence::before_thread_sync;\n"
      "  bar.sync 0;\n"
      "  tcgen05.fence::after_thread_sync;\n"
      "  @%idle bra issued;\n"
      "  elect.sync _|%elected, 0xffffffff;\n"
      "  @%elected tcgen05.mma.cta_group::1.kind::{2} [%tmem], %desc_a, %desc_b, {3}, %add;\n"
      "  @%elected tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
      "[%barrier];\n"
      "issued:\n"
      "wait:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 %done, [%barrier], %parity;\n"
      "  @!%done bra wait;\n"
      "  xor.b32 %parity, %parity, 1;\n"
      "  tcgen05.fence::after_thread_sync;\n"
      "  tcgen05.ld.sync.aligned.32x32b.x{0}.b32 {1}, [%lanes];\n"
      "  tcgen05.wait::ld.sync.aligned;\n"
      "  tcgen05.fence::before_thread_sync;\n",
      i.n, d, kind_name(what.kind), umma::instruction_descriptor(what));
}

}  // namespace

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
  if (instruction.asynchronous())
    text += fmt::format(
        "  .shared .align 1024 .b8 tile[{}];\n"
        "  .reg .pred %add;\n  .reg .b32 %tile, %at;\n  .reg .b64 %from, %desc_a, %desc_b;\n",
        tile_bytes(instruction));
  if (instruction.family == Family::tcgen05)
    text +=
        "  .shared .align 16 .b8 control[16];\n"  // a barrier, the address of tensor memory
        "  .reg .pred %idle, %elected, %done;\n"
        "  .reg .b32 %barrier, %slot, %warp, %lanes, %parity;\n";
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
  if (!instruction.asynchronous()) return text;
  // A K-major operand: eight rows of 32 bytes are one swizzle atom, the next eight follow.
  const ptx::MatrixDescriptor tile{0, 16, 8 * kRowBytes, ptx::Swizzle::bytes32};
  const bool tensor_memory = instruction.family == Family::tcgen05;
  const std::uint64_t a = tensor_memory ? umma::matrix_descriptor(tile) : ptx::encode(tile);
  const int first = instruction.a_in_registers ? 0 : instruction.m * kRowBytes;
  text += fmt::format(
      "  mov.u32 %tile, tile;\n"
      "  setp.ne.u32 %add, 1, 0;\n"
      "  shr.u32 %at, %tile, 4;\n  cvt.u64.u32 %from, %at;\n"
      "  add.u64 %desc_a, %from, {};\n  add.u64 %desc_b, %from, {};\n",
      a, ptx::advance(a, static_cast<std::uint32_t>(first)));
  return tensor_memory ? text + set_up_tensor_memory() : text;
}

std::string MmaPtx::load_operands() const {
  std::string text;
  // The tile's last readers are done, since they waited for their MMA.
  if (instruction.asynchronous())
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
  if (instruction.family == Family::tcgen05) return multiply_in_tensor_memory(instruction, d);
  const std::string types =
      fmt::format("{}.{}.{}", instruction.accumulator, instruction.element, instruction.element);
  if (instruction.family == Family::mma_sync)
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

std::string MmaPtx::finish() const {
  return instruction.family == Family::tcgen05 ? release_tensor_memory() : "";
}

std::string MmaPtx::next_block(int bytes) const {
  return fmt::format("  add.u64 %in, %in, {0};\n  add.u64 %mine, %mine, {0};\n", bytes);
}

std::string MmaPtx::next_result() const {
  return fmt::format("  add.u64 %result, %result, {};\n", result_bytes());
}

}  // namespace assay::numerics
