// SPDX-License-Identifier: Apache-2.0
// Latency of a dependent load over the footprint it is drawn from, by cache operator and width.
//
// One warp of one SM chases in random order; all else is idle. Where the curve leaves a plateau the
// level below is full: the largest footprint still on it is that level's capacity (to the step of
// the curve, a quarter of an octave). Between two plateaus a load may find its line in either, and
// other SMs find other values, since they are nearer to other parts of L2.
//
// A cache does not forget at once what it held before. So each footprint is gone round before the
// clock starts, in the order of the walk, twice, four times, and so on up to sixteen times, until
// two passes agree; "rounds" says after how many, and nothing where they still differ. What L1 may
// keep is gone round by the walk itself: up to 8 MiB, for where a line holds several places, one of
// them brings it back when another has gone, and 6% of the loads still hit at 1 MiB.
//
// memory/tlb chases over one line of each page, so that pages alone are too many, not bytes: the
// curve shows how far each TLB reaches and what a miss costs.
#include <algorithm>
#include <cmath>

#include "harness/device.hpp"
#include "probes/memory/chase_plan.hpp"
#include "probes/memory/levels.hpp"
#include "probes/memory/plateaus.hpp"
#include "probes/memory/tlb.hpp"

namespace {

using namespace assay;

constexpr ChaseLoad kLoads[] = {
    {"ca", "ld.global.ca.u64", 8, "LDG.E.64"},
    {"cg", "ld.global.cg.u64", 8, "LDG.E.64.STRONG.GPU"},
    {"volatile", "ld.volatile.global.u64", 8, "LDG.E.64.STRONG.SYS"},
    {"nc", "ld.global.nc.u64", 8, "LDG.E.64.CONSTANT"},
    {"b32", "ld.global.ca.u32", 4, "LDG.E"},
    {"b128", "ld.global.ca.v2.u64", 16, "LDG.E.128"},
    {"b256", "ld.global.v4.u64", 32, "LDG.E.ENL2.256"},
};
constexpr std::uint64_t kMiB = 1 << 20, kGiB = 1 << 30, kMayHitL1 = 8 * kMayBeInL1;
constexpr std::uint64_t kSectorStride = 32, kLineStride = sizeof(Line), kPageStride = 2 * kMiB;
constexpr int kPerOctave = 4;
constexpr const char* kRounds =
    "Rounds before the clock started after which two passes over this footprint agreed within 3%; "
    "nothing where they still differed after 16.";
constexpr const char* kUnsteady =
    "Footprints whose passes still differed after 16 rounds: no steady state was found there.";

const ChaseLoad& load_of(const Case& c) {
  return *std::ranges::find(kLoads, c.text("load"), &ChaseLoad::name);
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  return {chase_use(load_of(c), target)};
}

void add_curves(State& s, const std::vector<std::uint64_t>& bytes,
                const std::vector<Settled>& found) {
  Series cycles{"latency_cycles", "cycle", {{"footprint_bytes", {}}}, {}};
  Series rounds{"rounds", "", {{"footprint_bytes", {}}}, {}};
  int unsteady = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (Series* series : {&cycles, &rounds})
      series->axes[0].points.emplace_back(static_cast<std::int64_t>(bytes[i]));
    cycles.values.push_back(found[i].value);
    rounds.values.push_back(found[i].rounds ? found[i].rounds : NAN);
    unsteady += found[i].rounds == 0;
  }
  s.add_exact("unsteady_points", "", Better::lower, unsteady);
  s.add_series(std::move(cycles));
  s.add_series(std::move(rounds));
}

std::vector<double> values(const std::vector<Settled>& found) {
  std::vector<double> all;
  for (const Settled& point : found) all.push_back(point.value);
  return all;
}

void name_levels(State& s, const std::vector<std::uint64_t>& bytes,
                 const std::vector<double>& cycles, std::uint64_t stride) {
  const auto levels = named_levels(bytes, cycles, s.device().l2_bytes);
  for (const auto& [name, plateau] : levels) {
    s.add_exact(name + "_latency_cycles", "cycle", Better::lower, plateau.level);
    if (plateau.last + 1 < bytes.size()) {
      const std::uint64_t held = bytes[plateau.last] / std::max(stride / kLineStride, 1ul);
      s.add_exact(name + "_capacity_bytes", "byte", Better::higher, static_cast<double>(held));
    }
  }
  if (levels.empty())
    s.add_exact("least_latency_cycles", "cycle", Better::lower, std::ranges::min(cycles));
}

void run_curve(State& s) {
  const ChaseLoad& load = load_of(s.which());
  const auto stride = static_cast<std::uint64_t>(s.i64("stride"));
  const std::uint64_t l2_bytes = s.device().l2_bytes;
  // Memory: as far as TLBs may reach. Caches: what lies well behind them.
  const std::uint64_t wanted = s.text("to") == "memory" ? 8 * kGiB : 8 * l2_bytes;
  const std::vector<std::uint64_t> bytes =
      footprints(1 << 10, std::min(wanted, s.device().memory_bytes / 4), kPerOctave);
  auto* base = s.allocate<char>(bytes.back());
  std::vector<ChasePoint> points;
  for (const std::uint64_t footprint : bytes) {
    const auto count = static_cast<std::uint32_t>(footprint / stride);
    points.push_back({{base, count, stride}, footprint <= kMayHitL1, true});
  }
  const std::vector<Settled> found = chase_until_steady(s, load, points);
  name_levels(s, bytes, values(found), stride);
  add_curves(s, bytes, found);
}

// One line of each page of 2 MiB, each on a line of its own of the page, over nearly all of memory.
void run_tlb(State& s) {
  std::size_t free = 0, all = 0;
  check(cudaMemGetInfo(&free, &all));
  const std::uint64_t most = std::min<std::uint64_t>(256 * kGiB, free - free / 8);
  const std::vector<std::uint64_t> bytes = footprints(32 * kPageStride, most, kPerOctave);
  auto* base = s.allocate<char>(most);
  std::vector<std::uint64_t> reach;
  std::vector<ChasePoint> points;
  for (const std::uint64_t footprint : bytes) {
    const auto count = static_cast<std::uint32_t>(footprint / kPageStride);
    if (!reach.empty() && count * kPageStride == reach.back()) continue;
    reach.push_back(count * kPageStride);
    points.push_back({{base, count, kPageStride, true}, true, false});
  }
  const std::vector<Settled> settled = chase_until_steady(s, load_of(s.which()), points);
  const std::vector<double> cycles = values(settled);
  const TlbCurve found = tlb_curve(cycles);
  for (std::size_t i = 0; i < found.levels.size(); ++i) {
    const Plateau& level = found.levels[i];
    const std::string name = "tlb_level_" + std::to_string(i + 1);
    s.add_exact(name + "_latency_cycles", "cycle", Better::lower, level.level);
    if (level.last + 1 < reach.size())
      s.add_exact(name + "_reach_bytes", "byte", Better::higher,
                  static_cast<double>(reach[level.last]));
  }
  if (found.reached) {
    s.add_exact("tlb_miss_cycles", "cycle", Better::lower, found.worst);
    s.add_exact("tlb_reach_bytes", "byte", Better::higher,
                static_cast<double>(reach[*found.reached]));
  } else {
    s.add_exact("tlb_reach_at_least_bytes", "byte", Better::higher,
                static_cast<double>(reach.back()));
  }
  add_curves(s, reach, settled);
}

std::vector<Case> curve_cases() {
  std::vector<Case> cases;
  for (const ChaseLoad& load : kLoads) {
    const bool first = cases.empty();
    cases.push_back({.name = load.name,
                     .params = {{"load", load.name},
                                {"load_bytes", load.bytes},
                                {"stride", std::int64_t{kLineStride}},
                                {"to", first ? "memory" : "cache"}},
                     .suite = Suite::full});
    if (load.bytes == 32) cases.back().targets = targets_with(Feature::wide_loads);
  }
  for (const std::uint64_t stride : {kSectorStride, 2 * kSectorStride, 2 * kLineStride})
    cases.push_back({.name = "ca_stride" + std::to_string(stride),
                     .params = {{"load", "ca"},
                                {"load_bytes", 8},
                                {"stride", static_cast<std::int64_t>(stride)},
                                {"to", "cache"}},
                     .suite = Suite::full});
  return cases;
}

const Registration curves{{
    .name = "memory/latency_curve",
    .question = "How does the latency of a dependent load grow with the memory it is drawn from, "
                "and how much does each level hold?",
    .metrics = {{"latency_cycles",
                 "Cycles of a dependent load from one SM, over the footprint; between two plateaus "
                 "it depends on what the nearer level has kept."},
                {"*_latency_cycles", "Latency of the plateau of the curve named *."},
                {"*_capacity_bytes",
                 "Largest footprint still on the plateau named *: what that level holds."},
                {"least_latency_cycles", "Least latency of the curve, where it has no plateau."},
                {"rounds", kRounds},
                {"unsteady_points", kUnsteady}},
    .cases = curve_cases(),
    .kernels = kernels,
    .run = run_curve,
}};

const Registration tlb{{
    .name = "memory/tlb",
    .question = "How much memory do the TLBs reach, and what does a miss cost?",
    .metrics =
        {{"latency_cycles",
          "Cycles of a dependent load over one line of each page, by the memory these pages span."},
         {"tlb_level_*_latency_cycles",
          "Latency on plateau * of the curve over pages: translated by that level of TLB."},
         {"tlb_level_*_reach_bytes", "Memory up to which the latency stays on plateau *."},
         {"tlb_miss_cycles",
          "Cycles that a load takes longer at the worst, in the mean of hits and misses: a share "
          "of "
          "what a miss costs."},
         {"tlb_reach_bytes", "Memory that the last TLB with an end in sight reaches."},
         {"tlb_reach_at_least_bytes",
          "All the memory that was tried, where TLBs reach all of it: a miss was not seen."},
         {"rounds", kRounds},
         {"unsteady_points", kUnsteady}},
    .cases = {{.params = {{"load", "cg"}, {"load_bytes", 8}}, .suite = Suite::full}},
    .kernels = kernels,
    .run = run_tlb,
}};

}  // namespace
