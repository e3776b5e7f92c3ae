// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/conditions_watch.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <stop_token>
#include <utility>

#include "harness/statistics.hpp"

namespace assay {
namespace {

template <class Member>
std::vector<double> told(const std::vector<Reading>& readings, Member member) {
  std::vector<double> values;
  for (const Reading& reading : readings)
    if (const auto& value = reading.*member) values.push_back(static_cast<double>(*value));
  return values;
}

std::optional<double> middle(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return median(values);
}

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> highest(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

WatchSummary summarize(const std::vector<Reading>& readings) {
  WatchSummary summary;
  summary.sm_clock_mhz = middle(told(readings, &Reading::sm_clock_mhz));
  summary.memory_clock_mhz = middle(told(readings, &Reading::memory_clock_mhz));
  summary.power_w = mean(told(readings, &Reading::power_w));
  summary.power_max_w = highest(told(readings, &Reading::power_w));
  summary.temperature_c = highest(told(readings, &Reading::temperature_c));
  summary.memory_temperature_c = highest(told(readings, &Reading::memory_temperature_c));
  if (const auto others = highest(told(readings, &Reading::other_processes)))
    summary.other_processes = static_cast<int>(*others);
  if (const auto energy = told(readings, &Reading::energy_mj); energy.size() >= 2)
    summary.energy_j = (energy.back() - energy.front()) * 1e-3;

  std::set<std::string> reasons;
  for (const Reading& reading : readings) {
    reasons.insert(reading.throttle.begin(), reading.throttle.end());
    summary.throttled_polls += reading.throttle.empty() ? 0 : 1;
  }
  summary.throttle.assign(reasons.begin(), reasons.end());
  summary.polls = static_cast<int>(readings.size());
  if (readings.empty()) summary.missing = "no reading was taken";
  return summary;
}

ConditionsWatch::ConditionsWatch(Reader read, std::chrono::milliseconds period) {
  start(std::move(read), period);
}

ConditionsWatch::ConditionsWatch(const OrReason<NvmlDevice>& device) : missing_(device.reason()) {
  if (device) start([gpu = *device] { return gpu.read(); }, kPollPeriod);
}

void ConditionsWatch::start(Reader read, std::chrono::milliseconds period) {
  readings_.push_back(read());
  thread_ = std::jthread([this, read = std::move(read), period](std::stop_token stop) {
    std::unique_lock lock(mutex_);
    do {
      // Ends early when stop() asks, so that the last reading is of that moment.
      wake_.wait_for(lock, stop, period, [] { return false; });
      readings_.push_back(read());
    } while (!stop.stop_requested());
  });
}

WatchSummary ConditionsWatch::stop() {
  if (!thread_.joinable()) {
    WatchSummary summary;
    summary.missing = missing_;
    return summary;
  }
  thread_.request_stop();
  thread_.join();
  return summarize(readings_);
}

}  // namespace assay
