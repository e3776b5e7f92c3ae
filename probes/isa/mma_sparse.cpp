// SPDX-License-Identifier: Apache-2.0
// Forms of mma.sp: A holds half of its elements, and metadata says which. Fragment sizes: PTX ISA
// 9.0, "Matrix multiply-accumulate operation using mma.sp instruction with sparse matrix A".
#include <fmt/format.h>

#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

constexpr const char* kFloats8 = "(e4m3|e5m2)";
constexpr const char* kFloats864 = "(e4m3|e5m2|e3m2|e2m3|e2m1)";
constexpr const char* kBoth = "(|::ordered_metadata)";

struct Shape {
  const char *shape, *types;
  int ab, d;  // registers of A and B each, and of the accumulator
  char d_class = 'r';
  const char* modifiers = "";  // behind the layout
};

std::string line(const char* metadata, const Shape& s) {
  return fmt::format(
      "mma.sp{}.sync.aligned.{}.row.col{}.{} {{%{}[0:{}]}}, {{%r[10:{}]}}, {{%r[20:{}]}}, "
      "{{%{}[0:{}]}}, %r30, 0;\n",
      metadata, s.shape, s.modifiers, s.types, s.d_class, s.d, 10 + s.ab, 20 + s.ab, s.d_class,
      s.d);
}

const Shape kShapes[] = {
    {"m16n8k16", "f16.f16.f16.f16", 2, 2},
    {"m16n8k16", "f32.(f16.f16|bf16.bf16).f32", 2, 4, 'f'},
    {"m16n8k32", "f16.f16.f16.f16", 4, 2},
    {"m16n8k32", "f32.(f16.f16|bf16.bf16).f32", 4, 4, 'f'},
    {"m16n8k8", "f32.tf32.tf32.f32", 2, 4, 'f'},
    {"m16n8k16", "f32.tf32.tf32.f32", 4, 4, 'f'},
    {"m16n8k32", "s32.(s8|u8).(s8|u8).s32", 2, 4, 'r', "(|.satfinite)"},
    {"m16n8k64", "s32.(s8|u8).(s8|u8).s32", 4, 4, 'r', "(|.satfinite)"},
    {"m16n8k64", "s32.(s4|u4).(s4|u4).s32", 2, 4, 'r', "(|.satfinite)"},
    {"m16n8k128", "s32.(s4|u4).(s4|u4).s32", 4, 4, 'r', "(|.satfinite)"},
};

std::string types(const char* elements, const char* accumulator) {
  return fmt::format("{1}.{0}.{0}.{1}", elements, accumulator);
}

const InstructionForms sparse{"mma.sp", [] {
                                std::string lines;
                                for (const Shape& shape : kShapes) lines += line(kBoth, shape);
                                return notation::rows_of(lines);
                              }()};

const InstructionForms fp8{
    "mma.sp fp8 fp6 fp4", [] {
      std::string lines = line(kBoth, {"m16n8k64", types(kFloats8, "f32").c_str(), 4, 4, 'f'}) +
                          line(kBoth, {"m16n8k64", types(kFloats8, "f16").c_str(), 4, 2});
      constexpr const char* kOrdered = "::ordered_metadata";
      lines += line(kOrdered,
                    {"m16n8k64", types(kFloats864, "f32").c_str(), 4, 4, 'f', ".kind::f8f6f4"});
      lines += line(kOrdered,
                    {"m16n8k64", types(kFloats864, "f16").c_str(), 4, 2, 'r', ".kind::f8f6f4"});
      return notation::rows_of(lines);
    }()};

const InstructionForms scaled{
    "mma.sp block-scaled", [] {
      const auto scaled_line = [](const char* shape, const char* kind, const std::string& types) {
        return fmt::format(
            "mma.sp::ordered_metadata.sync.aligned.{}.row.col.kind::{}.{} {{%f[0:4]}}, "
            "{{%r[10:14]}}, "
            "{{%r[20:24]}}, {{%f[0:4]}}, %r30, 0, %r31, {{0, 0}}, %r32, {{0, 0}};\n",
            shape, kind, types);
      };
      const std::string fp4 = "f32.e2m1.e2m1.f32.";
      return notation::rows_of(
          scaled_line("m16n8k64", "mxf8f6f4.block_scale(.scale_vec::1X|)",
                      types(kFloats864, "f32") + ".ue8m0") +
          scaled_line("m16n8k128", "mxf4.block_scale(.scale_vec::2X|)", fp4 + "ue8m0") +
          scaled_line("m16n8k128", "mxf4nvf4.block_scale.scale_vec::(2X|4X)",
                      fp4 + "(ue8m0|ue4m3)"));
    }()};

}  // namespace
