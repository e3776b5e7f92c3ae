// SPDX-License-Identifier: Apache-2.0
// The scalar instructions that kernels spend their issue slots on, one by one: results per clock
// and SM, and cycles until the result can be used. The rows are in the files beside (rows.hpp).
#include <algorithm>
#include <set>
#include <string_view>

#include "harness/limits.hpp"
#include "probes/sass/rows.hpp"

namespace {

using namespace assay;

// Results per clock and SM.
Limit per_clock(double value) {
  if (value <= 0) return {};
  return {value, "results per clock and SM, CUDA C++ Best Practices Guide 13.0, 12.1.1"};
}

bool is_any(std::string_view name, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, name) != all.end();
}

// What the guide says of the opcode that begins the name, in rows of it alone; nothing where it
// says nothing.
Limit documented(const std::string& name, Target target) {
  const std::string opcode = name.substr(0, name.find('/'));
  if (name == "hadd2/f32_f16" || (opcode == "imad" && !name.starts_with("imad/s32"))) return {};
  if (is_any(opcode, {"fadd", "fmul", "ffma"})) return per_clock(128);
  if (is_any(opcode, {"hadd2", "hmul2", "hfma2"})) return per_clock(row_of(target).scalar.half2);
  if (is_any(opcode, {"dadd", "dmul", "dfma"})) return per_clock(row_of(target).scalar.f64);
  if (name == "iadd3/s32") return per_clock(row_of(target).scalar.iadd3);
  if (is_any(opcode, {"imad", "lop3", "shf"})) return per_clock(64);
  if (opcode == "shfl") return per_clock(32);
  if (is_any(opcode, {"popc", "flo", "brev"})) return per_clock(16);
  if (name == "mufu/rcp") return limits::special_function(target, "rcp");
  return {};
}

// Issued every clock on some target, so that a loop needs more copies for its own overhead to
// vanish.
bool is_fast(const std::string& name) {
  const auto every_clock = [&](Target target) { return documented(name, target).value == 128; };
  return std::ranges::any_of(all_gpu_targets(), every_clock) || name.starts_with("fhadd/") ||
         name.starts_with("fhfma/") || name.starts_with("iadd3/");
}

InstructionRow reciprocal_row() {
  return {.name = "mufu/rcp",
          .ptx = "neg.f32 <d>, <d>; rcp.approx.ftz.f32 <d>, <d>;",
          .chain = {"d", "f32", "f32"},
          .step = [](double d, double, double, int) { return -1 / d; },
          .tolerance = 1e-4,
          .sass = scalar::one("MUFU.RCP")};
}

std::vector<InstructionRow> rows() {
  std::vector<InstructionRow> all = scalar::joined({{reciprocal_row()},
                                                    scalar::float_rows(),
                                                    scalar::double_rows(),
                                                    scalar::half_rows(),
                                                    scalar::packed_f32_rows(),
                                                    scalar::integer_rows(),
                                                    scalar::bit_rows(),
                                                    scalar::dpx_rows(),
                                                    scalar::dot_rows(),
                                                    scalar::conversion_rows(),
                                                    scalar::narrow_float_rows(),
                                                    scalar::warp_rows(),
                                                    scalar::uniform_rows()});
  static const std::set<std::string> quick = {"fadd/f32", "fmul/f32", "ffma/f32", "iadd3/s32",
                                              "imad/s32", "lop3/b32", "shf/b32",  "prmt/b32",
                                              "popc/b32", "mufu/rcp", "dfma/f64", "hfma2/f16x2"};
  for (InstructionRow& row : all) {
    row.ops = (row.chain.uniform ? 1 : 32) * row.in_a_row;
    row.warps = 32;
    row.chains = is_fast(row.name) ? 8 : 4;
    row.unroll = (is_fast(row.name) ? 64 : 32) / row.in_a_row;
    if (!row.params.contains("per_step"))
      row.limit = [name = row.name](Target target) { return documented(name, target); };
    if (!quick.contains(row.name)) row.suite = Suite::full;
  }
  return all;
}

const Registration registration{instruction_probe(
    {.name = "sass",
     .question = "How many of each arithmetic instruction does an SM finish per clock, and after "
                 "how many cycles is a result there?"},
    rows())};

}  // namespace
