// SPDX-License-Identifier: Apache-2.0
// The head dimension and tile at which softmax's 2^x bounds attention, for each type of MMA.
//
// Rates of MMAs by their width, of MUFU.EX2 and of the best mix with a polynomial of degree 3 are
// measured here, one after another, all per clock of one SM.
#include "probes/special_function/imbalance.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/callable.hpp"
#include "harness/limits.hpp"
#include "harness/statistics.hpp"
#include "probes/special_function/exp2_mix.hpp"
#include "probes/tensor_core/mma_sync.hpp"
#include "probes/tensor_core/wgmma_kernel.hpp"

namespace assay::imbalance {
namespace {

// Of the MMAs, so of the tile of keys and of the head dimension.
constexpr int kWidths[] = {32, 64, 96, 128, 192, 256};
constexpr std::size_t kUsual = 3;                       // 128: whose rate balances
constexpr int kDegree = 3, kMixes[] = {4, 5, 6, 7, 8};  // sixteenths by polynomial

constexpr KernelShape kMmaShape{.warps = 16, .chains = 4, .unroll = 8};

struct Type {
  const char *family, *a, *accumulator;
  int k;  // of mma.sync
};
constexpr Type kTypes[] = {{"wgmma", "bf16", "f32", 16},    {"wgmma", "f16", "f32", 16},
                           {"wgmma", "e4m3", "f32", 32},    {"wgmma", "s8", "s32", 32},
                           {"mma_sync", "bf16", "f32", 16}, {"mma_sync", "e4m3", "f32", 32},
                           {"mma_sync", "s8", "s32", 32}};

bool is_wgmma(const Case& c) { return c.text("family") == "wgmma"; }

WgmmaKernel wgmma(const Case& c, int n) {
  return {.form = {.a = c.text("a"), .b = c.text("a"), .accumulator = c.text("accumulate"), .n = n},
          .entry = fmt::format("mma_n{}", n)};
}

InstructionRow mma_sync_row(const Case& c) {
  return mma_sync::row_of({.a = c.text("a"),
                           .b = c.text("a"),
                           .accumulator = c.text("accumulate"),
                           .k = static_cast<int>(c.i64("k"))});
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  std::vector<KernelUse> uses;
  if (is_wgmma(c))
    for (const int n : kWidths) uses.push_back(wgmma(c, n).use(target));
  else
    uses.push_back(row_kernel(mma_sync_row(c), kMmaShape, "mma", target));
  uses.push_back(row_kernel(exp2_mix_row(kDegree, 0, Argument::negated), kMixShape, "exp", target));
  for (const int mix : kMixes)
    uses.push_back(row_kernel(exp2_mix_row(kDegree, mix, Argument::scaled), kMixShape,
                              exp2_mix_entry(mix, Argument::scaled), target));
  return uses;
}

struct Mma {
  double flop;  // of a round on one SM
  Callable<void(const Launch&)> launch;
};

// `width` counts for wgmma alone: mma.sync is 8 wide, whatever the tile.
Mma prepare_mma(State& s, int width) {
  if (!is_wgmma(s.which())) {
    const InstructionRow row = mma_sync_row(s.which());
    return {row.flop * kMmaShape.warps * kMmaShape.chains * kMmaShape.unroll,
            prepare_row(s, row, kMmaShape, "mma")};
  }
  const WgmmaKernel kernel = wgmma(s.which(), width);
  const GeneratedKernel loaded = load_wgmma(s, kernel);
  set_operands(loaded, kernel, uniform_operands(kernel.form, s.seed()));
  return {kernel.flop(kernel.warpgroups), loaded.on_every_sm()};
}

void run(State& s) {
  const Mma usual = prepare_mma(s, kWidths[kUsual]);
  const std::vector<double> mma = s.cycles(
      {.flop = usual.flop, .limit = limits::tensor(s.target(), s.text("a"))}, usual.launch);
  const std::vector<double> exp =
      s.cycles({.ops = kMixResults},
               prepare_row(s, exp2_mix_row(kDegree, 0, Argument::negated), kMixShape, "exp"));
  const double exps = kMixResults / median(exp);
  double mixed = 0;
  for (const int mix : kMixes) {
    const double cycles =
        s.cycles_once(prepare_row(s, exp2_mix_row(kDegree, mix, Argument::scaled), kMixShape,
                                  exp2_mix_entry(mix, Argument::scaled)));
    mixed = std::max(mixed, kMixResults / cycles);
  }

  std::vector<double> rates;
  for (const int width : kWidths) {
    if (!rates.empty() && !is_wgmma(s.which())) {
      rates.push_back(rates.front());
      continue;
    }
    const Mma one = prepare_mma(s, width);
    rates.push_back(one.flop / s.cycles_once(one.launch));
  }
  std::vector<double> balance, balance_mixed;
  for (const double cycles : mma) {
    balance.push_back(balance_head_dim(usual.flop / cycles, exps));
    balance_mixed.push_back(balance_head_dim(usual.flop / cycles, mixed));
  }
  s.add_metric("balance_head_dim", "", Better::lower, balance);
  s.add_metric("balance_head_dim_mixed", "", Better::lower, balance_mixed);
  s.lead_with("balance_head_dim");
  s.add_exact("mixed_ops_per_clock_per_sm", "op/clk/SM", Better::higher, mixed);

  Axis keys{"tile_of_keys", {}}, head_dims{"head_dim", {}};
  for (const int width : kWidths) {
    keys.points.emplace_back(std::int64_t{width});
    head_dims.points.emplace_back(std::int64_t{width});
  }
  const auto map = [&](double exp_rate) {
    std::vector<double> values;
    for (const double scores : rates)
      for (std::size_t i = 0; i < rates.size(); ++i)
        values.push_back(exp_to_mma_time(scores, rates[i], exp_rate, kWidths[i]));
    return values;
  };
  s.add_series({"flop_per_clock_per_sm", "FLOP/clk/SM", {{"width", keys.points}}, rates});
  s.add_series({"exp_to_mma_time", "", {keys, head_dims}, map(exps)});
  s.add_series({"exp_to_mma_time_mixed", "", {keys, head_dims}, map(mixed)});
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Type& type : kTypes) {
    const bool wgmma = std::string_view(type.family) == "wgmma";
    // Where mma.sync of 8-bit floats is native.
    const bool fp8 = !wgmma && type.a[0] == 'e';
    all.push_back(
        {.name = fmt::format("{}_{}", type.family, type.a),
         .params = {{"family", type.family},
                    {"a", type.a},
                    {"b", type.a},
                    {"accumulate", type.accumulator},
                    {"k", std::int64_t{type.k}},
                    {"state", "burst"}},
         .targets = wgmma ? targets_with(Feature::wgmma)
                    : fp8 ? targets_with(Feature::mma_fp8)
                          : std::vector<Target>{},
         .suite = wgmma && std::string_view(type.a) == "bf16" ? Suite::quick : Suite::full});
  }
  return all;
}

const Registration registration{{
    .name = "special_function/imbalance",
    .question = "Below which head dimension does softmax's 2^x take longer than attention's matrix "
                "math?",
    .metrics =
        {{"balance_head_dim",
          "Head dimension at which MUFU.EX2 alone takes as long as attention's matrix math."},
         {"balance_head_dim_mixed",
          "Head dimension at which the best mix with a polynomial takes as long as attention's "
          "matrix math."},
         {"ops_per_clock_per_sm", "Results of 2^x of one SM in a cycle by MUFU.EX2 alone."},
         {"mixed_ops_per_clock_per_sm",
          "Results of 2^x of one SM in a cycle by the best mix with a polynomial."},
         {"flop_per_clock_per_sm",
          "Operations of the MMA that one SM does in a cycle; the series is by its width."},
         {"exp_to_mma_time",
          "Time of 2^x by MUFU.EX2 over that of the matrix math, by tile of keys and head "
          "dimension."},
         {"exp_to_mma_time_mixed",
          "Time of 2^x by the best mix over that of the matrix math, by tile of keys and head "
          "dimension."}},
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
}  // namespace assay::imbalance
