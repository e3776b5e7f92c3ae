// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/rate.hpp"

#include <algorithm>

#include "harness/callable.hpp"
#include "harness/device.hpp"
#include "harness/statistics.hpp"

namespace assay {

Rate rate_once(State& s, const Callable<void(const Launch&)>& launch) {
  // What the first round takes longer, and SMs that start late, is then below a percent.
  constexpr double kWantedNs = 3e5;
  constexpr int kSamples = 6;
  const auto ctas = static_cast<std::size_t>(s.device().sm_count);
  Buffer records(ctas * sizeof(StopwatchRecord));
  const auto run = [&](std::int64_t iterations) -> Rate {
    check(cudaMemsetAsync(records.data(), 0, records.bytes(), s.stream()));
    launch({s.stream(), iterations, records.as<StopwatchRecord>()});
    check(cudaGetLastError());
    std::vector<double> clocks;  // cycles in a nanosecond
    std::uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    for (const StopwatchRecord& r :
         download(records.as<const StopwatchRecord>(), ctas, s.stream())) {
      s.require(r.stop_clock > r.start_clock && r.stop_ns >= r.start_ns,
                "a clock of an SM ran backwards, or its CTA left no record");
      // Some GPUs' timers step by a microsecond: a round or two may take less.
      if (r.stop_ns > r.start_ns)
        clocks.push_back(static_cast<double>(r.stop_clock - r.start_clock) /
                         static_cast<double>(r.stop_ns - r.start_ns));
      begin_ns = std::min(begin_ns, r.start_ns);
      end_ns = std::max(end_ns, r.stop_ns);
    }
    const double ns = static_cast<double>(end_ns - begin_ns) / static_cast<double>(iterations);
    return {clocks.empty() ? 0 : ns * median(clocks), ns};
  };
  std::int64_t n = 1;
  run(n);
  for (int attempt = 0; attempt < 20; ++attempt) {
    const double taken = run(n).ns * static_cast<double>(n);
    if (taken >= 0.5 * kWantedNs) break;
    n = std::max(n + 1,
                 static_cast<std::int64_t>(static_cast<double>(n) *
                                           std::min(kWantedNs / std::max(taken, 1.0), 64.0)));
  }
  std::vector<double> cycles, ns;
  for (int i = 0; i < kSamples; ++i) {
    const Rate once = run(n);
    cycles.push_back(once.cycles);
    ns.push_back(once.ns);
  }
  return {estimate(cycles), estimate(ns)};
}

}  // namespace assay
