// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/plausible.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

constexpr GpuBounds kGpu{.sm_count = 132, .sm_clock_max_mhz = 1980};

Metric rate(std::string name, std::string unit, double value, double half = 0) {
  return {.name = std::move(name),
          .unit = std::move(unit),
          .better = Better::higher,
          .value = value,
          .low = value - half,
          .high = value + half};
}

Measurement with(std::vector<Metric> metrics) {
  Measurement found;
  found.metrics = std::move(metrics);
  found.conditions.sm_clock_mhz = 1980;
  return found;
}

Measurement with(Series series) {
  Measurement found;
  found.series.push_back(std::move(series));
  return found;
}

std::string judge(Measurement found, const std::map<std::string, Limit>& limits = {}) {
  set_limits(found, limits, kGpu);
  return implausible(found, kGpu);
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Plausible, RefusesMoreThanOneSmsPathToL1Carries) {
  EXPECT_EQ(judge(with({rate("bytes_per_clock_per_sm", "B/clk/SM", 127.9, 0.2)})), "");
  const std::string why = judge(with({rate("bytes_per_clock_per_sm", "B/clk/SM", 139.9, 0.2)}));
  EXPECT_TRUE(says(why, "bytes_per_clock_per_sm of 139.9 B/clk/SM is above its limit of 128"))
      << why;
}

TEST(Plausible, ALimitPerClockHoldsPerSecondToo) {
  // 132 SMs x 128 B x 1980 MHz = 33,454 GB/s.
  EXPECT_EQ(judge(with({rate("best_gb_per_s", "GB/s", 33000)})), "");
  EXPECT_TRUE(says(judge(with({rate("best_gb_per_s", "GB/s", 36000)})), "33454.1"));
  EXPECT_TRUE(says(judge(with({rate("best_gb_per_s", "GB/s", 20000)}),
                         {{"B/clk/SM", {64, "half a line each clock"}}}),
                   "16727"));
}

TEST(Plausible, AClockAboveTheDriversMaximumRaisesTheLimitPerSecond) {
  Measurement found = with({rate("bandwidth_gb_per_s", "GB/s", 33858, 20)});
  EXPECT_NE(judge(found), "");
  found.conditions.sm_clock_max_mhz = 2007;
  EXPECT_EQ(judge(found), "");
}

TEST(Plausible, AnIntervalThatReachesTheLimitIsEnough) {
  EXPECT_EQ(judge(with({rate("flop_per_clock_per_sm", "FLOP/clk/SM", 4100, 10)}),
                  {{"FLOP/clk/SM", {4096, "datasheet"}}}),
            "");
  EXPECT_NE(judge(with({rate("flop_per_clock_per_sm", "FLOP/clk/SM", 4110, 4)}),
                  {{"FLOP/clk/SM", {4096, "datasheet"}}}),
            "");
}

TEST(Plausible, ALimitThatAProbeGaveStays) {
  Metric metric = rate("bandwidth_gb_per_s", "GB/s", 5000, 1);
  metric.limit = 4814;
  metric.limit_source = "2 x memory clock x bus width";
  EXPECT_TRUE(says(judge(with({metric})), "4814 (2 x memory clock x bus width)"));
}

TEST(Plausible, SaysWhereNoLimitIsKnown) {
  Measurement found = with({rate("bytes_per_clock_per_sm", "B/clk/SM", 254)});
  set_limits(found, {{"B/clk/SM", limits::unknown("lanes share bytes")}}, kGpu);
  EXPECT_FALSE(found.metrics[0].limit);
  EXPECT_EQ(found.metrics[0].limit_source, "none is known: lanes share bytes");
  EXPECT_EQ(implausible(found, kGpu), "");
  found = with({rate("tflops", "TFLOP/s", 1.2)});
  set_limits(found, {}, {});
  EXPECT_EQ(found.metrics[0].limit_source, "none is known");
}

TEST(Plausible, RefusesPointsAboveTheLimitAndNamesThem) {
  const Series curve{.name = "bandwidth_gb_per_s",
                     .unit = "GB/s",
                     .axes = {{"footprint_bytes", {1, 2, 3}}},
                     .values = {30000, 36000, 4000}};
  EXPECT_TRUE(says(judge(with(curve)),
                   "point 2 of series 'bandwidth_gb_per_s', 36000 GB/s, is "
                   "above its limit of 33454.1"));
}

TEST(Plausible, RefusesAPointOutsideItsOwnInterval) {
  Series curve{"latency_cycles", "cycle", {{"warps", {1, 2}}}, {}};
  curve.add({30, 29, 31});
  curve.add(30);
  EXPECT_EQ(judge(with(curve)), "");
  curve.values[0] = 32;
  EXPECT_EQ(judge(with(curve)),
            "point 1 of series 'latency_cycles', 32 cycle, is outside its own interval, 29 to 31");
}

TEST(Plausible, RefusesWhatIsNegativeUnlessItIsADifference) {
  EXPECT_TRUE(says(judge(with({rate("latency_cycles", "cycle", -1)})), "is negative"));
  EXPECT_EQ(judge(with({rate("overlap", "ratio", -0.1)})), "");
  Metric cost = rate("tensor_cycles_per_ex2", "cycle", -2e-5);
  cost.signed_value = true;
  EXPECT_EQ(judge(with({cost})), "");
  Series costs{.name = "cycles", .unit = "cycle", .axes = {}, .values = {2, -0.001}};
  EXPECT_TRUE(says(judge(with(costs)), "point 2 of series 'cycles', -0.001 cycle, is negative"));
  costs.signed_values = true;
  EXPECT_EQ(judge(with(costs)), "");
}

TEST(Plausible, RefusesWhatIsNotANumber) {
  EXPECT_TRUE(says(judge(with({rate("time_us", "us", NAN)})), "is not a number"));
  EXPECT_TRUE(says(judge(with({rate("time_us", "us", INFINITY)})), "is not a number"));
  Series holes{.name = "map", .unit = "GB/s", .axes = {}, .values = {NAN, 1}};
  EXPECT_EQ(judge(with(holes)), "");  // a place without a value
  holes.values[0] = INFINITY;
  EXPECT_TRUE(says(judge(with(holes)), "is not a number"));
}

// 54 B/clk/SM are 14.1 TB/s at 1980 MHz: 28.9 beside them were of another state of the cache.
TEST(Plausible, RefusesBytesPerSecondAndPerClockThatContradictEachOther) {
  EXPECT_EQ(judge(with({rate("bytes_per_clock_per_sm", "B/clk/SM", 54, 0.1),
                        rate("bandwidth_gb_per_s", "GB/s", 14000, 50)})),
            "");
  EXPECT_TRUE(says(judge(with({rate("bytes_per_clock_per_sm", "B/clk/SM", 54, 0.1),
                               rate("bandwidth_gb_per_s", "GB/s", 28900, 50)})),
                   "28900 GB/s contradict 54 B/clk/SM, which at 1980 MHz are 14113.4 GB/s"));
  EXPECT_NE(judge(with({rate("flop_per_clock_per_sm", "FLOP/clk/SM", 4096),
                        rate("tflops", "TFLOP/s", 700, 1)})),
            "");
}

TEST(Plausible, WithoutAClockTheTwoAreNotCompared) {
  Measurement found = with(
      {rate("bytes_per_clock_per_sm", "B/clk/SM", 54), rate("bandwidth_gb_per_s", "GB/s", 28900)});
  found.conditions.sm_clock_mhz.reset();
  EXPECT_EQ(judge(found), "");
}

}  // namespace
}  // namespace assay
