// SPDX-License-Identifier: Apache-2.0
// Whether softmax's 2^x hides behind matrix math inside an SM, by schedule and by how much of the
// one there is for the other.
//
// Three loops of one schedule: both, the MMAs alone, 2^x alone. overlap_efficiency is
// max(t_mma, t_exp) / t_both, 1 if the shorter one costs nothing; overlap is
// (t_mma + t_exp - t_both) / min(t_mma, t_exp), the share of the shorter one that hides. The
// figures of a case are those where both take as long as near as can be; the series are the curves
// over how many 2^x a thread computes a step.
//
// What else softmax does to an element decides how near it can come, as FFMA and FADD take the
// tensor cores' time even in other warps (special_function/interference, which says what that
// leaves: independent_efficiency): the last part of a case's name says what is done to each
// element.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/statistics.hpp"
#include "probes/special_function/overlap_kernel.hpp"

namespace assay::overlap {
namespace {

// wgmma's 8 of a step take 512 cycles of an SM's tensor cores whatever the type, in which its
// special function units deliver 64 results for each thread of a group: a ratio of 1. The others
// are quarters.
constexpr int kExps[] = {16, 32, 48, 64, 80, 96, 128};

constexpr Type kTypes[] = {{Family::wgmma, "bf16"},
                           {Family::wgmma, "e4m3"},
                           {Family::wgmma, "f16", "f16"},
                           {Family::mma_sync, "bf16"},
                           {Family::mma_sync, "e4m3"}};

constexpr Schedule kWgmmaSchedules[] = {
    {"in_order", 1, 1, false},       {"two_stage", 1, 2, false},
    {"two_warpgroups", 2, 1, false}, {"ping_pong", 2, 1, true},
    {"ping_pong_3", 3, 1, true},     {"two_stage_two_warpgroups", 2, 2, false},
};
// Four warps of a group are one on each scheduler.
constexpr Schedule kMmaSyncSchedules[] = {
    {"in_order", 1, 1, false},   {"interleaved", 1, 2, false},
    {"two_warps", 2, 1, false},  {"interleaved_two_warps", 2, 2, false},
    {"four_warps", 4, 1, false},
};

const char* name_of(Family family) { return family == Family::wgmma ? "wgmma" : "mma_sync"; }

std::span<const Schedule> schedules_of(Family family) {
  if (family == Family::wgmma) return kWgmmaSchedules;
  return kMmaSyncSchedules;
}

std::string name_of(const Type& type) {
  const bool half = std::string_view(type.accumulator) == "f16";
  return fmt::format("{}_{}{}", name_of(type.family), type.element, half ? "_acc_f16" : "");
}

// All of the most usual type, of others the least and the most work on an element. With f16
// accumulators the most shows what it costs that they are f32; of two buffers of them ptxas 13.0
// unpacks more at once than it has registers for.
bool is_measured(const Type& type, const Schedule& schedule, const Softmax& softmax) {
  if (type.family == Family::wgmma && std::string_view(type.element) == "bf16") return true;
  if (std::string_view(type.accumulator) == "f16") return softmax.sum && schedule.buffers == 1;
  return softmax.scale == softmax.sum;
}

Kernel kernel_of(const Case& c, bool mma, int exps) {
  for (const Type& type : kTypes)
    for (const Schedule& schedule : schedules_of(type.family))
      for (const Softmax& softmax : kSoftmaxes)
        if (c.text("family") == name_of(type.family) && c.text("a") == type.element &&
            c.text("schedule") == schedule.name && c.text("per_element") == softmax.name)
          return {type, schedule, softmax, mma, exps};
  throw std::logic_error("a case of an unknown schedule");
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  std::vector<KernelUse> uses = {kernel_of(c, true, 0).use(target)};
  for (const int exps : kExps)
    for (const bool mma : {true, false}) uses.push_back(kernel_of(c, mma, exps).use(target));
  return uses;
}

void run(State& s) {
  const auto prepared = [&](bool mma, int exps) {
    return prepare(s, kernel_of(s.which(), mma, exps));
  };
  // Cycles of a step.
  const auto once = [&](bool mma, int exps) {
    return s.cycles_once(prepared(mma, exps)) / kernel_of(s.which(), mma, exps).steps();
  };
  const double once_mma = once(true, 0);
  Axis axis{"exps_per_element_sixty_fourths", {}};
  std::vector<double> ratios, efficiencies, overlaps;
  Series times{"cycles_per_step", "cycle", {}, {}};
  int balanced = kExps[0];
  double nearest = INFINITY;
  for (const int exps : kExps) {
    const double t_exp = once(false, exps);
    const Estimate t_both = once(true, exps);
    axis.points.emplace_back(std::int64_t{exps});
    ratios.push_back(t_exp / once_mma);
    efficiencies.push_back(std::max(once_mma, t_exp) / t_both);
    overlaps.push_back((once_mma + t_exp - t_both) / std::min(once_mma, t_exp));
    times.add(t_both);
    const double distance = std::abs(std::log(t_exp / once_mma));
    if (distance < nearest) {
      nearest = distance;
      balanced = exps;
    }
  }

  const Kernel both = kernel_of(s.which(), true, balanced);
  const std::vector<double> together =
      s.cycles({.flop = both.flop(), .ops = both.results()}, prepared(true, balanced));
  const auto alone = [&](bool mma, int exps) {
    return median(s.cycles({}, prepared(mma, exps))) / kernel_of(s.which(), mma, exps).steps();
  };
  const double t_mma = alone(true, 0), t_exp = alone(false, balanced);
  std::vector<double> efficiency, overlap;
  for (const double cycles : together) {
    const double t_both = cycles / both.steps();
    efficiency.push_back(std::max(t_mma, t_exp) / t_both);
    overlap.push_back((t_mma + t_exp - t_both) / std::min(t_mma, t_exp));
  }
  s.add_metric("overlap_efficiency", "", Better::higher, efficiency);
  s.add_metric("overlap", "", Better::higher, overlap);
  s.lead_with("overlap_efficiency");
  s.add_exact("exp_to_mma_time", "", Better::lower, t_exp / t_mma);
  s.set_param("exps_per_step", std::int64_t{balanced});
  s.record_kernel(both.entry());
  s.add_series({"exp_to_mma_time", "", {axis}, ratios});
  s.add_series({"overlap_efficiency", "", {axis}, efficiencies});
  s.add_series({"overlap", "", {axis}, overlaps});
  times.axes = {axis};
  s.add_series(std::move(times));
}

Case case_of(const Type& type, const Schedule& schedule, const Softmax& softmax) {
  const bool wgmma = type.family == Family::wgmma;
  const std::string_view element = type.element;
  const bool headline = element == "bf16" && schedule.name == std::string_view("ping_pong") &&
                        softmax.scale == softmax.sum;
  return {.name = fmt::format("{}/{}/{}", name_of(type), schedule.name, softmax.name),
          .params = {{"family", name_of(type.family)},
                     {"a", type.element},
                     {"b", type.element},
                     {"accumulate", type.accumulator},
                     {"schedule", schedule.name},
                     {"per_element", softmax.name},
                     {"state", "burst"}},
          // Where an mma.sync of e4m3 is native.
          .targets = wgmma               ? targets_with(Feature::wgmma)
                     : element == "e4m3" ? targets_with(Feature::mma_fp8)
                                         : std::vector<Target>{},
          .suite = headline ? Suite::quick : Suite::full};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Type& type : kTypes)
    for (const Schedule& schedule : schedules_of(type.family))
      for (const Softmax& softmax : kSoftmaxes)
        if (is_measured(type, schedule, softmax)) all.push_back(case_of(type, schedule, softmax));
  return all;
}

const Registration registration{{
    .name = "special_function/overlap",
    .question = "How close does a loop of matrix math and 2^x come to the time of the longer of "
                "the two, by schedule and by what else is done to an element?",
    .metrics = {{"overlap_efficiency",
                 "Longer of the times of matrix math and of 2^x over the time of both together: 1 "
                 "at best."},
                {"overlap", "Share of the shorter of the two that hides behind the longer."},
                {"exp_to_mma_time", "Time of 2^x alone over that of the matrix math alone."},
                {"cycles_per_step",
                 "Cycles of a step of both together, by how many 2^x a thread computes in it."}},
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
}  // namespace assay::overlap
