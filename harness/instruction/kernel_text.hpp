// SPDX-License-Identifier: Apache-2.0
// What all PTX that the suite makes has in common: modules, entries, registers loaded and stored.
//
// On it stand the kernels that are timed (ptx_text.hpp, row_ptx.hpp) and those of the instruction x
// target matrix (harness/isa/kernel_text.hpp).
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// How a module for this architecture ("sm_90a") begins.
std::string module_header(std::string_view architecture);

struct PtxEntry {
  std::string name;
  std::vector<std::string> parameters;  // ".param .u64 p_in"
  int threads;                          // of a CTA, at most
  std::vector<std::string> directives;  // behind .maxntid
  std::string body;                     // declarations and instructions, without the last ret
};
std::string entry_text(const PtxEntry& entry);

// A register by its name and its type as after .reg: "b32", "f16x2", "pred", "b128".
struct PtxRegister {
  std::string name, type;
};

// Width of a register: 16 for "b16", 32 for "f16x2", for a predicate, which is kept in a word, and
// for what is no type, for the assembler to complain about.
int bits_of(std::string_view type);

// From and to `address`, "%in+8"; `space` is "global", "volatile.global" or "param". Predicates and
// 128-bit registers go by way of others: `scratch` is a declared b32 register, or the beginning of
// the names of two declared b64 registers, "<scratch>_low" and "<scratch>_high".
std::string load_text(const PtxRegister& reg, std::string_view space, const std::string& address,
                      const std::string& scratch);
// Under the predicate `guard` ("%first"), or always.
std::string store_text(const PtxRegister& reg, std::string_view space, const std::string& address,
                       const std::string& scratch, const std::string& guard = {});

}  // namespace assay
