// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/schedule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace assay::sass {
namespace {

// Operands are read some cycles after an instruction has its pipe: a guess, seldom what decides.
constexpr double kOperandRead = 8;
constexpr int kMostIterations = 64;
constexpr std::size_t kMostSteps = 200'000;  // simulated in all

struct Event {  // something that ends at `time`, begun by a step
  double time = 0;
  std::size_t step = 0;
  int iteration = 0;
};

// The last operand as a number, as in "gsb0, 0x1" and "SB0, 0x0".
std::optional<std::size_t> last_number(const Instruction& instruction) {
  const std::size_t at = instruction.operands.rfind("0x");
  if (at == std::string::npos) return std::nullopt;
  std::size_t value = 0;
  const char* begin = instruction.operands.data() + at + 2;
  const auto [end, error] =
      std::from_chars(begin, instruction.operands.data() + instruction.operands.size(), value, 16);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

// The scoreboard that DEPBAR.LE names.
std::optional<std::size_t> named_scoreboard(const Instruction& instruction) {
  const std::size_t at = instruction.operands.find("SB");
  if (at == std::string::npos || at + 2 >= instruction.operands.size()) return std::nullopt;
  const int number = instruction.operands[at + 2] - '0';
  return number >= 0 && number < 6 ? std::optional(static_cast<std::size_t>(number)) : std::nullopt;
}

class Warp {
 public:
  Warp(const Function& function, const std::vector<std::size_t>& path, const CostTable& table)
      : function_(function), path_(path) {
    for (const std::size_t i : path) {
      const Instruction& instruction = function.code[i];
      const bool idle = instruction.never_executes() || instruction.is("NOP");
      known_.push_back({.control = control_code(instruction),
                        .cost = table.cost(instruction),
                        .latency = table.latency(instruction).cycles,
                        .idle = idle});
    }
  }

  // The steps of iteration `iteration`, in absolute cycles.
  std::vector<Step> iterate(int iteration) {
    std::vector<Step> steps;
    for (std::size_t s = 0; s < path_.size(); ++s) steps.push_back(issue(s, iteration));
    return steps;
  }

 private:
  struct Known {
    ControlCode control;
    Cost cost;
    double latency;
    bool idle;  // takes an issue slot and nothing else
  };

  void wait(Step& step, const Event& event, const std::string& why, int iteration) {
    if (event.time <= step.issue) return;
    step.waited += event.time - step.issue;
    step.issue = event.time;
    step.why = why;
    step.producer = Producer{event.step, iteration - event.iteration};
  }

  // The event after which at most `left` of `events` are still to come.
  static Event all_but(const std::vector<Event>& events, std::size_t left) {
    if (events.size() <= left) return {};
    std::vector<Event> sorted = events;
    std::ranges::sort(sorted, {}, &Event::time);
    return sorted[sorted.size() - left - 1];
  }

  Step issue(std::size_t s, int iteration) {
    const Instruction& instruction = function_.code[path_[s]];
    const Known& known = known_[s];
    Step step{.index = path_[s], .control = known.control, .issue = next_};
    for (std::size_t b = 0; b < scoreboards_.size(); ++b)
      if (known.control.wait_mask >> b & 1)
        wait(step, all_but(scoreboards_[b], 0), "scoreboard " + std::to_string(b), iteration);
    wait_explicitly(instruction, step, iteration);

    Event& busy = pipes_[known.cost.pipe];
    const bool queues =
        known.cost.pipe->shared || is_warpgroup_mma(instruction) || is_tcgen05_mma(instruction);
    if (!queues && !known.idle)
      wait(step, busy, std::string(known.cost.pipe->name) + " busy", iteration);
    step.begin = step.end = step.done = step.issue;
    if (!known.idle) {
      step.begin = std::max(step.issue, busy.time);
      step.end = step.begin + known.cost.cycles;
      step.done = std::max(step.begin + known.latency, step.end);
      busy = {step.end, s, iteration};
    }
    raise(instruction, known.control, step, s, iteration);
    next_ = step.issue + std::max(known.control.stall, 1);
    if (instruction.is("BAR.SYNC") || instruction.is("BAR.RED"))
      next_ = std::max(next_, step.issue + known.latency);
    return step;
  }

  void wait_explicitly(const Instruction& instruction, Step& step, int iteration) {
    const auto left = last_number(instruction);
    if (!left) return;
    if (instruction.is("WARPGROUP.DEPBAR"))
      wait(step, all_but(groups_, *left), std::to_string(*left) + " groups of MMAs may be left",
           iteration);
    const auto scoreboard = named_scoreboard(instruction);
    if (instruction.is("DEPBAR") && scoreboard)
      wait(step, all_but(scoreboards_[*scoreboard], *left),
           std::to_string(*left) + " left on scoreboard " + std::to_string(*scoreboard), iteration);
  }

  void raise(const Instruction& instruction, const ControlCode& control, const Step& step,
             std::size_t s, int iteration) {
    const auto forget_past = [&](std::vector<Event>& events) {
      std::erase_if(events, [&](const Event& event) { return event.time <= step.issue; });
    };
    if (control.write_barrier >= 0) {
      auto& events = scoreboards_[static_cast<std::size_t>(control.write_barrier)];
      forget_past(events);
      events.push_back({step.done, s, iteration});
    }
    if (control.read_barrier >= 0) {
      auto& events = scoreboards_[static_cast<std::size_t>(control.read_barrier)];
      forget_past(events);
      events.push_back({std::min(step.begin + kOperandRead, step.done), s, iteration});
    }
    // "gsb0" closes a group of MMAs.
    if (is_warpgroup_mma(instruction) && instruction.operands.find("gsb") != std::string::npos) {
      forget_past(groups_);
      groups_.push_back({step.done, s, iteration});
    }
  }

  const Function& function_;
  const std::vector<std::size_t>& path_;
  std::vector<Known> known_;
  double next_ = 0;
  std::array<std::vector<Event>, 6> scoreboards_;
  std::vector<Event> groups_;
  std::map<const Pipe*, Event> pipes_;
};

}  // namespace

Schedule estimate_schedule(const Function& function, const std::vector<std::size_t>& path,
                           const CostTable& table) {
  Schedule schedule;
  if (path.empty()) return schedule;
  Warp warp(function, path, table);
  std::vector<Step> before = warp.iterate(0);
  for (const Step& step : before) schedule.stalls += std::max(step.control.stall, 1);
  schedule.steady = false;
  const std::size_t most =
      std::clamp<std::size_t>(kMostSteps / path.size(), 3, std::size_t{kMostIterations});
  for (std::size_t iteration = 1; iteration < most && !schedule.steady; ++iteration) {
    std::vector<Step> steps = warp.iterate(static_cast<int>(iteration));
    const double cycles = steps.front().issue - before.front().issue;
    schedule.steady = iteration > 2 && std::abs(cycles - schedule.cycles) < 1e-6;
    schedule.cycles = cycles;
    before = std::move(steps);
  }
  const double start = before.front().issue;
  for (Step& step : before) {
    step.issue -= start;
    step.begin -= start;
    step.end -= start;
    step.done -= start;
  }
  schedule.steps = std::move(before);
  return schedule;
}

}  // namespace assay::sass
