// SPDX-License-Identifier: Apache-2.0
// mma.sync: the warp-level matrix multiply-accumulate of every target, and its block-scaled forms,
// which only sm_120 has.
//
// A and B are the same in all chains of a warp, the accumulators are not, so no two instructions
// compute the same thing. Fragment sizes: PTX ISA 9.0, "Matrix Fragments for mma".
#include <fmt/format.h>

#include "harness/instruction_probe.hpp"
#include "harness/limits.hpp"
#include "harness/ptx_text.hpp"

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
    {"f64", "f64.f64.f64.f64", "f64", "m16n8k16", 16, 8, 16, 4, 8, 4, "f64", "DMMA.16x8x16"},
};

bool fp8_is_native(Target target) { return target == Target::sm_89 || target == Target::sm_120a; }

InstructionRow row_of(const Type& t) {
  const bool fp8 = std::string_view(t.element) == "e4m3";
  const bool wide_f64 = std::string_view(t.opcode) == "DMMA.16x8x16";
  const std::string opcode = t.opcode;
  return {
      .name = fmt::format("{}/{}", t.element, t.shape),
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
          [fp8, wide_f64, opcode](Target target) {
            if (fp8 && !fp8_is_native(target))
              return std::vector<SassRule>{{"HMMA.16816.F32", 2, 2}, {"F2FP", 8, 16}};
            // Only Hopper has the wide f64 shapes; later chips split them.
            if (wide_f64 && target != Target::sm_90a)
              return std::vector<SassRule>{{"DMMA.8x8x4", 8, 8}};
            // nvdisasm spells Ada's shape without the crosses.
            const bool crosses = target != Target::sm_89;
            return std::vector<SassRule>{{crosses ? opcode : replace_all(opcode, "x", ""), 1, 1}};
          },
      .emulated = [fp8](Target target) { return fp8 && !fp8_is_native(target); },
      .params = {{"a", t.element},
                 {"b", t.element},
                 {"accumulate", t.accumulator},
                 {"shape", t.shape},
                 {"k", std::int64_t{t.k}}},
      .targets = wide_f64 ? targets_from(Target::sm_90a) : std::vector<Target>{}};
}

// A block of a row of A or a column of B along k shares a scale: 32 elements of an mx type a power
// of two, 16 of nvf4 a ue4m3. A 32-bit register holds up to four of them; which of its bytes, from
// which threads of each four, is immediate. All scales here are 1.
struct ScaledType {
  const char *name, *kind, *ptx_types, *shape, *element, *scale, *limit;
  int k;
  double a, b;
  const char* opcode;
};

constexpr ScaledType kScaledTypes[] = {
    {"mxf8", "mxf8f6f4.block_scale.scale_vec::1X", "f32.e4m3.e4m3.f32.ue8m0", "m16n8k32", "e4m3",
     "ue8m0", "e4m3", 32, 0.5, 0.25, "QMMA.SF.16832.F32.E4M3.E4M3.E8"},
    {"mxf4", "mxf4.block_scale.scale_vec::2X", "f32.e2m1.e2m1.f32.ue8m0", "m16n8k64", "e2m1",
     "ue8m0", "mxf4", 64, 1, 0.5, "OMMA.SF.16864.F32.E2M1.E2M1.E8"},
    {"nvf4", "mxf4nvf4.block_scale.scale_vec::4X", "f32.e2m1.e2m1.f32.ue4m3", "m16n8k64", "e2m1",
     "e4m3", "mxf4", 64, 1, 0.5, "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X"},
};

InstructionRow row_of(const ScaledType& t) {
  return {.name = fmt::format("{}/{}", t.name, t.shape),
          .ptx = fmt::format("mma.sync.aligned.{}.row.col.kind::{}.{} {{<d>}}, {{<a>}}, {{<b>}}, "
                             "{{<d>}}, <sa>, {{0, 0}}, <sb>, {{0, 0}};",
                             t.shape, t.kind, t.ptx_types),
          .chain = {"d", "f32", "f32", 4},
          .inputs = {{"a", "b32", t.element, 4},
                     {"b", "b32", t.element, 2},
                     {"sa", "b32", t.scale, 1, 1.0},
                     {"sb", "b32", t.scale, 1, 1.0}},
          .step = [k = t.k](double d, double a, double b, int) { return d + k * a * b; },
          .a = t.a,
          .b = t.b,
          .flop = 2.0 * 16 * 8 * t.k,
          .random_data = true,
          .limit = [e = t.limit](Target target) { return limits::tensor(target, e); },
          .sass =
              [opcode = t.opcode](Target) {
                return std::vector<SassRule>{{opcode, 1, 1}};
              },
          .params = {{"a", t.name},
                     {"b", t.name},
                     {"accumulate", "f32"},
                     {"shape", t.shape},
                     {"k", std::int64_t{t.k}}},
          .targets = {Target::sm_120a}};
}

const Registration registration{[] {
  std::vector<InstructionRow> rows;
  for (const Type& type : kTypes) rows.push_back(row_of(type));
  for (const ScaledType& type : kScaledTypes) rows.push_back(row_of(type));
  return instruction_probe(
      {.name = "tensor_core/mma_sync",
       .question = "What does warp-level mma.sync deliver per data type, and after how many cycles "
                   "is its result there?"},
      rows);
}()};

}  // namespace
