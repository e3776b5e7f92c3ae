// SPDX-License-Identifier: Apache-2.0
// The four ways of State to take a sample.
#include <cuda_profiler_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <thread>

#include "harness/callable.hpp"
#include "harness/error.hpp"
#include "harness/measure/busy_timer.hpp"
#include "harness/measure/counters.hpp"
#include "harness/measure/cycle_counter.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/measure/launches.hpp"
#include "harness/measure/state_impl.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr double kSustainedSeconds = 1.2;  // load before a sustained figure is sampled
constexpr double kSettledSeconds = 0.4;    // of it, after which power is what it stays
// Asking for processes takes the driver longer than the rest of a poll.
constexpr int kPollsForProcesses = 5;
constexpr double kCyclesInterval = 0.2;  // of the interval asked for, for figures in cycles

// SM clock over a stretch of work, from the stamps before and after it; 0 if no SM has both.
double clock_mhz(const GpuContext& gpu) {
  std::vector<ClockStamp> stamps(2 * kMaxSms);
  check(cudaMemcpy(stamps.data(), gpu.stamps.data(), gpu.stamps.bytes(), cudaMemcpyDeviceToHost));
  std::vector<double> clocks;
  for (int sm = 0; sm < kMaxSms; ++sm) {
    const ClockStamp& before = stamps[static_cast<std::size_t>(sm)];
    const ClockStamp& after = stamps[static_cast<std::size_t>(kMaxSms + sm)];
    if (before.ns && after.ns > before.ns)
      clocks.push_back(1e3 * static_cast<double>(after.clock - before.clock) /
                       static_cast<double>(after.ns - before.ns));
  }
  return clocks.empty() ? 0 : median(clocks);
}

// What `ncu --profile-from-start off` and `nsys --capture-range cudaProfilerApi` look at: not the
// kernels that fill arrays and check results. Without a GPU (cases of the CPU) it does nothing.
struct ProfiledRange {
  ProfiledRange() { (void)cudaProfilerStart(); }
  ~ProfiledRange() { (void)cudaProfilerStop(); }
};

template <class F>
void stamped(GpuContext& gpu, F&& work) {
  delay(kEnqueueNs, gpu.stream);
  stamp_clocks(gpu.stamps.as<ClockStamp>(), gpu.device.sm_count, gpu.stream);
  work();
  stamp_clocks(gpu.stamps.as<ClockStamp>() + kMaxSms, gpu.device.sm_count, gpu.stream);
}

}  // namespace

void State::Impl::start_watch() {
  if (measured || watch || !gpu || !gpu->nvml) return;
  watch.emplace(ConditionsWatch::Reader([from = gpu, polls = 0]() mutable {
    Reading now = from->nvml->read();
    if (polls++ % kPollsForProcesses == 0) now.other_processes = from->other_processes();
    return now;
  }));
}

void State::Impl::sustain(const Callable<void()>& once) {
  if (!sustained() || options.profile) return;
  const auto start = Clock::now();
  double load = 0;
  while (load < kSustainedSeconds) {
    if (load >= kSettledSeconds) start_watch();
    once();
    load = seconds_since(start);
  }
}

std::vector<double> State::Impl::take_samples(const Callable<double()>& one, double half_width) {
  if (options.profile) {
    measured = true;
    const ProfiledRange range;
    return {one()};
  }
  start_watch();
  SamplingOptions sampling = options.sampling;
  sampling.half_width = half_width;
  Sampled sampled = sample_until_known(sampling, one);
  if (measured) return std::move(sampled.values);  // conditions are those of the first figure
  measured = true;
  Conditions& conditions = measurement.conditions;
  conditions.sample_count = static_cast<int>(sampled.values.size());
  conditions.stop = sampled.stop;
  if (watch) {
    const WatchSummary summary = watch->stop();
    watch.reset();
    conditions.memory_clock_mhz = summary.memory_clock_mhz;
    conditions.power_w = summary.power_w;
    conditions.power_max_w = summary.power_max_w;
    conditions.temperature_c = summary.temperature_c;
    conditions.throttle = summary.throttle;
    conditions.other_processes = summary.other_processes;
    if (!conditions.sm_clock_mhz) conditions.sm_clock_mhz = summary.sm_clock_mhz;
  }
  return std::move(sampled.values);
}

// What is captured is not done, so that it is done then: a case may look at what its last launch
// left. Not for cycles(), whose chases note at each launch how far they have come.
void State::Impl::note_launches(const Callable<void()>& launch) {
  if (!measurement.launches.empty()) return;
  measurement.launches = kernels_launched(gpu->stream, launch);
  launch();
  check(cudaStreamSynchronize(gpu->stream));
}

void State::Impl::count(const Limit& limit, const Callable<void()>& launch) {
  if (!options.counters || !measurement.counters.empty()) return;
  std::vector<std::string> wanted = counters_for(gpu->device.target);
  const std::string peak = limit.counter + ".avg.peak_sustained";
  if (!limit.counter.empty()) wanted.push_back(peak);
  const auto counted = collect_counters(gpu->device.index, std::move(wanted), [&] {
    launch();
    check(cudaStreamSynchronize(gpu->stream));
  });
  if (!counted) {
    measurement.flags.push_back(counted.reason());
    return;
  }
  measurement.counters = *counted;
  take_limit(peak);
}

// Only with counters: their hooks slow launches down, so no run that does not ask for them is to
// load them, and a process of its own would cost each run a second more for the same constants.
void State::Impl::take_limit(const std::string& counter) {
  const auto found = measurement.counters.find(counter);
  if (found == measurement.counters.end() || !(found->second > 0)) return;
  for (Metric& metric : measurement.metrics)
    if (metric.name == "flop_per_clock_per_sm" && metric.limit) {
      metric.limit = found->second;
      metric.limit_source = "CUPTI " + counter;
    }
}

State::Impl::Rounds State::Impl::rounds(std::int64_t wanted) const {
  if (!options.extra_percent || options.profile) return {wanted, wanted};
  const std::int64_t hundreds = (wanted + 99) / 100;
  return {100 * hundreds, (100 + *options.extra_percent) * hundreds};
}

void State::Impl::note_clocks(const std::vector<double>& clocks_mhz) {
  const auto [least, most] = std::ranges::minmax(clocks_mhz);
  Conditions& conditions = measurement.conditions;
  conditions.sm_clock_mhz = median(clocks_mhz);
  conditions.sm_clock_min_mhz = least;
  conditions.sm_clock_max_mhz = most;
}

std::vector<double> State::Impl::cycles_of(const std::vector<double>& time_ns,
                                           std::vector<double> clocks_mhz) {
  if (clocks_mhz.size() < time_ns.size() || std::ranges::count(clocks_mhz, 0.0)) return {};
  // The clocks of warm-up samples come first. Each sample has its own: a power limit moves it.
  clocks_mhz.erase(clocks_mhz.begin(),
                   clocks_mhz.end() - static_cast<std::ptrdiff_t>(time_ns.size()));
  note_clocks(clocks_mhz);
  std::vector<double> cycles(time_ns.size());
  std::ranges::transform(time_ns, clocks_mhz, cycles.begin(),
                         [](double ns, double mhz) { return ns * mhz * 1e-3; });
  return cycles;
}

Estimate State::cycles_once(const Callable<void(const Launch&)>& launch) {
  constexpr double kWantedCycles = 5e4;
  constexpr int kSamples = 6;  // the fewest that an interval of 95% can be made of
  CycleCounter counter(impl_.need_gpu(), launch);
  std::optional<ProfiledRange> range;
  if (impl_.options.profile) range.emplace();
  const std::int64_t n = counter.iterations_for(impl_.options.profile ? 1 : kWantedCycles);
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) {
    const auto once = counter.run(n), twice = counter.run(2 * n);
    samples.push_back(median(values_of(CycleCounter::difference(once, twice, n).cycles)));
  }
  return estimate(samples);
}

std::vector<double> State::cycles(const Work& work, const Callable<void(const Launch&)>& launch) {
  GpuContext& gpu = impl_.need_gpu();
  const bool first = !impl_.measured;
  const bool sustained = first && impl_.sustained();
  CycleCounter counter(gpu, launch);

  // Long enough that the global timer's step (32 ns on Hopper) is below 0.02% of it; longer under
  // sustained load, so that the gaps between launches let nothing cool down.
  const double wanted_cycles = impl_.options.profile ? 1 : sustained ? 6e6 : 4e5;
  const auto [n, done] = impl_.rounds(counter.iterations_for(wanted_cycles));
  if (sustained) impl_.sustain([&] { counter.run(2 * done); });

  std::vector<double> time_ns, clocks;
  std::map<int, std::vector<double>> by_sm;
  const auto one = [&] {
    const auto once = counter.run(done), twice = counter.run(2 * done);
    const PerSm each = CycleCounter::difference(once, twice, n);
    for (const auto& [sm, taken] : each.cycles) by_sm[sm].push_back(taken);
    for (const auto& [sm, taken] : twice.sm.cycles)
      clocks.push_back(1e3 * taken / twice.sm.ns.at(sm));
    // A latency is that of an SM in the middle, in seconds as in cycles; all the GPU's work is done
    // when its last SM has done its share.
    time_ns.push_back(work.steps > 0 ? median(values_of(each.ns))
                                     : (twice.ns - once.ns) / static_cast<double>(n));
    return median(values_of(each.cycles));
  };
  // Cycles are counted, and most of them a constant of the chip: they can be known better.
  std::vector<double> cycles =
      impl_.take_samples(one, impl_.options.sampling.half_width * kCyclesInterval);
  // Warm-up samples are in the side lists too, and time_ns must pair with cycles.
  time_ns.erase(time_ns.begin(), time_ns.end() - static_cast<std::ptrdiff_t>(cycles.size()));
  std::vector<double> medians;
  for (const auto& [sm, values] : by_sm) medians.push_back(median(values));
  const Spread spread{*std::ranges::min_element(medians), median(medians),
                      *std::ranges::max_element(medians)};
  impl_.add_metrics(work, first ? time_ns : std::vector<double>{}, cycles,
                    static_cast<int>(by_sm.size()), true, spread);
  if (!first) return cycles;
  impl_.add_energy();
  impl_.note_clocks(clocks);
  impl_.measurement.samples = {{"cycles", cycles}, {"time_ns", std::move(time_ns)}};
  impl_.set_iterations(n);
  impl_.count(work.limit, [&] { counter.launch(n); });
  return cycles;
}

void State::time(const Work& work, const Callable<void(cudaStream_t)>& launch, L2 l2) {
  GpuContext& gpu = impl_.need_gpu();
  if (l2 == L2::cold && gpu.flush.bytes() == 0) gpu.flush = Buffer(2 * gpu.device.l2_bytes);
  impl_.measurement.conditions.l2 = l2 == L2::cold ? "cold" : "warm";
  Event begin, end;
  std::vector<double> clocks;
  const auto run = [&](const Impl::Rounds& repeats) {
    if (l2 == L2::cold) overwrite(gpu.flush.data(), gpu.flush.bytes(), gpu.stream);
    stamped(gpu, [&] {
      begin.record(gpu.stream);
      for (std::int64_t i = 0; i < repeats.done; ++i) launch(gpu.stream);
      end.record(gpu.stream);
    });
    const double ns = elapsed_ns(begin, end) / static_cast<double>(repeats.counted);
    check(cudaStreamSynchronize(gpu.stream));
    check(cudaGetLastError());
    return ns;
  };
  // Several launches per sample where one is short, so that the events' half microsecond does not
  // show; a cold sample is one launch by its nature.
  const double first = run({1, 1});
  const double wanted_ns = impl_.sustained() ? 5e6 : 4e5;
  Impl::Rounds repeats{1, 1};
  if (l2 == L2::warm && !impl_.options.profile)
    repeats = impl_.rounds(
        static_cast<std::int64_t>(std::clamp(wanted_ns / std::max(first, 1e3), 1.0, 1000.0)));
  else if (impl_.options.extra_percent)
    throw Error(ExitCode::usage, "no work can be planted in a sample of one launch, on a cold L2");
  impl_.sustain([&] { run(repeats); });

  const auto one = [&] {
    const double ns = run(repeats);
    if (impl_.probe.pace != Pace::link) clocks.push_back(clock_mhz(gpu));  // links have their own
    return ns;
  };
  std::vector<double> time_ns = impl_.take_samples(one, impl_.options.sampling.half_width);
  const std::vector<double> cycles = impl_.cycles_of(time_ns, clocks);
  impl_.add_metrics(work, time_ns, cycles, gpu.device.sm_count, false);
  impl_.add_energy();
  impl_.measurement.samples = {{"time_ns", std::move(time_ns)}};
  impl_.set_iterations(repeats.counted);
  const auto once_more = [&] { launch(gpu.stream); };
  impl_.note_launches(once_more);
  impl_.count(work.limit, once_more);
}

void State::sample(const Work& work, const Callable<double()>& nanoseconds) {
  const Impl::Rounds calls = impl_.rounds(1);
  const auto one = [&] {
    double total = 0;
    for (std::int64_t i = 0; i < calls.done; ++i) total += nanoseconds();
    return total / static_cast<double>(calls.counted);
  };
  std::vector<double> time_ns = impl_.take_samples(one, impl_.options.sampling.half_width);
  impl_.add_metrics(work, time_ns, {}, 1, false);
  impl_.measurement.samples = {{"time_ns", std::move(time_ns)}};
}

void State::compare(const Work& work, int input_sets, const Contender& ours,
                    const std::vector<Contender>& baselines, int calls) {
  GpuContext& gpu = impl_.need_gpu();
  std::vector<const Contender*> contenders{&ours};
  if (!impl_.options.alone)
    for (const Contender& baseline : baselines) contenders.push_back(&baseline);
  std::vector<std::vector<double>> times(contenders.size());
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> clocks;
  BusyTimer timer;
  // Each turn has the next set: on that of the turn before it would find its inputs in L2.
  int turn = 0;
  impl_.sustain([&] {
    for (const Contender* contender : contenders)
      for (int call = 0; call < calls; ++call) contender->run(gpu.stream, turn++ % input_sets);
    check(cudaStreamSynchronize(gpu.stream));
  });
  const Impl::Rounds repeats = impl_.rounds(impl_.options.profile ? 1 : calls);
  const bool rest = impl_.probe.pace == Pace::power && !impl_.sustained() && !impl_.options.profile;
  double turn_ns = 0;  // of the last turn and what led it in
  bool backward = true;
  const auto one = [&] {
    // Each order and then its reverse: who comes first is so as often as anybody.
    if (backward = !backward; backward)
      std::ranges::reverse(order);
    else
      std::ranges::shuffle(order, impl_.random);
    for (const std::size_t index : order) {
      if (rest)
        std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(rest_ns(turn_ns)));
      // Only ours is planted in.
      const std::int64_t done = index == 0 ? repeats.done : repeats.counted;
      const auto work_of_turn = [&] {
        for (std::int64_t i = 0; i < done; ++i)
          contenders[index]->run(gpu.stream, turn++ % input_sets);
      };
      ClockStamp* const stamps = gpu.stamps.as<ClockStamp>();
      const auto stamp = [&](ClockStamp* to) { stamp_clocks(to, gpu.device.sm_count, gpu.stream); };
      // Led in by a call of its own, so that everybody's code is in the caches and L2 holds another
      // call's result. Without, who came first after a rest took up to 12% more or 6% less on an
      // H200 than who came second.
      const auto before = [&] {
        if (!impl_.options.profile) contenders[index]->run(gpu.stream, turn++ % input_sets);
        stamp(stamps);
      };
      const double ns =
          timer.nanoseconds(gpu.stream, work_of_turn, before, [&] { stamp(stamps + kMaxSms); });
      turn_ns = ns * (1.0 + 1.0 / static_cast<double>(done));
      times[index].push_back(ns / static_cast<double>(repeats.counted));
      check(cudaStreamSynchronize(gpu.stream));
      check(cudaGetLastError());
      if (index == 0) clocks.push_back(clock_mhz(gpu));
    }
    return times[0].back();
  };
  std::vector<double> time_ns = impl_.take_samples(one, impl_.options.sampling.half_width);
  for (auto& list : times)  // without the warm-up rounds
    list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(time_ns.size()));
  const std::vector<double> cycles = impl_.cycles_of(time_ns, clocks);
  impl_.add_metrics(work, time_ns, cycles, gpu.device.sm_count, false);
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    const auto summarize = [](const char* name, const char* unit, Better better,
                              const std::vector<double>& values) {
      const auto [low, high] = median_interval(values);
      return Metric{.name = name,
                    .unit = unit,
                    .better = better,
                    .value = median(values),
                    .low = low,
                    .high = high};
    };
    std::vector<double> micros(times[i].size());
    std::ranges::transform(times[i], micros.begin(), [](double ns) { return ns * 1e-3; });
    impl_.measurement.baselines.push_back(
        {.name = contenders[i]->name,
         .speedup = summarize("speedup", "", Better::higher, ratios(times[i], times[0])),
         .time_us = summarize("time_us", "us", Better::lower, micros)});
    impl_.measurement.samples["time_ns/" + contenders[i]->name] = std::move(times[i]);
  }
  impl_.measurement.samples["time_ns"] = std::move(time_ns);
  impl_.set_iterations(repeats.counted);
  const auto once_more = [&] { ours.run(gpu.stream, 0); };
  impl_.note_launches(once_more);
  impl_.count(work.limit, once_more);
}

}  // namespace assay
