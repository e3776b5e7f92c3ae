// SPDX-License-Identifier: Apache-2.0
// The opcodes of the instructions that probes/numerics runs.
#include <fmt/format.h>

#include "harness/instruction/ptx_text.hpp"
#include "probes/numerics/mma_instruction.hpp"

namespace assay::numerics {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// Types as opcodes have them: f16 and the accumulator f32 of f16 are implied or spelled once.
std::string operand_suffix(const MmaInstruction& i) {
  if (i.element == "f16" || i.element == "f64") return "";
  if (i.fp8() || i.element == "s8") return "." + upper(i.element) + "." + upper(i.element);
  return "." + upper(i.element);
}

std::string accumulator_suffix(const MmaInstruction& i) {
  return i.accumulator == "s32" || i.accumulator == "f64" ? "" : "." + upper(i.accumulator);
}

std::string opcode(const MmaInstruction& i, Target target) {
  const std::string types = accumulator_suffix(i) + operand_suffix(i);
  if (i.family == Family::tcgen05)
    return i.fp8() ? "UTCQMMA" : i.element == "s8" ? "UTCIMMA" : "UTCHMMA";
  if (i.family == Family::wgmma)
    return fmt::format("{}.64x{}x{}{}",
                       i.fp8()             ? "QGMMA"
                       : i.element == "s8" ? "IGMMA"
                                           : "HGMMA",
                       i.n, i.k, types);
  if (i.element == "f64") {
    const std::string name = fmt::format("DMMA.{}x{}x{}", i.m, i.n, i.k);
    return has(target, Feature::dmma_crosses) ? name : replace_all(name, "x", "");
  }
  return fmt::format("{}.{}{}{}{}",
                     i.fp8()             ? "QMMA"
                     : i.element == "s8" ? "IMMA"
                                         : "HMMA",
                     i.m, i.n, i.k, types);
}

}  // namespace

// Hopper and the tcgen05 chips unpack 8-bit floats to f16 for two HMMA.
bool emulated(const MmaInstruction& i, Target target) {
  return i.fp8() && i.family == Family::mma_sync && !has(target, Feature::mma_fp8);
}

std::vector<SassRule> sass_rules(const MmaInstruction& i, Target target, int copies) {
  if (emulated(i, target)) {
    const int halves = i.k / 16;
    return {{fmt::format("HMMA.16816{}", accumulator_suffix(i)), halves * copies, halves * copies},
            {"F2FP", copies}};
  }
  // Only Hopper has the wide f64 shapes; later chips split them.
  if (i.element == "f64" && i.m == 16 && !has(target, Feature::mma_f64_m16_whole)) {
    const int parts = i.k / 4 * 2 * copies;
    return {{"DMMA.8x8x4", parts, parts}};
  }
  return {{opcode(i, target), copies, copies}};
}

std::vector<Target> targets_of(const MmaInstruction& i) {
  if (i.family == Family::wgmma) return targets_with(Feature::wgmma);
  if (i.family == Family::tcgen05)
    return targets_with(i.element == "s8" ? Feature::tcgen05_integers : Feature::tcgen05);
  return i.element == "f64" && i.m == 16 ? targets_with(Feature::mma_f64_m16) : all_gpu_targets();
}

}  // namespace assay::numerics
