// SPDX-License-Identifier: Apache-2.0
// A kernel's machine code (SASS) as instructions.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Instruction {
  std::uint32_t address = 0;                 // bytes from the start of the function
  std::string predicate = {};                // "@P0", "@!UP1"; empty if there is none
  std::string opcode = {};                   // "HGMMA.64x256x16.F32.BF16"
  std::string operands = {};                 // "R4, desc[UR4][R2.64+0x10]"
  std::optional<std::uint32_t> target = {};  // address that a branch, call or BSSY names
  std::string callee = {};                   // name of the routine a CALL goes to, if known
  std::array<std::uint64_t, 2> words = {};   // the encoding, with its scheduling bits

  std::string text() const;  // "@P0 BRA 0x120"
  // Guarded by a predicate that is always false: ptxas pads hazards with these.
  bool never_executes() const { return predicate == "@!PT" || predicate == "@!UPT"; }
  // Whether the opcode is `prefix` or continues it after a dot: "LDG.E.128" is a "LDG.E".
  bool is(std::string_view prefix) const;
  // ptxas for sm_89 leaves loops of a few hundred instructions by "@!P0 CALL.REL.NOINC" over the
  // branch back, to where no routine starts: a branch in all but name.
  bool is_jump_by_call() const;
};

// A kernel together with the routines ptxas placed behind it.
struct Function {
  std::string name;  // symbol
  std::string arch;  // "sm_90a"
  std::string cubin_sha256;
  std::string problem = {};       // why it could not be disassembled; then there is no code
  std::vector<Instruction> code;  // by address; instruction i is at address 16 * i
  std::map<std::uint32_t, std::string> routines;  // start address to symbol
  std::uint32_t registers = 0;                    // per thread
  std::uint32_t stack_bytes = 0;                  // per thread, of local memory, spills included
  std::uint32_t max_threads = 0;  // of a CTA, by its launch bounds (.maxntid, .reqntid); 0: none
};

struct FunctionRef {
  std::span<const char> elf;  // device ELF image
  std::string kernel;         // symbol of an entry function in it
};

// Disassembles with nvdisasm, in one process per architecture and about 32768 instructions: a
// process costs 0.2 s to start and 15 us per instruction, so hundreds of small kernels are best
// asked for together. Results are remembered for the life of the program, and what took one process
// for the next program (cache_path()). Thread-safe.
//
// Throws Error(usage) for a damaged image or a kernel that is not in it, Error(unfit) without
// nvdisasm, Error(failed) if nvdisasm does not know the architecture or an instruction.
std::vector<std::shared_ptr<const Function>> disassemble(std::span<const FunctionRef> functions);
std::shared_ptr<const Function> disassemble(std::span<const char> elf, const std::string& kernel);

// The same, not remembered: for thousands of kernels that are looked at once. What cannot be read
// is told by Function::problem and keeps nothing else from being read.
std::vector<Function> disassemble_anew(std::span<const FunctionRef> functions);

// nvdisasm's listing of raw instructions as Instructions, addresses counted from the listing's own.
// Throws Error(failed) on a line that is no instruction.
std::vector<Instruction> parse_listing(std::string_view listing);

}  // namespace assay
