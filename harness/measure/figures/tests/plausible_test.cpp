// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/figures/plausible.hpp"

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

TEST(Plausible, EveryRateHasALimitOrSaysThatNoneIsKnown) {
  for (const char* unit : {"1/s", "1/us", "op/clk", "TFLOP/s", "Gop/s"}) {
    Measurement found = with({rate("kernels", unit, 1)});
    set_limits(found, {}, kGpu);
    EXPECT_TRUE(found.metrics[0].limit || found.metrics[0].limit_source == "none is known") << unit;
  }
}

TEST(Plausible, WhatAMemoryGivesBoundsAnSmsShare) {
  Metric second = rate("bandwidth_gb_per_s", "GB/s", 4609.6);
  second.limit = 4814.304;
  second.limit_source = "2 x memory clock x bus width";
  Measurement found = with({second, rate("bytes_per_clock_per_sm", "B/clk/SM", 17.64)});
  found.conditions.sm_clock_min_mhz = 1970;
  set_limits(found, {}, kGpu);
  EXPECT_NEAR(*found.metrics[1].limit, 4814.304e3 / 132 / 1970, 1e-9);
  EXPECT_EQ(found.metrics[1].limit_source, "132 SMs, 1970 MHz: 2 x memory clock x bus width");
  EXPECT_EQ(implausible(found, kGpu), "");
  // What an SM takes from L1 is the tighter limit of a memory that no SM keeps up with.
  found.metrics[0].limit = 1e6;
  found.metrics[1].limit.reset();
  set_limits(found, {}, kGpu);
  EXPECT_EQ(found.metrics[1].limit, 128);
}

TEST(Plausible, ALimitOfOneFigureLeavesTheOthersTheirs) {
  Measurement found =
      with({rate("memory_gb_per_s", "GB/s", 4500), rate("l2_gb_per_s", "GB/s", 6000)});
  set_limits(found, {{"memory_gb_per_s", {4814, "pins"}}}, kGpu);
  EXPECT_EQ(found.metrics[0].limit, 4814);
  EXPECT_NEAR(*found.metrics[1].limit, 33454.08, 1e-6);
}

TEST(Plausible, WhatCrossesALinkIsNotBoundByL1) {
  Measurement found = with({rate("bus_bandwidth_gb_per_s", "GB/s", 400)});
  GpuBounds gpu = kGpu;
  gpu.through_sms = false;
  set_limits(found, {}, gpu);
  EXPECT_FALSE(found.metrics[0].limit);
  EXPECT_EQ(found.metrics[0].limit_source, "none is known: of the link");
  set_limits(found, {{"GB/s", {450, "NVLink"}}}, gpu);
  EXPECT_EQ(found.metrics[0].limit, 450);
}

TEST(Plausible, APeakOfTheSmsHoldsPerClockAndPerSecond) {
  const std::map<std::string, Limit> peak{{"FLOP/clk/SM", {4096, "datasheet"}}};
  Measurement found = with({rate("flop_per_clock_per_sm", "FLOP/clk/SM", 4000)});
  found.metrics[0].limit = 4096;
  found.metrics.push_back(rate("tflops", "TFLOP/s", 1000));
  set_limits(found, {}, kGpu);
  EXPECT_NEAR(*found.metrics[1].limit, 4096 * 132 * 1980e-6, 1e-9);
  found.metrics[0].limit.reset();
  found.conditions.sm_clock_min_mhz = 1200;
  set_limits(found, {}, kGpu);
  EXPECT_NEAR(*found.metrics[0].limit, 4096, 1e-9);
}

TEST(Plausible, NothingTakesNoTime) {
  EXPECT_TRUE(says(judge(with({rate("latency_cycles", "cycle", 0)})), "is no time"));
  EXPECT_TRUE(says(judge(with({rate("l2_latency_ns", "ns", 0)})), "is no time"));
  EXPECT_TRUE(says(judge(with({rate("time_us", "us", 0)})), "is no time"));
  EXPECT_EQ(judge(with({rate("tensor_cycles_per_ex2", "cycle", 0)})), "");
  const Series curve{"latency_cycles", "cycle", {{"warps", {1, 2}}}, {30, 0}};
  EXPECT_TRUE(says(judge(with(curve)), "point 2 of series 'latency_cycles', 0 cycle, is no time"));
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

TEST(Plausible, WithoutAClockOnlyWhatTheFastestDoesNotExplainContradicts) {
  Measurement found = with(
      {rate("bytes_per_clock_per_sm", "B/clk/SM", 54), rate("bandwidth_gb_per_s", "GB/s", 28900)});
  found.conditions.sm_clock_mhz.reset();
  EXPECT_TRUE(says(judge(found), "contradict 54 B/clk/SM, which at 1980 MHz are 14113.4 GB/s"));
  found.metrics[1] = rate("bandwidth_gb_per_s", "GB/s", 9000);  // at 1263 MHz
  EXPECT_EQ(judge(found), "");
}

TEST(Plausible, ComparesPointsOfSeriesToo) {
  Measurement found;
  found.conditions.sm_clock_mhz = 1980;
  found.series = {{"bandwidth_gb_per_s", "GB/s", {{"bytes", {1, 2}}}, {14000, 28900}},
                  {"bytes_per_clock_per_sm", "B/clk/SM", {{"bytes", {1, 2}}}, {54, 54}}};
  EXPECT_TRUE(says(judge(found),
                   "point 2 of series 'bandwidth_gb_per_s' and "
                   "'bytes_per_clock_per_sm': 28900 GB/s contradict 54 B/clk/SM"));
  found.series[0].values[1] = NAN;  // a place without a value
  EXPECT_EQ(judge(found), "");
  found.series[0].values[1] = 14000;
  EXPECT_EQ(judge(found), "");
}

}  // namespace
}  // namespace assay
