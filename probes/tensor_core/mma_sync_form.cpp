// SPDX-License-Identifier: Apache-2.0
// What a form of mma.sync looks like in PTX, what it becomes in SASS, and what it computes.
// PTX ISA 9.0, "Warp Level Matrix Multiply-Accumulate Instructions: mma, mma.sp" and the fragments
// there.
#include <fmt/format.h>

#include <algorithm>

#include "harness/element.hpp"
#include "harness/limits.hpp"
#include "probes/tensor_core/mma_sync.hpp"

namespace assay::mma_sync {
namespace {

// Indices (2, 3) of each four elements, then (0, 1): legal for every type, whatever the thread.
constexpr double kMetadata = 0x4E4E4E4E;

bool is_one_of(const std::string& text, std::initializer_list<std::string_view> choices) {
  return std::ranges::find(choices, text) != choices.end();
}
bool is_narrow(const std::string& element) { return is_one_of(element, {"e3m2", "e2m3", "e2m1"}); }
bool is_4_bit(const Form& form) { return is_one_of(form.a, {"s4", "u4"}); }
// Volta's shape: each quarter of the warp multiplies matrices of its own.
bool is_volta(const Form& form) { return form.a == "f16" && form.m == 8; }
int products(const Form& form) { return is_volta(form) ? 4 : 1; }
bool is_packed_fp4(const Form& form) { return is_one_of(form.kind, {"mxf4", "mxf4nvf4"}); }

std::string shape_of(const Form& form) { return fmt::format("m{}n{}k{}", form.m, form.n, form.k); }

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

// An e2m1 beside wider elements has a byte to itself.
std::string packed(const Form& form, const std::string& element) {
  return element == "e2m1" && !is_packed_fp4(form) ? "e2m1_b8" : element;
}

Operand operand(const char* name, const std::string& element, int elements) {
  const int bits = element_bits(element);
  const char* reg = bits == 64 ? "f64" : element == "f32" ? "f32" : "b32";
  return {name, reg, element, elements * bits / (32 * (bits == 64 ? 64 : 32))};
}

std::string ptx_of(const Form& form) {
  std::string text = form.sparse ? "mma.sp::ordered_metadata" : "mma";
  text += ".sync.aligned." + shape_of(form) + ".row.col";
  if (!form.kind.empty()) text += ".kind::" + form.kind;
  if (!form.scale.empty()) text += fmt::format(".block_scale.scale_vec::{}X", form.scales);
  if (form.saturate) text += ".satfinite";
  text += fmt::format(".{}.{}.{}.{}", form.accumulator, form.a, form.b, form.accumulator);
  if (!form.scale.empty()) text += "." + form.scale;
  if (!form.operation.empty()) text += "." + form.operation + ".popc";
  text += " {<d>}, {<a>}, {<b>}, {<d>}";
  if (form.sparse) text += ", <metadata>, 0";
  if (!form.scale.empty()) text += ", <scale_a>, {0, 0}, <scale_b>, {0, 0}";
  return text + ";";
}

// A scale register holds four of them; which of its bytes, of which thread of each four, counts is
// immediate. All are 1.
std::vector<Operand> inputs_of(const Form& form) {
  std::vector<Operand> inputs = {
      operand("a", packed(form, form.a), products(form) * form.m * form.k / (form.sparse ? 2 : 1)),
      operand("b", packed(form, form.b), products(form) * form.n * form.k)};
  if (form.sparse) inputs.push_back({"metadata", "b32", "u32", 1, kMetadata});
  if (!form.scale.empty())
    for (const char* name : {"scale_a", "scale_b"})
      inputs.push_back({name, "b32", form.scale == "ue4m3" ? "e4m3" : form.scale, 1, 1.0});
  return inputs;
}

// The one instruction that does it where there is one.
std::string native_opcode(const Form& form) {
  if (form.a == "f64") return fmt::format("DMMA.{}x{}x{}", form.m, form.n, form.k);
  const std::string shape = fmt::format(".{}{}{}", form.m, form.n, form.k);
  const std::string elements = "." + upper(form.a) + "." + upper(form.b);
  const std::string sparse = form.sparse ? ".SP" : "";
  if (form.a == "b1") return "BMMA" + shape + "." + upper(form.operation) + ".POPC";
  if (form.accumulator == "s32")
    return "IMMA" + sparse + shape + elements + (form.saturate ? ".SAT" : "");
  const std::string accumulator = "." + upper(form.accumulator);
  if (is_one_of(form.a, {"f16", "bf16", "tf32"}))
    return "HMMA" + sparse + shape + accumulator + (form.a == "f16" ? "" : "." + upper(form.a));
  if (form.scale.empty()) return "QMMA" + sparse + shape + accumulator + elements;
  return (is_packed_fp4(form) ? "OMMA.SF" : "QMMA.SF") + sparse + shape + accumulator + elements +
         (form.scale == "ue8m0" ? ".E8" : ".UE4M3.4X");
}

bool is_emulated(const Form& form, Target target) {
  if (is_volta(form)) return true;
  if (is_4_bit(form)) return !has(target, Feature::mma_s4);
  if (form.a == "b1")
    return !has(target, form.operation == "xor" ? Feature::mma_b1_xor : Feature::mma_b1_and);
  if (is_fp8(form.a) && is_fp8(form.b)) return !has(target, Feature::mma_fp8);
  return false;
}

// A routine of the assembler's, such as __cuda_sm_9x_mma_sub_byte_internal_m16n8k64_s4_s4, which
// unpacks to bytes and multiplies those; one of Volta's shape multiplies on the FMA pipe.
const std::vector<SassRule> kRoutine = {{"CALL", 1}};

std::vector<SassRule> emulation(const Form& form) {
  if (!is_fp8(form.a)) return kRoutine;
  // fp8 is unpacked to f16, registers of two elements each, and multiplied in two halves along k,
  // whose sums are added to the accumulators.
  const int unpacked = (form.m * form.k / (form.sparse ? 2 : 1) + form.n * form.k) / 64;
  return {{fmt::format("HMMA{}.{}{}{}.{}", form.sparse ? ".SP" : "", form.m, form.n, form.k / 2,
                       upper(form.accumulator)),
           2, 2},
          {"F2FP", unpacked, 2 * unpacked}};
}

std::vector<SassRule> sass_of(const Form& form, Target target) {
  if (is_emulated(form, target)) return emulation(form);
  // Only Hopper has the wide f64 shapes; later chips split them.
  if (form.a == "f64" && form.m == 16 && !has(target, Feature::mma_f64_m16_whole)) {
    const int parts = form.m / 8 * form.k / 4;
    return {{"DMMA.8x8x4", parts, parts}};
  }
  if (form.a == "f64" && !has(target, Feature::dmma_crosses)) return {{"DMMA.884", 1, 1}};
  // From sm_100 on half of the rows of the larger shape go unused.
  if (form.accumulator == "s32" && form.m == 8 && !has(target, Feature::mma_s8_m8)) {
    Form larger = form;
    larger.m = 16;
    return {{native_opcode(larger), 1, 1}};
  }
  return {{native_opcode(form), 1, 1}};
}

std::vector<Target> targets_of(const Form& form) {
  if (form.a == "f64" && form.m == 16) return targets_with(Feature::mma_f64_m16);
  if (!form.scale.empty()) return targets_with(Feature::mma_block_scale);
  if (is_narrow(form.a) || is_narrow(form.b)) return targets_with(Feature::mma_narrow_floats);
  if (form.sparse && is_fp8(form.a) && form.accumulator == "f16")
    return targets_with(Feature::mma_narrow_floats);
  return form.kind.empty() ? all_gpu_targets() : targets_with(Feature::mma_kinds);
}

// As harness/limits.hpp knows it. Narrow floats beside wider ones run as the wider do.
std::string limit_element(const Form& form) {
  if (is_packed_fp4(form)) return "mxf4";
  if (!form.scale.empty()) return is_fp8(form.a) || is_fp8(form.b) ? "mxf8" : "mxf6";
  return is_fp8(form.b) ? form.b : form.a;
}

const char* sparsity_of(const Form& form) {
  return form.a == "tf32" ? "1:2" : is_4_bit(form) || is_packed_fp4(form) ? "4:8" : "2:4";
}

}  // namespace

bool is_fp8(const std::string& element) { return is_one_of(element, {"e4m3", "e5m2"}); }

std::string name_of(const Form& form) {
  std::string name = form.type;
  if (name.empty()) name = form.a == form.b ? form.a : form.a + "_" + form.b;
  name += "/" + shape_of(form);
  if (!form.operation.empty()) name += "/" + form.operation;
  // The kind where the elements alone would not tell.
  const bool other_kind = form.kind == "f8f6f4" && is_fp8(form.a) && is_fp8(form.b);
  if (other_kind || (form.kind == "mxf4nvf4" && form.scale == "ue8m0"))
    name += "/kind_" + form.kind;
  if (form.saturate) name += "/satfinite";
  if (form.accumulator == "f16") name += "/acc_f16";
  if (form.sparse) name += "/sparse";
  return name;
}

InstructionRow row_of(const Form& form) {
  const bool integer = form.accumulator == "s32";
  const bool fp4 = form.a == "e2m1" || form.b == "e2m1";
  const bool f16_sum = form.accumulator == "f16";
  const double multiplied = form.k / (form.sparse ? 2.0 : 1.0);
  InstructionRow row = {
      .name = name_of(form),
      .ptx = ptx_of(form),
      .chain = operand("d", form.accumulator, products(form) * form.m * form.n),
      .inputs = inputs_of(form),
      .step = [multiplied, exclusive = form.operation == "xor"](
                  double d, double a, double b,
                  int) { return d + multiplied * (exclusive ? (a != b) : a * b); },
      // 256 steps of at most 8 stay below 2048, up to which f16 has all integers.
      .d0 = f16_sum ? -1024.0 : 1.0,
      .a = form.a == "b1" ? 1.0
           : integer      ? 3.0
                          : 0.5,
      .b = form.a == "b1" ? (form.operation == "xor" ? 0.0 : 1.0)
           : integer      ? 2.0
           : fp4          ? 0.5
                          : 0.25,
      .flop = 2.0 * products(form) * form.m * form.n * form.k,
      .random_data = true,
      .limit =
          [e = limit_element(form), sparse = form.sparse](Target target) {
            return sparse ? limits::sparse_tensor(target, e) : limits::tensor(target, e);
          },
      .sass = [form](Target target) { return sass_of(form, target); },
      .emulated = [form](Target target) { return is_emulated(form, target); },
      .params = {{"a", form.type.empty() ? form.a : form.type},
                 {"b", form.type.empty() ? form.b : form.type},
                 {"accumulate", form.accumulator},
                 {"shape", shape_of(form)},
                 {"k", std::int64_t{form.k}}},
      .targets = targets_of(form),
      .suite = Suite::full};
  if (form.sparse && is_fp8(form.a)) row.warps = 8;  // its emulation takes many registers
  if (form.sparse) row.params["sparsity"] = std::string(sparsity_of(form));
  if (!form.operation.empty()) row.params["operation"] = form.operation;
  return row;
}

}  // namespace assay::mma_sync
