// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/cycle_counter.hpp"

#include <algorithm>

#include "harness/error.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {

constexpr int kMaxCtas = 8192;  // records of one launch

}  // namespace

PerSm per_sm(const std::vector<StopwatchRecord>& records) {
  struct Range {
    std::uint64_t start_clock = UINT64_MAX, stop_clock = 0, start_ns = UINT64_MAX, stop_ns = 0;
  };
  std::map<int, Range> ranges;
  for (const StopwatchRecord& r : records) {
    if (r.stop_clock == 0) continue;
    if (r.stop_clock < r.start_clock || r.stop_ns < r.start_ns)
      throw Error(ExitCode::failed, "refused, it cannot be: the clock of SM " +
                                        std::to_string(r.sm) +
                                        " ran backwards, or the kernel was moved to another SM");
    Range& range = ranges[static_cast<int>(r.sm)];
    range.start_clock = std::min(range.start_clock, r.start_clock);
    range.stop_clock = std::max(range.stop_clock, r.stop_clock);
    range.start_ns = std::min(range.start_ns, r.start_ns);
    range.stop_ns = std::max(range.stop_ns, r.stop_ns);
  }
  PerSm result;
  for (const auto& [sm, range] : ranges) {
    result.cycles[sm] = static_cast<double>(range.stop_clock - range.start_clock);
    result.ns[sm] = static_cast<double>(range.stop_ns - range.start_ns);
  }
  return result;
}

std::vector<double> values_of(const std::map<int, double>& by_sm) {
  std::vector<double> values;
  for (const auto& [sm, value] : by_sm) values.push_back(value);
  return values;
}

CycleCounter::CycleCounter(GpuContext& gpu, const Launchable& launch)
    : gpu_(gpu), launch_(launch), records_(kMaxCtas * sizeof(StopwatchRecord)), host_(kMaxCtas) {}

void CycleCounter::launch(std::int64_t iterations) const {
  launch_({gpu_.stream, iterations, records_.as<StopwatchRecord>()});
}

CycleCounter::Reading CycleCounter::run(std::int64_t iterations) {
  // The GPU is busy until all is enqueued: else the CPU's time to launch would be between the
  // events, and a launch that took it 1.5 us longer made the difference of two 0.7% too small.
  delay(kEnqueueNs, gpu_.stream);
  check(cudaMemsetAsync(records_.data(), 0, records_.bytes(), gpu_.stream));
  begin_.record(gpu_.stream);
  launch(iterations);
  check(cudaGetLastError());
  end_.record(gpu_.stream);
  check(cudaMemcpyAsync(host_.data(), records_.data(), records_.bytes(), cudaMemcpyDeviceToHost,
                        gpu_.stream));
  check(cudaStreamSynchronize(gpu_.stream));
  return {per_sm(host_), elapsed_ns(begin_, end_)};
}

std::int64_t CycleCounter::iterations_for(double wanted_cycles) {
  std::int64_t n = 1;
  for (int attempt = 0; attempt < 40; ++attempt) {
    const Reading reading = run(n);
    if (reading.sm.cycles.empty())
      throw Error(ExitCode::failed, "no CTA left a stopwatch record: does the kernel call stop()?");
    const double taken = median(values_of(reading.sm.cycles));
    if (taken >= 0.7 * wanted_cycles) break;
    n = std::max(n + 1, static_cast<std::int64_t>(static_cast<double>(n) *
                                                  std::min(wanted_cycles / taken, 64.0)));
  }
  return n;
}

PerSm CycleCounter::difference(const Reading& once, const Reading& twice, std::int64_t n) {
  const auto of_both = [n](const std::map<int, double>& once, const std::map<int, double>& twice) {
    std::map<int, double> each;
    for (const auto& [sm, taken] : twice)
      if (const auto same = once.find(sm); same != once.end())
        each[sm] = (taken - same->second) / static_cast<double>(n);
    return each;
  };
  PerSm each{of_both(once.sm.cycles, twice.sm.cycles), of_both(once.sm.ns, twice.sm.ns)};
  if (each.cycles.empty())
    throw Error(ExitCode::failed, "two launches shared no SM: launch one CTA per SM");
  return each;
}

}  // namespace assay
