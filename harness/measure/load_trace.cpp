// SPDX-License-Identifier: Apache-2.0
// The clock is that of each piece of work, cycles over nanoseconds as the SMs counted them from
// before it until after it. Power, the clock that the driver reports and its reasons come from
// NVML, as often as it answers. Both are shown on one grid of time: the last that was known, and
// nothing before the first piece.
#include "harness/measure/load_trace.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/machine/nvml.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kIdleSeconds = 0.25, kLoadSeconds = 2.0, kAfterSeconds = 0.5;
constexpr double kStepSeconds = 0.01;  // of the grid
constexpr const char* kReasons[] = {"sw_power_cap", "hw_slowdown", "sw_thermal_slowdown",
                                    "hw_thermal_slowdown", "hw_power_brake"};

// What NVML said, and when, seconds from the begin.
struct Told {
  double at;
  Reading reading;
};

// What the SMs counted over one piece of work.
struct Ran {
  double at, mhz;
};

class Watch {
 public:
  Watch(NvmlDevice gpu, Clock::time_point begin)
      : thread_([this, gpu = std::move(gpu), begin](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            const double at = std::chrono::duration<double>(Clock::now() - begin).count();
            told_.push_back({at, gpu.read()});
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          }
        }) {}
  std::vector<Told> stop() {
    thread_.request_stop();
    thread_.join();
    return std::move(told_);
  }

 private:
  std::vector<Told> told_;
  std::jthread thread_;
};

// Stamps of every SM before and after a piece of work.
struct Stamps {
  std::vector<ClockStamp> before, after;
};

double median_clock(const Stamps& stamps) {
  std::vector<double> mhz;
  for (std::size_t sm = 0; sm < stamps.before.size(); ++sm) {
    const ClockStamp &from = stamps.before[sm], &to = stamps.after[sm];
    if (from.ns != 0 && to.ns > from.ns && to.clock > from.clock)
      mhz.push_back(1e3 * static_cast<double>(to.clock - from.clock) /
                    static_cast<double>(to.ns - from.ns));
  }
  return mhz.empty() ? NAN : median(mhz);
}

// Keeps two pieces in the queue, so that nothing idles between them.
std::vector<Ran> load(State& s, const Callable<void(cudaStream_t)>& work, Clock::time_point begin) {
  struct Slot {
    ClockStamp* before = nullptr;
    ClockStamp* after = nullptr;
    Event done;
  };
  std::array<Slot, 2> slots;
  for (Slot& slot : slots) {
    slot.before = s.allocate<ClockStamp>(kMaxSms);
    slot.after = s.allocate<ClockStamp>(kMaxSms);
  }
  const auto enqueue = [&](Slot& slot) {
    stamp_clocks(slot.before, s.device().sm_count, s.stream());
    work(s.stream());
    stamp_clocks(slot.after, s.device().sm_count, s.stream());
    slot.done.record(s.stream());
  };
  std::vector<Ran> ran;
  const auto seconds = [begin] {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  Stamps host{std::vector<ClockStamp>(kMaxSms), std::vector<ClockStamp>(kMaxSms)};
  Stream copies;
  const auto fetch = [&](std::vector<ClockStamp>& to, const ClockStamp* from) {
    check(cudaMemcpyAsync(to.data(), from, kMaxSms * sizeof(ClockStamp), cudaMemcpyDeviceToHost,
                          copies));
  };
  const double until = seconds() + kLoadSeconds;
  enqueue(slots[0]);
  for (std::size_t turn = 0; seconds() < until; turn = 1 - turn) {
    enqueue(slots[1 - turn]);
    check(cudaEventSynchronize(slots[turn].done));
    fetch(host.before, slots[turn].before);
    fetch(host.after, slots[turn].after);
    check(cudaStreamSynchronize(copies));
    ran.push_back({seconds(), median_clock(host)});
  }
  check(cudaStreamSynchronize(s.stream()));
  return ran;
}

// `value` of the last entry before each point of the grid, NaN where there is none within 50 ms.
template <class Entry, class F>
std::vector<double> on_grid(const std::vector<Entry>& entries, std::size_t points, const F& value) {
  std::vector<double> values(points, NAN);
  for (std::size_t i = 0; i < points; ++i) {
    const double now = static_cast<double>(i + 1) * kStepSeconds;
    const auto after = std::ranges::upper_bound(entries, now, {}, &Entry::at);
    if (after != entries.begin() && now - std::prev(after)->at < 0.05)
      values[i] = value(*std::prev(after));
  }
  return values;
}

}  // namespace

void trace_load(State& s, const Callable<void(cudaStream_t)>& work) {
  const OrReason<Nvml> nvml = Nvml::open();
  if (!nvml) s.skip(nvml.reason());
  const OrReason<NvmlDevice> gpu = nvml->device(s.device().pci_bus_id);
  if (!gpu) s.skip(gpu.reason());

  const auto begin = Clock::now();
  Watch watch(*gpu, begin);
  std::this_thread::sleep_for(std::chrono::duration<double>(kIdleSeconds));
  const std::vector<Ran> ran = load(s, work, begin);
  std::this_thread::sleep_for(std::chrono::duration<double>(kAfterSeconds));
  const std::vector<Told> told = watch.stop();

  const auto points =
      static_cast<std::size_t>((kIdleSeconds + kLoadSeconds + kAfterSeconds) / kStepSeconds);
  Axis time{"time_ms", {}};
  for (std::size_t i = 0; i < points; ++i)
    time.points.emplace_back(std::llround(1e3 * static_cast<double>(i + 1) * kStepSeconds));
  const auto told_on_grid = [&](const auto& member) {
    return on_grid(told, points, [&](const Told& t) { return (t.reading.*member).value_or(NAN); });
  };
  const std::vector<double> clock = on_grid(ran, points, [](const Ran& one) { return one.mhz; });
  s.add_series({.name = "sm_clock_mhz", .unit = "MHz", .axes = {time}, .values = clock});
  s.add_series({.name = "reported_clock_mhz",
                .unit = "MHz",
                .axes = {time},
                .values = told_on_grid(&Reading::sm_clock_mhz)});
  s.add_series(
      {.name = "power_w", .unit = "W", .axes = {time}, .values = told_on_grid(&Reading::power_w)});
  Axis reasons{"reason", {}};
  std::vector<double> given;
  for (const char* reason : kReasons) {
    reasons.points.emplace_back(std::string(reason));
    const auto of_reason = on_grid(told, points, [&](const Told& t) {
      return std::ranges::count(t.reading.throttle, reason) ? 1.0 : 0.0;
    });
    given.insert(given.end(), of_reason.begin(), of_reason.end());
  }
  s.add_series({.name = "reason_given", .unit = "", .axes = {reasons, time}, .values = given});

  std::vector<double> mhz, late;
  for (const Ran& one : ran) {
    mhz.push_back(one.mhz);
    if (one.at > kIdleSeconds + kLoadSeconds / 2) late.push_back(one.mhz);
  }
  if (mhz.empty() || late.empty()) s.skip("the load ended before its clock could settle");
  s.add_exact("settled_clock_mhz", "MHz", Better::higher, median(late));
  s.add_exact("first_clock_mhz", "MHz", Better::higher, mhz.front());
  s.add_exact("least_clock_mhz", "MHz", Better::higher, std::ranges::min(mhz));
}

std::vector<MetricNote> load_trace_notes() {
  return {
      {"sm_clock_mhz", "SM clock of each millisecond of work as the SMs counted it, over time."},
      {"reported_clock_mhz", "SM clock that the driver reports, over time."},
      {"power_w", "Power of the board as the driver reports it, over time."},
      {"reason_given",
       "One where the driver gives this reason for a lowered clock, zero where it does "
       "not, over time."},
      {"settled_clock_mhz", "Median SM clock in the second half of the load."},
      {"first_clock_mhz", "SM clock of the first millisecond of the load."},
      {"least_clock_mhz", "Least SM clock of any millisecond of the load."}};
}

}  // namespace assay
