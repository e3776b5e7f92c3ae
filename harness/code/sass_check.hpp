// SPDX-License-Identifier: Apache-2.0
// Whether a kernel's machine code is what its author says is being measured.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/code/disassembly.hpp"
#include "harness/probe.hpp"
#include "harness/target.hpp"

namespace assay {

using OpcodeCount = std::map<std::string, int>;  // full opcode, with modifiers

struct SassRequest {
  std::span<const char> elf;     // device ELF image; must outlive the call
  std::string symbol;            // of the kernel in it
  std::optional<Target> target;  // that the image should be for; none: any will do
  KernelUse use;                 // sass, emulated and local_memory are read
};

struct SassFindings {
  std::string kernel;  // symbol
  Target target = Target::host;
  std::string sha256;                 // of the device ELF image
  OpcodeCount loop;                   // of the measured loop; empty if there is none
  OpcodeCount whole;                  // of the kernel and the routines placed behind it
  OpcodeCount instruction;            // of the loop, what its first rule names
  std::uint32_t registers = 0;        // per thread
  std::uint32_t stack_bytes = 0;      // per thread, spills included
  bool local_memory = false;          // loads or stores of local memory, which spills are too
  std::vector<std::string> calls;     // routines called anywhere, each once
  std::vector<std::string> problems;  // one readable line each; empty: as the author says
  std::string loop_text;              // the measured loop, one instruction a line
  std::shared_ptr<const Function> function = {};  // none if it could not be disassembled
  std::optional<std::size_t> loop_header = {};    // of the measured loop: index into function->code

  bool verified() const { return problems.empty(); }
};

// Instructions by opcode, without NOPs and without fillers that never execute.
OpcodeCount count_opcodes(const Function& function);
// The same of some of them, by index.
OpcodeCount count_opcodes(const Function& function, const std::vector<std::size_t>& indices);

// Checks kernels, disassembling them together: many in one call cost little more than one (see
// disassemble()). The measured loop is the one that most instructions named by rules with
// at_least > 0 belong to directly, not by way of a loop nested in it (a spin on a barrier does not
// hide the loop around it); without such instructions it is the loop that most instructions belong
// to.
//
// Beside the rules, these are problems: code that cannot be disassembled; an image for another
// target; local memory, unless use.local_memory allows it; a call in the measured loop (in the
// kernel, if it has no loop), unless use.emulated. Rules hold for emulated cases too: they name
// what the instruction becomes. Thread-safe; findings come in the order of the requests.
std::vector<SassFindings> check_sass(std::span<const SassRequest> requests);
SassFindings check_sass(const SassRequest& request);

}  // namespace assay
