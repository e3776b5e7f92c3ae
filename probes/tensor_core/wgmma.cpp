// SPDX-License-Identifier: Apache-2.0
// wgmma of every type, size of N, source of A, accumulator, and with a sparse A.
//
// Throughput: two warpgroups of one CTA on every SM. latency_cycles: the interval at which one
// warpgroup's instructions that add to the same accumulators follow each other, which published
// tables call latency (Luo et al., arXiv:2501.12084, tables 8 and 9). Groups of 32 are committed
// and waited for with one still in flight, so that nothing of the wait shows: at m64n256 it is the
// 128 cycles of the tensor cores' work, no more. completion_cycles: one instruction alone, from its
// issue until wgmma.wait_group returns.
//
// The interval is the longer of two: what the tensor cores need, 2 * 64 * N * K / peak = N / 2
// cycles, and what the operands take out of shared memory at 128 bytes a clock, (64 + N) * 32 / 128
// = 16 + N / 4 (RS: N / 4, down to 13 cycles, which no source of A goes below). They cross at
// N = 64. So below it SS flattens to 24, 20 and 18 cycles at N = 32, 16, 8, just as published, and
// more warpgroups do not help: each reads its operands. RS keeps N / 2 longer, and loses nothing
// above. A sparse instruction reads 64 bytes of each column of B in the same N / 2 cycles: N / 2
// from B alone, and 16 cycles more with A there too, so only RS can reach the doubled peak (SS at
// N = 256: 128 / 144 of it).

#include "probes/tensor_core/wgmma_kernel.hpp"

namespace {

using namespace assay;

WgmmaKernel in_flight(const WgmmaForm& form) { return {.form = form, .entry = "in_flight"}; }
WgmmaKernel alone(const WgmmaForm& form) {
  return {.form = form,
          .entry = "alone",
          .warpgroups = 1,
          .groups = 2 * form.steps(),
          .mmas = 1,
          .pending = 0};
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const WgmmaForm form = WgmmaForm::of(c);
  std::vector<KernelUse> uses = {in_flight(form).use(target), alone(form).use(target)};
  uses.front().role = Role::throughput;
  return uses;
}

void run(State& s) {
  const WgmmaForm form = WgmmaForm::of(s.which());
  const WgmmaOperands operands = uniform_operands(form, s.seed());
  const auto load = [&](const WgmmaKernel& kernel) {
    GeneratedKernel loaded = load_wgmma(s, kernel);
    set_operands(loaded, kernel, operands);
    return loaded;
  };
  const Limit limit = form.limit(s.target());
  const bool short_of_operands = form.shared_memory_cycles() > form.flop() / limit.value;
  s.set_param("bound", short_of_operands ? "shared memory" : "tensor cores");
  const WgmmaKernel many = in_flight(form), one = alone(form);
  const GeneratedKernel loaded = load(many);
  s.cycles({.flop = many.flop(2), .limit = limit}, loaded.on_every_sm(2 * WgmmaForm::kWarpgroup));
  s.cycles({.steps = static_cast<double>(many.instructions())},
           loaded.on_every_sm(WgmmaForm::kWarpgroup));
  s.add_exact("completion_cycles", "cycle", Better::lower,
              s.cycles_once(load(one).on_every_sm()) / one.instructions());
}

struct Types {
  const char *a, *b, *accumulator;
  bool sustained = false;  // not f16 accumulators, which soon overflow and then draw little power
  bool headline = false;   // RS and sparse A in the quick tour, sustained sparse in the full one
};
constexpr Types kTypes[] = {{"bf16", "bf16", "f32", true, true},
                            {"f16", "f16", "f32", true},
                            {"tf32", "tf32", "f32", true},
                            {"e4m3", "e4m3", "f32", true, true},
                            {"e5m2", "e5m2", "f32"},
                            {"e4m3", "e5m2", "f32"},
                            {"s8", "s8", "s32", true},
                            {"u8", "u8", "s32"},
                            {"b1", "b1", "s32", true},
                            {"f16", "f16", "f16"},
                            {"e4m3", "e4m3", "f16"},
                            {"e5m2", "e5m2", "f16"},
                            {"e4m3", "e5m2", "f16"}};

// All the way where shared memory sets the pace of the small ones, the corners elsewhere.
std::vector<int> sizes_of(const Types& types, bool in_registers, bool sparse) {
  if (types.accumulator == std::string_view("f16")) return {256};
  if (sparse) return {256, 128, 64, 32};
  if (in_registers) return {256, 128, 64, 32, 16, 8};
  return {256, 192, 128, 96, 64, 48, 32, 24, 16, 8};
}

void add_cases(std::vector<Case>& all, const Types& types, bool in_registers, bool sparse) {
  const bool plain = !in_registers && !sparse;
  for (const int n : sizes_of(types, in_registers, sparse)) {
    const WgmmaForm form{types.a, types.b, types.accumulator, n, in_registers, sparse};
    const auto add = [&](const char* state, bool quick) {
      const bool sustained = state == std::string_view("sustained");
      Params params = form.params();
      params["state"] = state;
      all.push_back({.name = form.name() + (sustained ? "/sustained" : ""),
                     .params = params,
                     .suite = quick ? Suite::quick : Suite::full});
    };
    add("burst", n == 256 && (plain || types.headline));
    if (n == 256 && !in_registers && (plain ? types.sustained : types.headline))
      add("sustained", plain);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Types& types : kTypes)
    for (const bool sparse : {false, true})
      for (const bool in_registers : {false, true})
        if (!sparse || types.a != std::string_view("b1"))
          add_cases(all, types, in_registers, sparse);
  return all;
}

const Registration registration{{
    .name = "tensor_core/wgmma",
    .question = "What does Hopper's warpgroup MMA deliver per data type, N, source of A, "
                "accumulator and sparsity, at which interval do instructions follow, and how long "
                "does one take?",
    .metrics =
        {{"latency_cycles",
          "Cycles between instructions of one warpgroup that add to the same accumulators."},
         {"completion_cycles",
          "Cycles of one instruction alone, from its issue until wgmma.wait_group returns."}},
    .cases = cases(),
    .targets = targets_with(Feature::wgmma),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
