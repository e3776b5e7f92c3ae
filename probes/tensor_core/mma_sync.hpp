// SPDX-License-Identifier: Apache-2.0
// The forms of mma.sync, and the row of an instruction table that each becomes.
#pragma once
#include <string>
#include <vector>

#include "harness/instruction/row_probe.hpp"

namespace assay::mma_sync {

// One instruction. Elements as PTX spells them.
struct Form {
  std::string a, b, accumulator;
  int k, m = 16, n = 8;
  std::string kind = {};       // "f8f6f4", "mxf8f6f4": how narrow floats are packed and scaled
  std::string scale = {};      // type of the block scales: "ue8m0" or "ue4m3"; empty: unscaled
  int scales = 0;              // of a row of A: the X of scale_vec::4X
  std::string operation = {};  // of b1: "and" or "xor"
  bool sparse = false;         // A with two of four elements zero (tf32: one of two; 4 bits: four
                               // of eight, in pairs); k counts them
  bool saturate = false;
  std::string type = {};  // in names, where the elements do not say it: "mxf8", "nvf4"
};

// Floats of at most 8 bits, any two of which some kinds multiply.
inline constexpr const char* kNarrowFloats[] = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
bool is_fp8(const std::string& element);

// "e4m3_e5m2/m16n8k64/acc_f16/sparse".
std::string name_of(const Form& form);

// The row: values it computes, the opcodes it becomes on each target, and where it exists.
InstructionRow row_of(const Form& form);

// Where an emulation would be no other than that of a larger shape, rows exist where they are
// native.
void add_dense(std::vector<InstructionRow>& rows);
void add_sparse(std::vector<InstructionRow>& rows);
void add_scaled(std::vector<InstructionRow>& rows);

}  // namespace assay::mma_sync
