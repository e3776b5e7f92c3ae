// SPDX-License-Identifier: Apache-2.0
// Which instructions share a pipe.
//
// Three copies of one instruction, then three of another, all independent, in 32 warps. On
// different pipes the pair takes as long as the slower of the two, or as the two issue slots it
// needs; on one pipe, as long as both together. Copies come in threes so that their common inputs
// are latched: one by one, what they read would be the bottleneck (see operands.cpp). More chains
// of two kinds of comparisons would need more predicates than there are. What a pair takes lies
// between, and a report clusters the instructions by it. With `assay run --counters` the hardware's
// own count of instructions per pipe stands beside.
#include <fmt/format.h>

#include <algorithm>

#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

// One of each kind that a kernel's inner loop is likely to hold; rows of the other tables.
constexpr const char* kRepresentatives[] = {
    "sass/fadd/f32",
    "sass/fmul/f32",
    "sass/ffma/f32",
    "sass/fmnmx/max_f32",
    "sass/fsel/f32",
    "sass/fsetp/f32",
    "sass/hadd2/f16x2",
    "sass/hfma2/f16x2",
    "sass/hfma2/bf16x2",
    "sass/hmnmx2/max_f16x2",
    "sass/dadd/f64",
    "sass/dmul/f64",
    "sass/dfma/f64",
    "sass/dsetp/f64",
    "sass/iadd3/s32",
    "sass/imad/s32",
    "sass/imad/wide_u32",
    "sass/idp/dp4a_u32_u32",
    "sass/lop3/b32",
    "sass/shf/b32",
    "sass/prmt/b32",
    "sass/sel/b32",
    "sass/isetp/s32",
    "sass/bmsk/wrap_b32",
    "sass/sgxt/wrap_u32",
    "sass/vabsdiff/u32",
    "sass/popc/b32",
    "sass/flo/u32",
    "sass/brev/b32",
    "sass/mufu/rcp",
    "sass/i2f/f64_s32",
    "sass/i2fp/f32_s32",
    "sass/f2i/s32_f32",
    "sass/frnd/floor_f32",
    "sass/f2f/f64_f32",
    "sass/f2fp/f16x2_f32",
    "sass/shfl/idx_b32",
    "sass/movm/b16",
    "special_function/ex2/f32",
    "tensor_core/mma_sync/f16/m16n8k16",
    "tensor_core/mma_sync/s8/m16n8k32",
    "tensor_core/mma_sync/f64/m8n8k4",
};

constexpr KernelShape kShape{.warps = 32, .chains = 3, .unroll = 11};
constexpr double kCopies = kShape.chains * kShape.unroll;
// Warp instructions that each of an SM's four schedulers issues of one row in a round.
constexpr double kIssued = kCopies * kShape.warps / 4;

const InstructionRow& row_of(const std::string& name) {
  const InstructionRow* row = find_instruction(name);
  if (!row) throw std::logic_error("no instruction row is named " + name);
  return *row;
}

// "ffma/f32" of "sass/ffma/f32", "mma_sync/f16/m16n8k16" of "tensor_core/mma_sync/f16/m16n8k16".
std::string short_name(const std::string& name) { return name.substr(name.find('/') + 1); }

// Whether a row is one native instruction on this target.
bool is_native(const InstructionRow& row, Target target) {
  const bool exists =
      row.targets.empty() || std::ranges::find(row.targets, target) != row.targets.end();
  return exists && !(row.emulated && row.emulated(target));
}

// Those after it in the list: a pair is measured once.
std::vector<std::string> partners_of(const std::string& name, Target target) {
  std::vector<std::string> partners;
  const auto self = std::ranges::find(kRepresentatives, name);
  for (auto other = std::next(self); other != std::end(kRepresentatives); ++other)
    if (is_native(row_of(*other), target)) partners.emplace_back(*other);
  return partners;
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const std::string& name = c.text("instruction");
  const InstructionRow& row = row_of(name);
  if (!is_native(row, target)) return {};
  std::vector<KernelUse> uses = {row_kernel(row, kShape, "alone", target)};
  uses.front().role = Role::throughput;
  for (const std::string& partner : partners_of(name, target)) {
    const InstructionRow both[] = {row, row_of(partner)};
    uses.push_back(row_kernel(both, kShape, fmt::format("with{}", uses.size()), target));
  }
  return uses;
}

void run(State& s) {
  const std::string& name = s.text("instruction");
  const InstructionRow& row = row_of(name);
  if (!is_native(row, s.target())) s.skip("this instruction is not native on this target");
  s.set_param("opcode", row.sass(s.target()).front().opcode);
  const std::vector<double> alone =
      s.cycles({.ops = kCopies * kShape.warps * 32}, prepare_row(s, row, kShape, "alone"));
  std::vector<double> per_instruction;
  for (const double cycles : alone) per_instruction.push_back(cycles / kIssued);
  s.add_metric("cycles_per_instruction", "cycle", Better::lower, per_instruction);

  Series pairs{.name = "pair_cycles", .unit = "cycle", .axes = {{"partner", {}}}, .values = {}};
  for (const std::string& partner : partners_of(name, s.target())) {
    const InstructionRow both[] = {row, row_of(partner)};
    const std::string entry = fmt::format("with{}", pairs.values.size() + 1);
    const GeneratedKernel kernel = prepare_rows(s, both, kShape, entry);
    pairs.axes[0].points.emplace_back(short_name(partner));
    pairs.add(s.cycles_once(kernel.on_every_sm()) / kIssued);
  }
  s.add_series(std::move(pairs));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string name : kRepresentatives)
    all.push_back({.name = short_name(name),
                   .params = {{"instruction", name}, {"state", "burst"}},
                   .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "sass/pipes",
    .question = "Which instructions share a pipe, and which run side by side?",
    .metrics = {{"cycles_per_instruction",
                 "Cycles of a scheduler for each copy of the instruction, alone."},
                {"pair_cycles",
                 "Cycles of a scheduler for one copy of the instruction and one of its partner "
                 "together."}},
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
