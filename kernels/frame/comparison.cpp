// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/comparison.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/limits.hpp"
#include "harness/measure/busy_timer.hpp"
#include "harness/statistics.hpp"

namespace assay::kernels {
namespace {

constexpr int kRounds = 13;                     // in which candidates are timed
constexpr std::chrono::milliseconds kRest{20};  // between those that count for a burst

// The library's best candidate and its first, or its only one.
std::vector<Contender> contenders_of(const std::shared_ptr<const Baseline>& library, int best) {
  const auto contender = [&](const std::string& suffix, int candidate) {
    return Contender{library->name() + suffix, [library, candidate](cudaStream_t stream, int set) {
                       library->run(candidate, set, stream);
                     }};
  };
  if (library->asked() == 1) return {contender("", 0)};
  return {contender(fmt::format("_best{}", library->asked()), best), contender("_first", 0)};
}

// Under lasting load the calls of a turn follow each other, as a program's do: a kernel may begin
// while the one before it ends. How many ours makes in a turn, everybody does.
int calls_of_a_turn(const Contender& ours, int sets, cudaStream_t stream) {
  constexpr int kTrials = 5;
  const LaunchTimer timer = event_timer(stream);
  std::vector<double> ns;
  for (int trial = 0; trial < kTrials; ++trial)
    ns.push_back(timer([&](cudaStream_t on) { ours.run(on, trial % sets); }));
  return calls_in_a_row(median(ns));
}

}  // namespace

std::vector<Case> burst_and_sustained(const std::vector<Case>& cases) {
  std::vector<Case> both;
  for (Case each : cases) {
    each.params["state"] = "burst";
    both.push_back(each);
    each.name += "/sustained";
    each.params["state"] = "sustained";
    each.suite = Suite::full;
    both.push_back(std::move(each));
  }
  return both;
}

Limit tensor_peak(const State& state, std::string_view element) {
  const Limit per_clock = limits::tensor(state.target(), element);
  if (per_clock.value <= 0) return {};
  const Device& device = state.device();
  return {per_clock.value * device.sm_count * device.sm_clock_max_mhz * 1e-6,
          fmt::format("{} FLOP/clk/SM ({}) at the highest SM clock", per_clock.value,
                      per_clock.source)};
}

Field line_up(const std::vector<OpenBaseline>& libraries, const Referee& referee) {
  Field field;
  for (const OpenBaseline& open : libraries) {
    std::shared_ptr<const Baseline> library;
    try {
      library = open();
    } catch (const Error& error) {
      field.flags.push_back(std::string("no baseline: ") + error.what());
      continue;
    }
    const int best = library->candidates() == 1 ? 0
                                                : find_best(*library, referee.sets, kRounds,
                                                            referee.nanoseconds, referee.pause);
    const std::string differs = library->differs();
    if (!differs.empty())
      field.flags.push_back(library->name() + " takes part with its time alone: " + differs);
    for (Contender& contender : contenders_of(library, best)) {
      if (differs.empty()) referee.must_be_right(contender);
      field.baselines.push_back(std::move(contender));
    }
  }
  return field;
}

void compare(State& state, const Comparison& comparison) {
  const OperandSets sets(state, comparison.operands);
  std::vector<Plan> plans;
  for (int set = 0; set < sets.count(); ++set) plans.push_back(comparison.plan(sets[set]));
  state.set_param("variant", plans.front().variant);

  const auto must_be_right = [&](const Contender& contender) {
    sets.poison_outputs(0);
    contender.run(state.stream(), 0);
    const std::string error = comparison.find_error(sets[0]);
    state.require(error.empty(), contender.name + ": " + error);
  };
  const Contender ours = {"assay", [&](cudaStream_t stream, int set) {
                            plans[static_cast<std::size_t>(set)].run(stream);
                          }};
  must_be_right(ours);

  std::vector<OpenBaseline> libraries;
  const bool alone = state.which().params.contains("baselines");  // `assay run --no-baselines`
  for (const Comparison::Library& library : comparison.libraries) {
    if (alone) break;
    libraries.emplace_back([&] { return library(sets); });
  }
  const auto& params = state.which().params;
  const auto found = params.find("state");
  const bool sustained = found != params.end() && found->second == Value("sustained");
  const auto rest = [] { std::this_thread::sleep_for(kRest); };
  const int calls = sustained ? calls_of_a_turn(ours, sets.count(), state.stream()) : 1;
  Field field = line_up(libraries, {.sets = sets.count(),
                                    .nanoseconds = event_timer(state.stream(), calls),
                                    .must_be_right = must_be_right,
                                    .pause = sustained ? Callable<void()>() : rest});
  for (std::string& flag : field.flags) state.add_flag(std::move(flag));
  state.compare(comparison.work, sets.count(), ours, field.baselines, calls);
}

}  // namespace assay::kernels
