// SPDX-License-Identifier: Apache-2.0
// The loops of a disassembled function.
#pragma once
#include <cstddef>
#include <vector>

#include "harness/disassembly.hpp"

namespace assay {

// A natural loop: a header that dominates the branch back to it, and everything on the way.
struct Loop {
  std::size_t header;             // index into Function::code
  std::vector<std::size_t> body;  // indices, ascending; code placed out of line included
};

// Ordered by header. Loops with one header are one loop. The trap `BRA .` behind the last EXIT
// cannot be reached, so it is none. Backward branches that return from out-of-line code (BRA.DIV
// fallbacks) are none either: their target does not dominate them.
std::vector<Loop> find_loops(const Function& function);

}  // namespace assay
