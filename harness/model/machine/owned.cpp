// SPDX-License-Identifier: Apache-2.0
// Registers that an asynchronous instruction owns until the wait that covers it: a wgmma, or a
// tcgen05.ld. PTX ISA 9.0, "wgmma.mma_async", "tcgen05.wait": accessing them before is undefined.
// No target has both.
#include <bit>

#include "harness/model/machine/run.hpp"

namespace assay::model {

void Run::check_owned(Warp& warp, const Decoded& op, Mask mask) {
  const std::string& name = op.instruction->opcode;
  if (name.starts_with("wgmma.") || name.starts_with("tcgen05.wait")) return;
  if (op.moves) {
    // Compilers copy accumulators between registers of PTX that are one of the machine's: the copy
    // is the same register under another name.
    const int to = op.instruction->operands[0].slot, from = op.instruction->operands[1].slot;
    const auto owned = warp.owned.find(from);
    if (owned != warp.owned.end()) {
      const Owned copy = owned->second;
      warp.owned[to] = copy;
    } else {
      warp.owned.erase(to);
    }
    return;
  }
  for (const int slot : op.slots) {
    if (!warp.owned.contains(slot)) continue;
    lane_now = std::countr_zero(mask);
    if (program_.has_wgmma)
      report("wgmma.register_in_flight",
             "a register that belongs to a wgmma under way is used before the wait that covers it",
             "wgmma.wait_group before its accumulators or fragments are touched");
    else
      report("tensor_memory.register_in_flight",
             "a register that belongs to a tcgen05.ld under way is used before the wait for it",
             "tcgen05.wait::ld before its registers are touched");
    warp.owned.erase(slot);
  }
}

}  // namespace assay::model
