// SPDX-License-Identifier: Apache-2.0
// mma.sync: the warp-level matrix multiply-accumulate of every target.
//
// A and B are the same in all chains of a warp, the accumulators are not, so no two instructions
// compute the same thing. Fragment sizes: PTX ISA 9.0, "Matrix Fragments for mma".
#include <fmt/format.h>

#include "harness/instruction_probe.hpp"
#include "harness/limits.hpp"

namespace {

using namespace assay;

struct Type {
  const char *element, *ptx_types, *accumulator, *shape;
  int m, n, k, d, a, b;  // shape; registers of each fragment
  const char* reg;       // of A and B
  const char* opcode;    // where it is native
};

constexpr Type kTypes[] = {
    {"f16", "f32.f16.f16.f32", "f32", "m16n8k16", 16, 8, 16, 4, 4, 2, "b32", "HMMA.16816.F32"},
    {"bf16", "f32.bf16.bf16.f32", "f32", "m16n8k16", 16, 8, 16, 4, 4, 2, "b32",
     "HMMA.16816.F32.BF16"},
    {"tf32", "f32.tf32.tf32.f32", "f32", "m16n8k8", 16, 8, 8, 4, 4, 2, "b32", "HMMA.1688.F32.TF32"},
    {"s8", "s32.s8.s8.s32", "s32", "m16n8k32", 16, 8, 32, 4, 4, 2, "b32", "IMMA.16832.S8.S8"},
    {"e4m3", "f32.e4m3.e4m3.f32", "f32", "m16n8k32", 16, 8, 32, 4, 4, 2, "b32", "QMMA.16832.F32"},
    {"f64", "f64.f64.f64.f64", "f64", "m8n8k4", 8, 8, 4, 2, 1, 1, "f64", "DMMA.8x8x4"},
};

bool fp8_is_native(Target target) { return target == Target::sm_89 || target == Target::sm_120a; }

InstructionRow row_of(const Type& t) {
  const bool fp8 = std::string_view(t.element) == "e4m3";
  const std::string opcode = t.opcode;
  return {.name = fmt::format("{}/{}", t.element, t.shape),
          .ptx = fmt::format("mma.sync.aligned.{}.row.col.{} {{<d>}}, {{<a>}}, {{<b>}}, {{<d>}};",
                             t.shape, t.ptx_types),
          .chain = {"d", t.accumulator, t.accumulator, t.d},
          .inputs = {{"a", t.reg, t.element, t.a}, {"b", t.reg, t.element, t.b}},
          .step = [k = t.k](double d, double a, double b, int) { return d + k * a * b; },
          .a = t.element[0] == 's' ? 3.0 : 0.5,
          .b = t.element[0] == 's' ? 2.0 : 0.25,
          .flop = 2.0 * t.m * t.n * t.k,
          .random_data = true,
          .limit = [e = t.element](Target target) { return limits::tensor(target, e); },
          // Hopper and the tcgen05 chips have no 8-bit float mma.sync: it is unpacked to f16 and
          // multiplied by two HMMA.
          .sass =
              [fp8, opcode](Target target) {
                return fp8 && !fp8_is_native(target)
                           ? std::vector<SassRule>{{"HMMA.16816.F32", 2, 2}, {"F2FP", 8, 16}}
                           : std::vector<SassRule>{{opcode, 1, 1}};
              },
          .emulated = [fp8](Target target) { return fp8 && !fp8_is_native(target); },
          .params = {{"a", t.element},
                     {"b", t.element},
                     {"accumulate", t.accumulator},
                     {"shape", t.shape},
                     {"k", std::int64_t{t.k}}}};
}

const Registration registration{[] {
  std::vector<InstructionRow> rows;
  for (const Type& type : kTypes) rows.push_back(row_of(type));
  return instruction_probe(
      {.name = "tensor_core/mma_sync",
       .question = "What does warp-level mma.sync deliver per data type, and after how many cycles "
                   "is its result there?"},
      std::move(rows));
}()};

}  // namespace
