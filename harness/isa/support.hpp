// SPDX-License-Identifier: Apache-2.0
// Whether a target has an instruction, judged by what one of it becomes.
//
// Opcodes have weights. None: moves, loads of kernel parameters, what never executes. Then, in this
// order: control, predicates and packing; order and election; integer arithmetic; float arithmetic;
// and last everything else: matrix math, special functions, conversions, memory, barriers. What
// counts are the heaviest instructions of a form; lighter ones only prepare or finish. Then a form
// is
//   native    if one counts, with at most six lighter ones that are arithmetic (multiplications
//             that scale a subnormal argument of MUFU), or if it becomes nothing at all (a move);
//   split     if several of one opcode, modifiers aside, count, with at most two lighter for each;
//   emulated  otherwise, or if it calls a routine (`__cuda_sm_9x_mma_...`), other than to trap;
//   unknown   if the assembler took it and what came out does not tell: nvdisasm cannot read it, or
//             nothing is left of a form that leaves no result (a fence, a store): it may have
//             needed nothing, or have been dropped.
// Of several statements each has its own instruction: native if no more work is left than there
// are.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/code/disassembly.hpp"
#include "harness/code/sass_check.hpp"

namespace assay::isa {

enum class Support : std::uint8_t { native, emulated, split, rejected, unknown };
std::string_view name(Support support);

// What was seen of one form on one target.
struct Evidence {
  bool accepted = false;
  OpcodeCount opcodes = {};             // what one execution becomes
  std::vector<std::string> calls = {};  // routines that it calls
  std::string words = {};  // the assembler's: why it rejects, or its advice; "; " between several
  bool readable = true;    // by nvdisasm
};

// What a form's text tells of its verdict.
struct Shape {
  int statements = 1;
  bool leaves_result = true;  // in a register, or asks for nothing that could be seen (a directive)
};

// Evidence of a form that was accepted: what `kernel` has more than `frame`, as kernel_text.hpp
// describes them.
Evidence difference(const Function& frame, const Function& kernel);
// Of whole kernels of unknown make: without their loads, stores and index arithmetic.
Evidence contents(std::span<const Function> kernels);

struct Verdict {
  Support support = Support::rejected;
  int count = 0;             // of the instructions that count; of all when emulated
  OpcodeCount opcodes = {};  // those that have weight, or all if none has
  std::vector<std::string> calls = {};
  std::string words = {};
};
Verdict judge(const Evidence& evidence, const Shape& shape = {});

// What a form becomes, heaviest first: "2 HMMA.16816.F32, 12 F2FP.F16.E4M3.UNPACK_B, 4 FADD".
std::string describe(const Verdict& verdict);

}  // namespace assay::isa
