// SPDX-License-Identifier: Apache-2.0
// Forms of mma.sync and wmma. Shapes, types and fragment sizes: PTX ISA 9.0, "Matrix multiply-
// accumulate operation using mma instruction"; what of it exists where is for the assembler to say.
#include <fmt/format.h>

#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

constexpr const char* kFloats8 = "(e4m3|e5m2)";
constexpr const char* kFloats864 = "(e4m3|e5m2|e3m2|e2m3|e2m1)";

// One shape: registers of A and of B, and of the accumulator, which are %f for floats.
struct Shape {
  const char *shape, *types;  // "f32.f16.f16.f32"
  int a, b, d;
  char d_class = 'r';
  const char* layout = "row.col";
  const char *kind = "", *operation = "";
};

const Shape kShapes[] = {
    {"m16n8k8", "f16.f16.f16.f16", 2, 1, 2},
    {"m16n8k8", "f32.(f16.f16|bf16.bf16).f32", 2, 1, 4, 'f'},
    {"m16n8k16", "f16.f16.f16.f16", 4, 2, 2},
    {"m16n8k16", "f32.(f16.f16|bf16.bf16).f32", 4, 2, 4, 'f'},
    {"m16n8k4", "f32.tf32.tf32.f32", 2, 1, 4, 'f'},
    {"m16n8k8", "f32.tf32.tf32.f32", 4, 2, 4, 'f'},
    {"m8n8k4", "f16.f16.f16.f16", 2, 2, 4, 'r', "(row|col).(row|col)"},
    {"m8n8k4", "f32.f16.f16.f32", 2, 2, 8, 'f', "(row|col).(row|col)"},
    {"m8n8k16", "s32.(s8|u8).(s8|u8).s32", 1, 1, 2, 'r', "row.col(|.satfinite)"},
    {"m16n8k16", "s32.(s8|u8).(s8|u8).s32", 2, 1, 4, 'r', "row.col(|.satfinite)"},
    {"m16n8k32", "s32.(s8|u8).(s8|u8).s32", 4, 2, 4, 'r', "row.col(|.satfinite)"},
    {"m8n8k32", "s32.(s4|u4).(s4|u4).s32", 1, 1, 2, 'r', "row.col(|.satfinite)"},
    {"m16n8k32", "s32.(s4|u4).(s4|u4).s32", 2, 1, 4, 'r', "row.col(|.satfinite)"},
    {"m16n8k64", "s32.(s4|u4).(s4|u4).s32", 4, 2, 4, 'r', "row.col(|.satfinite)"},
    {"m8n8k128", "s32.b1.b1.s32", 1, 1, 2, 'r', "row.col", "", ".(xor|and).popc"},
    {"m16n8k128", "s32.b1.b1.s32", 2, 1, 4, 'r', "row.col", "", ".(xor|and).popc"},
    {"m16n8k256", "s32.b1.b1.s32", 4, 2, 4, 'r', "row.col", "", ".(xor|and).popc"},
};

std::string types(const char* elements, const char* accumulator) {
  return fmt::format("{1}.{0}.{0}.{1}", elements, accumulator);
}

std::string line(const Shape& s) {
  return fmt::format(
      "mma.sync.aligned.{}.{}{}.{}{} {{%{}[0:{}]}}, {{%r[10:{}]}}, {{%r[20:{}]}}, {{%{}[0:{}]}};\n",
      s.shape, s.layout, s.kind, s.types, s.operation, s.d_class, s.d, 10 + s.a, 20 + s.b,
      s.d_class, s.d);
}

const InstructionForms dense{"mma.sync", [] {
                               std::string lines;
                               for (const Shape& shape : kShapes) lines += line(shape);
                               lines += R"(
    mma.sync.aligned.m8n8k4.row.col(|.rn|.rz|.rm|.rp).f64.f64.f64.f64 {%fd[0:2]}, {%fd10}, {%fd20}, {%fd[0:2]};
    mma.sync.aligned.m16n8k4.row.col(|.rn|.rz|.rm|.rp).f64.f64.f64.f64 {%fd[0:4]}, {%fd[10:12]}, {%fd20}, {%fd[0:4]};
    mma.sync.aligned.m16n8k8.row.col(|.rn|.rz|.rm|.rp).f64.f64.f64.f64 {%fd[0:4]}, {%fd[10:14]}, {%fd[20:22]}, {%fd[0:4]};
    mma.sync.aligned.m16n8k16.row.col(|.rn|.rz|.rm|.rp).f64.f64.f64.f64 {%fd[0:4]}, {%fd[10:18]}, {%fd[20:24]}, {%fd[0:4]};
  )";
                               return notation::rows_of(lines);
                             }()};

const InstructionForms fp8{
    "mma.sync fp8 fp6 fp4", [] {
      std::string lines;
      for (const char* shape : {"m16n8k16", "m16n8k32"}) {
        const int wide = std::string_view(shape) == "m16n8k32" ? 2 : 1;
        lines += line({shape, types(kFloats8, "f32").c_str(), 2 * wide, wide, 4, 'f'});
        lines += line({shape, types(kFloats8, "f16").c_str(), 2 * wide, wide, 2});
      }
      for (const char* accumulator : {"f32", "f16"})
        lines += line({"m16n8k32", types(kFloats864, accumulator).c_str(), 4, 2,
                       accumulator[1] == '3' ? 4 : 2, accumulator[1] == '3' ? 'f' : 'r', "row.col",
                       ".kind::f8f6f4"});
      return notation::rows_of(lines);
    }()};

// Scales are in a byte or two or four of a register, of some threads of four: {byte, thread}.
const InstructionForms scaled{
    "mma.sync block-scaled", [] {
      const auto scaled_line = [](const char* shape, const std::string& kind,
                                  const std::string& types) {
        return fmt::format(
            "mma.sync.aligned.{}.row.col.kind::{}.{} {{%f[0:4]}}, {{%r[10:14]}}, {{%r[20:22]}}, "
            "{{%f[0:4]}}, %r30, {{0, 0}}, %r31, {{0, 0}};\n",
            shape, kind, types);
      };
      std::string lines;
      lines += scaled_line("m16n8k32", "mxf8f6f4.block_scale(.scale_vec::1X|)",
                           types(kFloats864, "f32") + ".ue8m0");
      const std::string fp4 = "f32.e2m1.e2m1.f32.";
      lines += scaled_line("m16n8k64", "mxf4.block_scale(.scale_vec::2X|)", fp4 + "ue8m0");
      lines +=
          scaled_line("m16n8k64", "mxf4nvf4.block_scale.scale_vec::(2X|4X)", fp4 + "(ue8m0|ue4m3)");
      return notation::rows_of(lines);
    }()};

// Fragments of wmma: registers of A, B and of the accumulator, which m16n16k16, m8n32k16 and
// m32n8k16 hold alike except for the narrow side of s8 and bf16.
const InstructionForms wmma{"wmma", notation::rows_of(R"(
    wmma.load.(a|b).sync.aligned.(row|col).(m16n16k16|m8n32k16|m32n8k16).f16 {%r[0:8]}, [%gmem], %r20;
    wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r[0:8]}, [%smem], %r20;
    wmma.load.(a|b).sync.aligned.row.m16n16k16.bf16 {%r[0:4]}, [%gmem], %r20;
    wmma.load.(a|b).sync.aligned.row.m16n16k8.tf32 {%r[0:4]}, [%gmem], %r20;
    wmma.load.(a|b).sync.aligned.row.m16n16k16.(s8|u8) {%r[0:2]}, [%gmem], %r20;
    wmma.load.a.sync.aligned.row.m8n8k32.(s4|u4) {%r0}, [%gmem], %r20;
    wmma.load.b.sync.aligned.col.m8n8k32.(s4|u4) {%r0}, [%gmem], %r20;
    wmma.load.a.sync.aligned.row.m8n8k128.b1 {%r0}, [%gmem], %r20;
    wmma.load.b.sync.aligned.col.m8n8k128.b1 {%r0}, [%gmem], %r20;
    wmma.load.(a|b).sync.aligned.row.m8n8k4.f64 {%fd0}, [%gmem], %r20;
    wmma.load.c.sync.aligned.(row|col).m16n16k16.f32 {%f[0:8]}, [%gmem], %r20;
    wmma.load.c.sync.aligned.row.m16n16k16.f16 {%r[0:4]}, [%gmem], %r20;
    wmma.load.c.sync.aligned.row.m16n16k16.s32 {%r[0:8]}, [%gmem], %r20;
    wmma.store.d.sync.aligned.(row|col).m16n16k16.f32 [%gmem], {%f[0:8]}, %r20;
    wmma.store.d.sync.aligned.row.m16n16k16.f16 [%gmem], {%r[0:4]}, %r20;
    wmma.store.d.sync.aligned.row.m16n16k16.s32 [%gmem], {%r[0:8]}, %r20;
    wmma.store.d.sync.aligned.row.m8n8k4.f64 [%gmem], {%fd[0:2]}, %r20;
    wmma.mma.sync.aligned.(row|col).(row|col).m16n16k16.f32.f32 {%f[0:8]}, {%r[10:18]}, {%r[20:28]}, {%f[0:8]};
    wmma.mma.sync.aligned.row.col.(m8n32k16|m32n8k16).f32.f32 {%f[0:8]}, {%r[10:18]}, {%r[20:28]}, {%f[0:8]};
    wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r[0:4]}, {%r[10:18]}, {%r[20:28]}, {%r[0:4]};
    wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 {%f[0:8]}, {%r[10:14]}, {%r[20:24]}, {%f[0:8]};
    wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%f[0:8]}, {%r[10:14]}, {%r[20:24]}, {%f[0:8]};
    wmma.mma.sync.aligned.row.col.m16n16k16.s32.(s8.s8|u8.u8).s32(|.satfinite) {%r[0:8]}, {%r[10:12]}, {%r[20:22]}, {%r[0:8]};
    wmma.mma.sync.aligned.row.col.m8n8k32.s32.(s4.s4|u4.u4).s32(|.satfinite) {%r[0:2]}, {%r10}, {%r20}, {%r[0:2]};
    wmma.mma.(xor|and).popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r[0:2]}, {%r10}, {%r20}, {%r[0:2]};
    wmma.mma.sync.aligned.row.col.m8n8k4(|.rn).f64.f64.f64.f64 {%fd[0:2]}, {%fd10}, {%fd20}, {%fd[0:2]};
)")};

}  // namespace
