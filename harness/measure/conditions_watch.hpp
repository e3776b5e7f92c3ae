// SPDX-License-Identifier: Apache-2.0
// What a GPU was like while something was measured: NVML polled in the background.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/callable.hpp"
#include "harness/machine/nvml.hpp"
#include "harness/machine/or_reason.hpp"

namespace assay {

// What a GPU was like while something was measured.
struct WatchSummary {
  std::optional<double> sm_clock_mhz, memory_clock_mhz;  // median
  std::optional<double> power_w;                         // mean
  std::optional<double> power_max_w;
  std::optional<double> temperature_c, memory_temperature_c;  // highest
  std::optional<int> other_processes;                         // highest
  std::optional<double> energy_j;     // between the first and the last reading
  std::vector<std::string> throttle;  // every reason seen, in alphabetical order
  int polls = 0;
  int throttled_polls = 0;  // of which saw any reason
  std::string missing;      // why there are no readings; empty if there are
};

// Power is the mean of the readings and not energy over time, since the energy counter moves only
// about each 100 ms. Neither sees everything: on A100 and H100 the sensor samples a quarter of the
// time (arXiv:2312.02741), so trust both only for a load that is steady over seconds.
WatchSummary summarize(const std::vector<Reading>& readings);

// Clocks and throttle reasons of a burst as short as some 20 ms are still seen; a poll takes a few
// driver calls, too few at this rate to disturb what runs.
inline constexpr std::chrono::milliseconds kPollPeriod{20};

// Polls in a thread of its own from construction until stop().
//
// The SM clock of a measurement is better known from the kernel itself (clock64 against
// globaltimer): this tells what the driver reports, and why the clock is what it is.
class ConditionsWatch {
 public:
  using Reader = Callable<Reading()>;

  // The first reading is taken before this returns, one more after each `period`.
  explicit ConditionsWatch(Reader read, std::chrono::milliseconds period = kPollPeriod);
  // Without NVML: no thread, and stop() returns the reason.
  explicit ConditionsWatch(const OrReason<NvmlDevice>& device);

  // Takes a last reading, ends the thread and summarizes. To be called once.
  WatchSummary stop();

 private:
  void start(Reader read, std::chrono::milliseconds period);

  std::string missing_;
  std::vector<Reading> readings_;  // the thread's own while it runs
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last, so that it ends before what it uses
};

}  // namespace assay
