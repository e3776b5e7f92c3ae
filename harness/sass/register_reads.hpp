// SPDX-License-Identifier: Apache-2.0
// What reading registers costs a loop.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "harness/code/disassembly.hpp"

namespace assay::sass {

// How many registers of 32 lanes an instruction reads from the bank of the even ones and from that
// of the odd ones. `before` is the instruction that issued before it: what that latched (.reuse, at
// the same operand position) is not read again. A register named twice is read once.
std::array<int, 2> register_reads(const Instruction& instruction, const Instruction* before);

// Cycles of a scheduler for the reads of one iteration: each bank delivers one register a cycle,
// and the reads of an instruction may overlap those of its neighbour. So two neighbours take two
// cycles, or as many as they read from the busier bank. probes/sass/operands.cpp measures FFMAs
// beside this: 1.55 and 1.75 cycles on an H200, where it says 1.59 and 1.76. Two banks: Jia et al.,
// "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", section 3.4. Nothing is
// known of Blackwell, and 0 returned. Matrix products read within the cycles of their own pipe.
double register_cycles(const Function& function, const std::vector<std::size_t>& path);

}  // namespace assay::sass
