// SPDX-License-Identifier: Apache-2.0
// Which registers a thread may read before it has written them.
//
// A compiler names each value anew and leaves numbers out: kernels have thousands of registers, and
// to fill all of them for each warp took a tenth of a launch's time. Most are in no instruction.
// Most others are written before anything else is done with them, and are used in no other place of
// the code than where that is sure to have been done.
#include "harness/model/machine/first_use.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace assay::model {
namespace {

// Instructions that write all of their first operand, in each thread that executes them. (One that
// is missing here costs time, no more.)
constexpr std::array<std::string_view, 27> kWriters = {
    "abs",      "add",  "and",  "bfe",  "bfi", "cvt", "cvta", "fma", "ld",
    "ldmatrix", "lop3", "mad",  "max",  "min", "mov", "mul",  "neg", "not",
    "or",       "prmt", "selp", "setp", "shf", "shl", "shr",  "sub", "xor"};

bool writes_all(const Decoded& d) {
  const Instruction& i = *d.instruction;
  if (d.guard >= 0 || i.operands.empty()) return false;
  const Operand::Kind kind = i.operands[0].kind;
  return (kind == Operand::Kind::register_ || kind == Operand::Kind::vector) &&
         std::ranges::find(kWriters, i.parts[0]) != kWriters.end();
}

}  // namespace

std::vector<int> maybe_unwritten(const Program& program) {
  // Code from one label to the next: who is at an instruction has executed those before it.
  std::vector<bool> labelled(program.code.size() + 1);
  for (const Decoded& d : program.code) {
    if (d.instruction->target >= 0)
      labelled[static_cast<std::size_t>(d.instruction->target)] = true;
    for (const int target : d.instruction->targets)
      labelled[static_cast<std::size_t>(target)] = true;
  }
  enum class Seen : unsigned char { never, written_first, otherwise };
  struct Use {
    Seen seen = Seen::never;
    int run = 0;
  };
  std::vector<Use> uses(static_cast<std::size_t>(program.slots));
  int run = 0;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const Decoded& d = program.code[at];
    run += labelled[at];
    const auto otherwise = [&](int slot) {
      uses[static_cast<std::size_t>(slot)].seen = Seen::otherwise;
    };
    if (d.guard >= 0) otherwise(d.guard);
    const bool writes = writes_all(d);
    for (const int slot : d.slots) {
      Use& use = uses[static_cast<std::size_t>(slot)];
      if (use.seen == Seen::never) {
        const bool first = writes && std::ranges::count(d.writes, slot) == 1 &&
                           std::ranges::count(d.slots, slot) == 1;
        use = {first ? Seen::written_first : Seen::otherwise, run};
      } else if (use.run != run) {
        use.seen = Seen::otherwise;
      }
    }
  }
  // No operand names the other half of a register of 128 bits, or what the decoder made for itself,
  // and both may be read.
  for (const Register& reg : program.function->registers) {
    const auto slot = static_cast<std::size_t>(reg.slot);
    if (reg.type.bits == 128 && uses[slot].seen != Seen::never) {
      uses[slot].seen = uses[slot + 1].seen = Seen::otherwise;
    }
  }
  for (auto slot = static_cast<std::size_t>(program.function->slots); slot < uses.size(); ++slot)
    uses[slot].seen = Seen::otherwise;
  std::vector<int> found;
  for (std::size_t slot = 0; slot < uses.size(); ++slot)
    if (uses[slot].seen == Seen::otherwise) found.push_back(static_cast<int>(slot));
  return found;
}

}  // namespace assay::model
