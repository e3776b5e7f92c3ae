// SPDX-License-Identifier: Apache-2.0
// How much wgmma must be in flight for the peak: a sweep over N, warpgroups of an SM, accumulators
// that a warpgroup takes turns on, and whether it waits for its last group of four instructions
// (one tile of 128 bytes along K) or leaves that in flight and waits for the one before.
//
// Configurations whose accumulators do not fit in the registers are not there (null).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/tensor_core/wgmma_kernel.hpp"

namespace {

using namespace assay;

constexpr int kSizes[] = {256, 128, 64, 32};
constexpr int kMaxWarpgroups = 4, kMaxChains = 2;
constexpr int kGroups = 8;
constexpr double kOfBest = 0.99;

// Of N, chains and pending there is one kernel, launched with as many warpgroups as its registers
// allow: 65536 of an SM, shared out in eights, 255 a thread at most; 40 beside the accumulators and
// fragments of A.
int warpgroups_for(const WgmmaForm& form, int chains) {
  const int of_a = form.in_registers ? form.steps() * WgmmaForm::kFragment : 0;
  const int needed = chains * form.registers() + of_a + 40;
  for (int warpgroups = kMaxWarpgroups; warpgroups > 0; --warpgroups)
    if (needed <= std::min(255, 65536 / (warpgroups * WgmmaForm::kWarpgroup) / 8 * 8))
      return warpgroups;
  return 0;
}

WgmmaForm form_of(const Case& c, int n) {
  return {c.text("a"), c.text("a"), c.text("accumulate"), n, c.text("source") == "rs"};
}

std::vector<WgmmaKernel> kernels_of(const Case& c) {
  std::vector<WgmmaKernel> all;
  for (const int n : kSizes)
    for (int chains = 1; chains <= kMaxChains; ++chains)
      for (const int pending : {0, 1}) {
        const WgmmaForm form = form_of(c, n);
        const int warpgroups = warpgroups_for(form, chains);
        if (warpgroups == 0) continue;
        all.push_back({.form = form,
                       .entry = fmt::format("n{}_chains{}_pending{}", n, chains, pending),
                       .warpgroups = warpgroups,
                       .chains = chains,
                       .groups = kGroups,
                       .mmas = form.steps() * chains,
                       .pending = pending});
      }
  return all;
}

struct Point {
  const WgmmaKernel* kernel;
  int warpgroups;
  Estimate rate;  // FLOP per clock and SM

  int accumulators() const {  // registers of the SM
    return kernel->chains * kernel->form.registers() * warpgroups;
  }
};

Series series_of(const std::vector<Point>& points) {
  Series series{.name = "flop_per_clock_per_sm",
                .unit = "FLOP/clk/SM",
                .axes = {{"n", {}}, {"chains", {}}, {"pending", {}}, {"warpgroups", {}}}};
  const auto fill = [](Axis& axis, const auto& values) {
    for (const int value : values) axis.points.emplace_back(std::int64_t{value});
  };
  fill(series.axes[0], kSizes);
  fill(series.axes[1], std::array{1, 2});
  fill(series.axes[2], std::array{0, 1});
  fill(series.axes[3], std::array{1, 2, 3, 4});
  for (const int n : kSizes)
    for (int chains = 1; chains <= kMaxChains; ++chains)
      for (const int pending : {0, 1})
        for (int warpgroups = 1; warpgroups <= kMaxWarpgroups; ++warpgroups) {
          const auto found = std::ranges::find_if(points, [&](const Point& p) {
            return p.kernel->form.n == n && p.kernel->chains == chains &&
                   p.kernel->pending == pending && p.warpgroups == warpgroups;
          });
          series.add(found == points.end() ? Estimate(Estimate::kNone) : found->rate);
        }
  return series;
}

void run(State& s) {
  const std::vector<WgmmaKernel> kernels = kernels_of(s.which());
  std::vector<GeneratedKernel> loaded;
  std::vector<Point> points;
  for (const WgmmaKernel& kernel : kernels) {
    loaded.push_back(load_wgmma(s, kernel));
    set_operands(loaded.back(), kernel, uniform_operands(kernel.form, s.seed()));
    for (int warpgroups = 1; warpgroups <= kernel.warpgroups; ++warpgroups)
      points.push_back({&kernel, warpgroups,
                        kernel.flop(warpgroups) / s.cycles_once(loaded.back().on_every_sm(
                                                      warpgroups * WgmmaForm::kWarpgroup))});
  }
  s.add_series(series_of(points));
  const double best = std::ranges::max_element(points, {}, &Point::rate)->rate;
  std::erase_if(points, [&](const Point& p) { return p.rate < kOfBest * best; });
  const Point smallest = *std::ranges::min_element(points, {}, &Point::accumulators);
  s.set_param("smallest_n", std::int64_t{smallest.kernel->form.n});
  s.set_param("smallest_chains", std::int64_t{smallest.kernel->chains});
  s.set_param("smallest_pending", std::int64_t{smallest.kernel->pending});
  s.set_param("smallest_warpgroups", std::int64_t{smallest.warpgroups});
  s.cycles({.flop = smallest.kernel->flop(smallest.warpgroups),
            .limit = smallest.kernel->form.limit(s.target())},
           loaded[static_cast<std::size_t>(smallest.kernel - kernels.data())].on_every_sm(
               smallest.warpgroups * WgmmaForm::kWarpgroup));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* element : {"bf16", "e4m3"})
    for (const char* source : {"ss", "rs"})
      all.push_back({.name = fmt::format("{}/{}", element, source),
                     .params = {{"a", element},
                                {"b", element},
                                {"accumulate", "f32"},
                                {"source", source},
                                {"state", "burst"}},
                     .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "tensor_core/wgmma_in_flight",
    .question =
        "How many warpgroups, accumulators and how large an N does wgmma need for its peak, "
        "and does it matter to wait for every tile?",
    .metrics = {{"flop_per_clock_per_sm",
                 "Operations that one SM does in a cycle; the figure is of the smallest "
                 "configuration that reaches the peak."}},
    .cases = cases(),
    .targets = targets_with(Feature::wgmma),
    .kernels =
        [](const Case& c, Target target) {
          std::vector<KernelUse> uses;
          for (const WgmmaKernel& kernel : kernels_of(c)) uses.push_back(kernel.use(target));
          return uses;
        },
    .run = run,
}};

}  // namespace
