// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/conditions_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace assay {
namespace {

Reading reading(double clock, double power, std::uint64_t energy_mj,
                std::vector<std::string> throttle = {}) {
  Reading made;
  made.sm_clock_mhz = clock;
  made.power_w = power;
  made.temperature_c = power / 10;
  made.energy_mj = energy_mj;
  made.throttle = std::move(throttle);
  return made;
}

TEST(ConditionsWatch, SummarizesReadings) {
  const WatchSummary seen =
      summarize({reading(1980, 300, 1'000), reading(1700, 700, 15'000, {"sw_power_cap"}),
                 reading(1710, 650, 29'000, {"sw_power_cap", "hw_slowdown"})});
  EXPECT_EQ(seen.sm_clock_mhz, 1710);
  EXPECT_DOUBLE_EQ(*seen.power_w, 550);
  EXPECT_EQ(seen.power_max_w, 700);
  EXPECT_EQ(seen.temperature_c, 70);
  EXPECT_DOUBLE_EQ(*seen.energy_j, 28);
  EXPECT_EQ(seen.throttle, (std::vector<std::string>{"hw_slowdown", "sw_power_cap"}));
  EXPECT_EQ(seen.polls, 3);
  EXPECT_EQ(seen.throttled_polls, 2);
  EXPECT_TRUE(seen.missing.empty());
}

TEST(ConditionsWatch, RemembersAProcessThatCameAndWent) {
  std::vector<Reading> readings(4);
  readings[0].other_processes = 0;
  readings[2].other_processes = 1;  // the others did not ask
  EXPECT_EQ(summarize(readings).other_processes, 1);
}

TEST(ConditionsWatch, LeavesOutWhatTheGpuDoesNotTell) {
  const WatchSummary seen = summarize({Reading{}});
  EXPECT_FALSE(seen.other_processes);
  EXPECT_FALSE(seen.sm_clock_mhz);
  EXPECT_FALSE(seen.memory_temperature_c);
  EXPECT_FALSE(seen.energy_j);
}

TEST(ConditionsWatch, ReadsFirstAndLastMomentHoweverShort) {
  ConditionsWatch watch([] { return Reading{}; }, std::chrono::hours(1));
  EXPECT_EQ(watch.stop().polls, 2);
}

TEST(ConditionsWatch, PollsUntilStopped) {
  std::atomic<int> reads = 0;
  ConditionsWatch watch(
      [&] {
        ++reads;
        return Reading{};
      },
      std::chrono::milliseconds(1));
  while (reads < 5) std::this_thread::yield();
  EXPECT_GE(watch.stop().polls, 5);
  const int after = reads;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(reads, after);
}

TEST(ConditionsWatch, SaysWhyThereAreNoReadings) {
  ConditionsWatch watch(OrReason<NvmlDevice>::missing("no NVML here"));
  const WatchSummary seen = watch.stop();
  EXPECT_EQ(seen.missing, "no NVML here");
  EXPECT_EQ(seen.polls, 0);
}

TEST(ConditionsWatch, EndsWithItsScope) {
  ConditionsWatch watch([] { return Reading{}; }, std::chrono::hours(1));
}

}  // namespace
}  // namespace assay
