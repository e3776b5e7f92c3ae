// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/fp8_permutation.hpp"

#include <fmt/format.h>

#include "probes/numerics/mma_instruction.hpp"

namespace assay::numerics {
namespace {

constexpr int kBlocks = 4;  // k32 in a tile of 128 columns

const MmaInstruction& instruction() {
  static const MmaInstruction e4m3{Family::wgmma, "e4m3", "f32", 64, 32, 32};
  return e4m3;
}

}  // namespace

const char* name(Permutation permutation) {
  switch (permutation) {
    case Permutation::shuffle:
      return "shuffle";
    case Permutation::byte_permute:
      return "byte_permute";
    case Permutation::permute_other_operand:
      return "permute_other_operand";
  }
  return "";
}

Source source_of(int lane, int a_register, int element) {
  const Position wanted =
      documented_position(instruction(), Operand::a, {lane, a_register, element});
  for (const Slot slot : instruction().slots(Operand::d))
    if (documented_position(instruction(), Operand::d, slot) == wanted)
      return {slot.thread % 4, slot.reg};
  return {-1, -1};
}

// Registers 0 and 1 of A are rows g and g + 8 of the first 16 columns, 2 and 3 of the last 16. Of
// an n8 block, accumulators 0 and 1 are row g, 2 and 3 row g + 8.
int packed_register(int a_register, int element) {
  const int half = a_register / 2, row = a_register % 2;
  const int n8 = 2 * half + element / 2;
  return 4 * n8 + 2 * row + element % 2;
}

std::array<int, 32> other_operand_order() {
  std::array<int, 32> order{};
  for (const Slot slot : instruction().slots(Operand::a)) {
    const int k = documented_position(instruction(), Operand::a, slot).column;
    const Slot packed{slot.thread, packed_register(slot.reg, slot.element), 0};
    order[static_cast<std::size_t>(k)] =
        documented_position(instruction(), Operand::d, packed).column;
  }
  return order;
}

std::string permutation_declarations() {
  return "  .reg .f32 %s<64>, %scale, %low, %high;\n"
         "  .reg .b16 %pair<2>;\n  .reg .b32 %a<16>, %w<2>, %x, %y;\n"
         "  .reg .pred %odd, %upper;\n"
         "  .reg .b32 %quad_lane, %bit, %from_x, %from_y, %from_first, %from_second, %take, "
         "%send_x, %send_y, %put_low, "
         "%put_high;\n";
}

// Lane t of a quad gets a word's halves from lanes 2 (t & 1) and one more: the low halves if t < 2,
// the high ones otherwise. Selectors of prmt number the bytes of both operands, low ones first.
//
// With byte permutes: even lanes first send the low halves of both words, then the high ones; odd
// lanes the other way round. So each lane of the quad sends, and each receives, what is needed, in
// two shuffles; lanes 2 and 3 receive the two parts in reverse.
std::string permutation_setup() {
  return "  and.b32 %quad_lane, %thread, 3;\n"
         "  and.b32 %bit, %quad_lane, 1;\n"
         "  setp.ne.u32 %odd, %bit, 0;\n"
         "  setp.ge.u32 %upper, %quad_lane, 2;\n"
         "  selp.b32 %take, 0x7632, 0x5410, %upper;\n"
         "  selp.b32 %send_x, 0x7632, 0x5410, %odd;\n"
         "  selp.b32 %send_y, 0x5410, 0x7632, %odd;\n"
         "  selp.b32 %put_low, 0x1054, 0x5410, %upper;\n"
         "  selp.b32 %put_high, 0x3276, 0x7632, %upper;\n"
         "  shl.b32 %from_x, %bit, 1;\n"
         "  add.u32 %from_y, %from_x, 1;\n"
         "  selp.b32 %from_first, %from_y, %from_x, %upper;\n"
         "  selp.b32 %from_second, %from_x, %from_y, %upper;\n";
}

std::string convert(Permutation permutation) {
  constexpr int kQuad = 0x1c1f;  // shuffles stay within four lanes: PTX ISA 9.0, shfl.sync
  std::string text;
  const auto pack = [&](const std::string& to, int block, int a_register) {
    for (int pair = 0; pair < 2; ++pair) {
      const int low = 16 * block + packed_register(a_register, 2 * pair);
      text += fmt::format(
          "  mul.rn.f32 %low, %s{}, %scale;\n"
          "  mul.rn.f32 %high, %s{}, %scale;\n"
          "  cvt.rn.satfinite.e4m3x2.f32 %pair{}, %high, %low;\n",
          low, low + 1, pair);
    }
    text += fmt::format("  mov.b32 {}, {{%pair0, %pair1}};\n", to);
  };
  const auto shuffle = [&](const std::string& to, const std::string& what, const char* from) {
    text += fmt::format("  shfl.sync.idx.b32 {}, {}, {}, {}, 0xffffffff;\n", to, what, from, kQuad);
  };
  const auto permute = [&](const std::string& to, const std::string& from, const char* selector) {
    text += fmt::format("  prmt.b32 {}, {}, {};\n", to, from, selector);
  };
  for (int block = 0; block < kBlocks; ++block)
    for (int row = 0; row < 2; ++row) {
      const std::string first = fmt::format("%a{}", 4 * block + row);
      const std::string second = fmt::format("%a{}", 4 * block + row + 2);
      if (permutation == Permutation::permute_other_operand) {
        pack(first, block, row);
        pack(second, block, row + 2);
        continue;
      }
      pack("%w0", block, row);
      pack("%w1", block, row + 2);
      if (permutation == Permutation::shuffle) {
        for (const auto& [to, word] : {std::pair{first, "%w0"}, {second, "%w1"}}) {
          shuffle("%x", word, "%from_x");
          shuffle("%y", word, "%from_y");
          permute(to, "%x, %y", "%take");
        }
        continue;
      }
      permute("%x", "%w0, %w1", "%send_x");
      permute("%y", "%w0, %w1", "%send_y");
      shuffle("%x", "%x", "%from_first");
      shuffle("%y", "%y", "%from_second");
      permute(first, "%x, %y", "%put_low");
      permute(second, "%x, %y", "%put_high");
    }
  return text;
}

int shuffles(Permutation permutation) {
  return permutation == Permutation::shuffle        ? 32
         : permutation == Permutation::byte_permute ? 16
                                                    : 0;
}

int byte_permutes(Permutation permutation) {
  return permutation == Permutation::shuffle        ? 16
         : permutation == Permutation::byte_permute ? 32
                                                    : 0;
}

}  // namespace assay::numerics
