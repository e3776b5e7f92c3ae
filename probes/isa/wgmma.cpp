// SPDX-License-Identifier: Apache-2.0
// Forms of wgmma, the warpgroup-level matrix multiply-accumulate: A from shared memory (SS) or from
// registers (RS), dense and sparse. Shapes: PTX ISA 9.0, "Asynchronous wgmma instructions".
#include <fmt/format.h>

#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

struct Type {
  const char* types;  // with the accumulator first
  int k;
  char d_class;          // %f, or %r for integers and packed f16
  int elements_per_reg;  // of the accumulator
  bool transposes;       // may read A and B from shared memory in either order
  bool negates;          // has immediates that negate A and B
  const char* suffix = "";
  bool sparse = true;
};

const Type kTypes[] = {
    {"f32.f16.f16", 16, 'f', 1, true, true},
    {"f16.f16.f16", 16, 'r', 2, true, true},
    {"f32.bf16.bf16", 16, 'f', 1, true, true},
    {"f32.tf32.tf32", 8, 'f', 1, false, true},
    {"f32.(e4m3|e5m2).(e4m3|e5m2)", 32, 'f', 1, false, true},
    {"f16.(e4m3|e5m2).(e4m3|e5m2)", 32, 'r', 2, false, true},
    {"s32.(s8|u8).(s8|u8)", 32, 'r', 1, false, false, "(|.satfinite)"},
    {"s32.b1.b1", 256, 'r', 1, false, false, ".and.popc", false},
};

std::string line(const Type& t, int n, bool from_registers, bool sparse) {
  const int d = n / 2 / t.elements_per_reg;
  std::string text = fmt::format(
      "wgmma.mma_async{}.sync.aligned.m64n{}k{}.{}{} {{%{}[0:{}]}}, {}, "
      "%bdesc",
      sparse ? ".sp" : "", n, t.k * (sparse ? 2 : 1), t.types, t.suffix, t.d_class, d,
      from_registers ? "{%r[200:204]}" : "%adesc");
  if (sparse) text += ", %r210, 0";
  text += ", %enable";
  if (t.negates) text += ", 1, 1";
  if (t.transposes) text += from_registers ? ", 0" : ", 0, 0";
  return text + fmt::format("; # {}\n", from_registers ? "RS" : "SS");
}

std::vector<InstructionRow> rows(bool sparse) {
  std::string lines;
  for (const Type& type : kTypes) {
    if (sparse && !type.sparse) continue;
    for (const int n : {8, 64, 128, 256})
      for (const bool from_registers : {false, true})
        lines += line(type, n, from_registers, sparse);
  }
  return notation::rows_of(lines);
}

const InstructionForms dense{"wgmma", rows(false)};
const InstructionForms sparse{"wgmma sparse", rows(true)};

// Every N there is, and the order of elements in shared memory.
const InstructionForms shapes{"wgmma shapes", [] {
                                std::string lines;
                                for (int n = 16; n < 256; n += 8)
                                  if (n != 64 && n != 128)
                                    lines += line(kTypes[0], n, false, false);
                                for (const int n : {16, 24, 32, 48, 80, 96, 160, 192, 224, 240})
                                  lines += line(kTypes[6], n, false, false);
                                lines += R"(
    wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%f[0:32]}, %adesc, %bdesc, %enable, -1, 1, 0, 0; # SS negated
    wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%f[0:32]}, %adesc, %bdesc, %enable, 1, 1, 1, 1; # SS transposed
    wgmma.fence.sync.aligned;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
  )";
                                return notation::rows_of(lines);
                              }()};

}  // namespace
