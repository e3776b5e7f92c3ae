// SPDX-License-Identifier: Apache-2.0
#include "probes/link/size_sweep.hpp"

#include <chrono>
#include <vector>

#include "harness/callable.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {

constexpr std::int64_t kEnough = 256 << 20;  // bytes of copies back to back
constexpr int kMostCopies = 256, kMostSamples = 21;

double seconds(const Callable<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<MetricNote> size_sweep_metrics() {
  return {
      {"time_us",
       "Time of one copy, from the call until the CPU knows that it is done, by its size."},
      {"bandwidth_gb_per_s",
       "Bytes in a second of copies back to back, by their size; the figure is of a large one."},
      {"smallest_copy_us", "Time of a copy of one byte."},
      {"half_bandwidth_bytes",
       "Size of a copy from which on half of the best bandwidth is reached."},
  };
}

void sweep_sizes(State& s, const SizedCopy& copy) {
  Series time{.name = "time_us", .unit = "us", .axes = {{"bytes", {}}}, .values = {}};
  Series rate{.name = "bandwidth_gb_per_s", .unit = "GB/s", .axes = {{"bytes", {}}}, .values = {}};
  std::vector<double> sizes;
  for (std::int64_t size = 1; size <= kLargestCopy; size *= 4) {
    const auto bytes = static_cast<std::size_t>(size);
    const auto timed = [&](int copies) {
      if (copy.undo) copy.undo(bytes);
      return seconds([&] {
        for (int i = 0; i < copies; ++i) copy.start(bytes);
        copy.finish();
      });
    };
    timed(1);
    copy.check(bytes);
    const auto samples =
        static_cast<int>(std::clamp<std::int64_t>(kEnough / size, 3, kMostSamples));
    std::vector<double> single, many;
    for (int i = 0; i < samples; ++i) single.push_back(timed(1));
    // What can be made only once is timed alone.
    const int copies =
        copy.undo ? 1 : static_cast<int>(std::clamp<std::int64_t>(kEnough / size, 1, kMostCopies));
    for (int i = 0; i < 6 && copies > 1; ++i) many.push_back(timed(copies) / copies);
    sizes.push_back(static_cast<double>(size));
    const Estimate each = estimate(many.empty() ? single : many);
    time.axes[0].points.emplace_back(size);
    time.add(1e6 * estimate(single));
    rate.axes[0].points.emplace_back(size);
    rate.add(static_cast<double>(size) / 1e9 / each);
  }
  s.add_exact("smallest_copy_us", "us", Better::lower, time.values.front());
  s.add_exact("half_bandwidth_bytes", "B", Better::lower, half_bandwidth_bytes(sizes, rate.values));
  s.add_series(std::move(time));
  s.add_series(std::move(rate));
}

}  // namespace assay
