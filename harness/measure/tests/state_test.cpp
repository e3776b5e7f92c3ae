// SPDX-License-Identifier: Apache-2.0
// From samples to figures, through cases of the CPU and, for those of a GPU, through the
// arithmetic.
#include "harness/state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/callable.hpp"
#include "harness/error.hpp"
#include "harness/measure/state_impl.hpp"

namespace assay {
namespace {

Measurement measure(Callable<void(State&)> run, const RunOptions& options = {}) {
  const Probe probe{.name = "state_test",
                    .question = "",
                    .metrics = {{"hit_rate", "Share of hits."},
                                {"fraction_bits", "Bits of the fraction."},
                                {"rate", "Operations in a second."}},
                    .targets = {Target::host},
                    .pace = Pace::host,
                    .run = std::move(run)};
  return measure_case(probe, probe.cases.front(), options, nullptr);
}

// 11 samples around 1000 ns: median 1000, interval from the 2nd to the 10th, 992 to 1008.
double sample() {
  static int calls = 0;
  return 990.0 + 2.0 * (calls++ % 11);
}
SamplingOptions eleven() { return {.half_width = 0.02, .warm_up = 0}; }

const Metric& metric(const Measurement& m, const std::string& name) {
  const auto found = std::ranges::find(m.metrics, name, &Metric::name);
  if (found == m.metrics.end()) throw Error(ExitCode::failed, "no metric " + name);
  return *found;
}

void expect(const Metric& m, const char* unit, Better better, double low, double value,
            double high) {
  EXPECT_EQ(m.unit, unit) << m.name;
  EXPECT_EQ(m.better, better) << m.name;
  EXPECT_DOUBLE_EQ(m.low, low) << m.name;
  EXPECT_DOUBLE_EQ(m.value, value) << m.name;
  EXPECT_DOUBLE_EQ(m.high, high) << m.name;
  EXPECT_LE(m.low, m.value) << m.name;
  EXPECT_LE(m.value, m.high) << m.name;
}

Measurement measure_work(const Work& work) {
  const Measurement m = measure([&](State& s) { s.sample(work, sample); }, {.sampling = eleven()});
  EXPECT_EQ(m.status, Status::ok) << m.reason;
  EXPECT_EQ(m.samples.at("time_ns").size(), 11u);
  return m;
}

TEST(Figures, Bandwidth) {
  const Measurement m = measure_work({.bytes = 2e6, .limit = {4000, "the data sheet"}});
  EXPECT_EQ(m.primary, "bandwidth_gb_per_s");
  const Metric& bandwidth = metric(m, "bandwidth_gb_per_s");
  expect(bandwidth, "GB/s", Better::higher, 2e6 / 1008, 2000, 2e6 / 992);
  EXPECT_EQ(bandwidth.limit, 4000);
  EXPECT_EQ(bandwidth.limit_source, "the data sheet");
  expect(metric(m, "time_us"), "us", Better::lower, 0.992, 1, 1.008);
  EXPECT_FALSE(metric(m, "time_us").limit);
}

TEST(Figures, FloatingPointRate) {
  const Measurement m = measure_work({.flop = 5e9});
  EXPECT_EQ(m.primary, "tflops");
  expect(metric(m, "tflops"), "TFLOP/s", Better::higher, 5e6 / 1008, 5000, 5e6 / 992);
}

TEST(Figures, EnergyUnderLastingLoad) {
  const Probe probe{.name = "state_test", .targets = {Target::host}};
  for (const char* state : {"burst", "sustained"}) {
    const Case which{.params = {{"state", state}}};
    State::Impl impl(probe, which, {}, nullptr);
    impl.measurement.conditions.power_w = 700;
    impl.add_metrics({.flop = 5e9, .bytes = 2e7}, std::vector<double>(11, 1e4), {}, 1, false);
    const std::size_t rates = impl.measurement.metrics.size();
    impl.add_energy();
    if (state[0] == 'b') {
      EXPECT_EQ(impl.measurement.metrics.size(), rates);
      continue;
    }
    expect(metric(impl.measurement, "energy_pj_per_flop"), "pJ/FLOP", Better::lower, 1.4, 1.4, 1.4);
    expect(metric(impl.measurement, "energy_pj_per_byte"), "pJ/B", Better::lower, 350, 350, 350);
  }
}

// What the chip says of itself takes the place of the table's limit, of the per-clock rate alone.
TEST(Figures, ALimitFromCounters) {
  const Probe probe{.name = "state_test", .targets = {Target::host}};
  const Case which;
  State::Impl impl(probe, which, {}, nullptr);
  const std::vector<double> samples(11, 100.0);
  impl.add_metrics({.flop = 4000, .limit = {50, "a table"}}, samples, samples, 1, true);
  impl.take_limit("peak");
  EXPECT_EQ(metric(impl.measurement, "flop_per_clock_per_sm").limit_source, "a table");
  impl.measurement.counters["peak"] = 42;
  impl.take_limit("peak");
  EXPECT_EQ(metric(impl.measurement, "flop_per_clock_per_sm").limit, 42);
  EXPECT_EQ(metric(impl.measurement, "flop_per_clock_per_sm").limit_source, "CUPTI peak");
  EXPECT_FALSE(metric(impl.measurement, "tflops").limit);
}

TEST(Figures, OperationRate) {
  const Measurement m = measure_work({.ops = 3000});
  EXPECT_EQ(m.primary, "gops");
  expect(metric(m, "gops"), "Gop/s", Better::higher, 3000.0 / 1008, 3, 3000.0 / 992);
}

TEST(Figures, Latency) {
  const Measurement m = measure_work({.steps = 8});
  EXPECT_EQ(m.primary, "latency_ns");
  expect(metric(m, "latency_ns"), "ns", Better::lower, 124, 125, 126);
}

TEST(Figures, PlainTime) {
  const Measurement m = measure_work({});
  EXPECT_EQ(m.primary, "time_us");
  EXPECT_EQ(m.metrics.size(), 1u);
}

TEST(Figures, SeveralKindsOfWorkAtOnce) {
  const Measurement m = measure_work({.flop = 1e9, .bytes = 1e6});
  EXPECT_EQ(m.primary, "tflops");
  EXPECT_DOUBLE_EQ(metric(m, "bandwidth_gb_per_s").value, 1000);
}

// What cycles() and time() hand over, with 4 SMs at 2 GHz: 1000 ns are 2000 cycles.
class OfTheGpu : public testing::Test {
 protected:
  const std::vector<double> ns = std::vector(11, 1000.0), cycles = std::vector(11, 2000.0);
  const Probe probe{.name = "state_test"};
  State::Impl impl{probe, probe.cases.front(), {}, nullptr};
  const Metric& metric(const std::string& name) const {
    return assay::metric(impl.measurement, name);
  }
};

TEST_F(OfTheGpu, WorkOfOneSmLeadsWithItsCycles) {
  impl.add_metrics({.flop = 8e6, .limit = {4096, "64 FMA a quarter"}}, ns, cycles, 4, true);
  EXPECT_EQ(impl.measurement.primary, "flop_per_clock_per_sm");
  EXPECT_DOUBLE_EQ(metric("flop_per_clock_per_sm").value, 4000);
  EXPECT_EQ(metric("flop_per_clock_per_sm").limit, 4096);
  EXPECT_DOUBLE_EQ(metric("tflops").value, 4 * 8e6 / 1e-6 * 1e-12);
  EXPECT_FALSE(metric("tflops").limit);
}

TEST_F(OfTheGpu, WorkOfAllSmsLeadsWithItsSeconds) {
  impl.add_metrics({.bytes = 8e6, .limit = {9000, "pins"}}, ns, cycles, 4, false);
  EXPECT_EQ(impl.measurement.primary, "bandwidth_gb_per_s");
  EXPECT_DOUBLE_EQ(metric("bandwidth_gb_per_s").value, 8000);
  EXPECT_EQ(metric("bandwidth_gb_per_s").limit, 9000);
  EXPECT_DOUBLE_EQ(metric("bytes_per_clock_per_sm").value, 8e6 / 4 / 2000);
  EXPECT_DOUBLE_EQ(metric("time_us").value, 1);
}

TEST_F(OfTheGpu, LatencyComesWithItsSpreadOverTheSms) {
  impl.add_metrics({.steps = 10}, ns, cycles, 4, true, Spread{1900, 2000, 2200});
  const Metric& latency = metric("latency_cycles");
  EXPECT_DOUBLE_EQ(latency.value, 200);
  ASSERT_TRUE(latency.spread);
  EXPECT_DOUBLE_EQ(latency.spread->min, 190);
  EXPECT_DOUBLE_EQ(latency.spread->max, 220);
  EXPECT_DOUBLE_EQ(metric("latency_ns").value, 100);
}

TEST(Figures, MayBeAdded) {
  const std::vector<double> values = {3, 1, 2};
  const Measurement m = measure([&](State& s) {
    s.sample({}, sample);
    s.add_metric("hit_rate", "", Better::higher, values);
  });
  expect(metric(m, "hit_rate"), "", Better::higher, 1, 2, 3);
  EXPECT_EQ(m.primary, "time_us");
}

TEST(Figures, MayBeExactAndNeedNoSamples) {
  const Measurement m =
      measure([](State& s) { s.add_exact("fraction_bits", "bit", Better::higher, 13); });
  expect(metric(m, "fraction_bits"), "bit", Better::higher, 13, 13, 13);
  EXPECT_EQ(m.status, Status::ok);
  EXPECT_EQ(m.primary, "fraction_bits");
}

TEST(Figures, AreRefusedWithoutADescription) {
  const char* const refused =
      "metric 'depth' has no description: add it to .metrics of the registration in here.cu";
  const auto with_source = [](Callable<void(State&)> run) {
    const Probe probe{.name = "state_test",
                      .question = "",
                      .targets = {Target::host},
                      .pace = Pace::host,
                      .run = std::move(run),
                      .source = "here.cu"};
    return measure_case(probe, probe.cases.front(), {}, nullptr).reason;
  };
  EXPECT_EQ(with_source([](State& s) { s.add_exact("depth", "", Better::higher, 1); }), refused);
  EXPECT_EQ(with_source([](State& s) { s.add_series({"depth", "", {{"n", {1}}}, {1}}); }), refused);
}

TEST(Series, HaveAValueForEachPlace) {
  const Axis warps{"warps", {1, 2, 4}};
  EXPECT_EQ(measure([&](State& s) {
              s.sample({}, sample);
              s.add_series({"rate", "op", {warps}, {1, 2, 3}});
            }).series.size(),
            1u);
  EXPECT_EQ(measure([&](State& s) {
              s.add_series({"rate", "op", {warps}, {1, 2}});
            }).reason,
            "series 'rate' has 2 values for 3 places: mend its probe");
}

TEST(Series, HaveAnIntervalForEachPlaceOrNone) {
  Series some{"rate", "op", {{"warps", {1, 2}}}, {7}};
  some.add({8, 7, 9});
  EXPECT_EQ(measure([&](State& s) { s.add_series(some); }).reason,
            "series 'rate' has intervals for 1 of its 2 places: add each point with Series::add() "
            "in its probe");
  Series all{"rate", "op", {{"warps", {1, 2}}}, {}};
  all.add(7);
  all.add({8, 7, 9});
  const Measurement found = measure([&](State& s) {
    s.sample({}, sample);
    s.add_series(all);
  });
  ASSERT_EQ(found.series.size(), 1u) << found.reason;
  EXPECT_TRUE(std::isnan(found.series[0].low[0]));
  EXPECT_EQ(found.series[0].high[1], 9);
}

TEST(MeasureCase, RecordsWhatWentWrong) {
  const auto failed = [](Callable<void(State&)> run) {
    const Measurement m = measure(std::move(run));
    EXPECT_EQ(m.status, Status::failed);
    EXPECT_TRUE(m.metrics.empty());
    EXPECT_TRUE(m.samples.empty());
    return m.reason;
  };
  EXPECT_EQ(failed([](State&) { throw std::runtime_error("broken"); }), "broken");
  EXPECT_EQ(failed([](State& s) {
              s.sample({}, sample);
              s.require(false, "not so");
            }),
            "wrong result: not so");
  EXPECT_TRUE(failed([](State&) {}).starts_with("state_test measured nothing"));
  EXPECT_TRUE(failed([](State& s) { s.cycles({}, {}); }).starts_with("state_test needs a GPU"));
  EXPECT_TRUE(failed([](State& s) { s.i64("bytes"); }).find("no parameter 'bytes'") !=
              std::string::npos);
}

TEST(MeasureCase, SkipsWithAReason) {
  const Measurement m = measure([](State& s) { s.skip("one GPU only"); });
  EXPECT_EQ(m.status, Status::skipped);
  EXPECT_EQ(m.reason, "one GPU only");
}

TEST(MeasureCase, CallsOnceForAProfiler) {
  int calls = 0;
  RunOptions options;
  options.profile = true;
  const Measurement m = measure(
      [&](State& s) {
        s.sample({}, [&] {
          ++calls;
          return 1.0;
        });
      },
      options);
  EXPECT_EQ(m.status, Status::ok);
  EXPECT_EQ(calls, 1);
}

// What is planted is done, not computed: 103 calls where 100 are counted.
TEST(MeasureCase, DoesTheExtraWorkThatIsPlanted) {
  for (const int extra : {0, 3, -4}) {
    int calls = 0;
    const Measurement m = measure(
        [&](State& s) {
          EXPECT_EQ(s.i64("extra_percent"), extra);
          s.sample({}, [&] {
            ++calls;
            return 1000.0;
          });
        },
        {.sampling = eleven(), .extra_percent = extra});
    ASSERT_EQ(m.status, Status::ok) << m.reason;
    EXPECT_EQ(calls, 11 * (100 + extra));
    EXPECT_DOUBLE_EQ(metric(m, "time_us").value, 1 + extra / 100.0);
    EXPECT_EQ(std::get<std::int64_t>(m.params.at("extra_percent")), extra);
  }
}

TEST(MeasureCase, PlantsNothingUnasked) {
  int calls = 0;
  const Measurement m = measure(
      [&](State& s) {
        s.sample({}, [&] {
          ++calls;
          return 1000.0;
        });
      },
      {.sampling = eleven()});
  EXPECT_EQ(calls, 11);
  EXPECT_TRUE(m.params.empty());
}

TEST(MeasureCase, TellsTheCaseThatBaselinesAreLeftOut) {
  const Measurement m = measure(
      [](State& s) {
        EXPECT_EQ(s.text("baselines"), "none");
        s.sample({}, sample);
      },
      {.alone = true});
  EXPECT_EQ(m.status, Status::ok) << m.reason;
}

TEST(MeasureCase, TellsTheCaseThatSweepsAreLeftOut) {
  const Measurement m = measure(
      [](State& s) {
        EXPECT_EQ(s.text("sweeps"), "none");
        s.sample({}, sample);
      },
      {.sweeps = false});
  EXPECT_EQ(m.status, Status::ok) << m.reason;
}

TEST(MeasureCase, KeepsFlagsParametersAndSeed) {
  RunOptions options;
  options.seed = 77;
  const Measurement m = measure(
      [](State& s) {
        s.set_param("threads", 3);
        s.add_flag("odd");
        s.sample({}, sample);
      },
      options);
  EXPECT_EQ(std::get<std::int64_t>(m.params.at("threads")), 3);
  EXPECT_EQ(m.flags, std::vector<std::string>{"odd"});
  EXPECT_EQ(m.conditions.seed, 77u);
  EXPECT_GE(m.duration_s, 0);
}

}  // namespace
}  // namespace assay
