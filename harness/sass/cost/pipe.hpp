// SPDX-License-Identifier: Apache-2.0
// Which pipe of an SM carries an instruction out.
#pragma once
#include <optional>
#include <string_view>

#include "harness/code/disassembly.hpp"

namespace assay::sass {

// A pipe, by the name Nsight Compute's metrics give it ("fma" in inst_executed_pipe_fma).
struct Pipe {
  std::string_view name;
  bool shared;             // one per SM, for its four schedulers; otherwise one for each
  std::string_view whole;  // the pipe this one is half of: "fma" for "fmaheavy"; empty: none
};

bool is_pipe(std::string_view name);
// Throws Error(usage) that lists the known pipes if there is none called so.
const Pipe& pipe_called(std::string_view name);

// The pipe of an opcode ("IMAD.MOV.U32"), "other" for opcodes the table does not know.
const Pipe& documented_pipe(std::string_view opcode);

// Threads per clock and SM for an opcode of the pipe on an architecture ("sm_90a"). Checked: as
// NVIDIA's table of throughputs has it; otherwise as other instructions of the pipe.
struct DocumentedRate {
  double threads;
  bool checked;
  bool operator==(const DocumentedRate&) const = default;
};
std::optional<DocumentedRate> documented_rate(std::string_view opcode, const Pipe& pipe,
                                              std::string_view arch);

bool is_matrix(const Instruction& instruction);         // of any kind: HMMA, HGMMA, UTCHMMA, ...
bool is_warpgroup_mma(const Instruction& instruction);  // asynchronous: HGMMA, QGMMA, IGMMA, BGMMA
bool is_tcgen05_mma(const Instruction& instruction);    // asynchronous: UTC*MMA
bool is_bulk_copy(const Instruction& instruction);      // by the TMA unit: UTMALDG, UBLKCP, ...

}  // namespace assay::sass
