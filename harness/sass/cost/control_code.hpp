// SPDX-License-Identifier: Apache-2.0
// What ptxas tells the warp scheduler, in the upper bits of every instruction since sm_70.
#pragma once
#include <cstdint>
#include <string>

#include "harness/code/disassembly.hpp"

namespace assay::sass {

// Bits 105..125 of the encoding. There are six scoreboards, counters that instructions of variable
// latency raise when they issue and lower later: by `write_barrier` when the result is written, by
// `read_barrier` when the operands are read, so that their registers may be overwritten.
//
// Layout and meaning: Jia, Maggioni, Staiger and Scarpazza, "Dissecting the NVIDIA Volta GPU
// Architecture via Microbenchmarking" (2018), section 2.1, which holds up to sm_120; the reuse bits
// and barriers were compared with nvdisasm's `.reuse` and with the operands of DEPBAR.
struct ControlCode {
  int stall = 0;               // cycles until the warp's next instruction may issue
  bool yield = false;          // rather issue from another warp next: the bit is 0 for yes
  int write_barrier = -1;      // 0..5, -1 for none
  int read_barrier = -1;       // likewise
  std::uint8_t wait_mask = 0;  // bit b: issues only when scoreboard b is at zero
  std::uint8_t reuse = 0;      // bit o: keeps register operand o for the next instruction

  bool operator==(const ControlCode&) const = default;
};

ControlCode control_code(const Instruction& instruction);

// "B-1---- R2 W- Y S05", in the order CuAssembler writes them: waits for, read and write barrier,
// yield, stall.
std::string text_of(const ControlCode& control);

}  // namespace assay::sass
