// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/rate.hpp"

#include <algorithm>

#include "harness/callable.hpp"
#include "harness/device.hpp"
#include "harness/statistics.hpp"

namespace assay {

Rate rate_once(State& s, const Callable<void(const Launch&)>& launch) {
  constexpr double kWantedNs = 1.5e5;
  constexpr int kSamples = 3;
  const auto ctas = static_cast<std::size_t>(s.device().sm_count);
  Buffer records(ctas * sizeof(StopwatchRecord));
  Event begin, end;
  const auto run = [&](std::int64_t iterations) -> Rate {
    check(cudaMemsetAsync(records.data(), 0, records.bytes(), s.stream()));
    begin.record(s.stream());
    launch({s.stream(), iterations, records.as<StopwatchRecord>()});
    check(cudaGetLastError());
    end.record(s.stream());
    std::vector<double> cycles;
    for (const StopwatchRecord& r : download(records.as<const StopwatchRecord>(), ctas, s.stream()))
      cycles.push_back(static_cast<double>(r.stop_clock - r.start_clock));
    return {median(cycles), elapsed_ns(begin, end)};
  };
  std::int64_t n = 1;
  run(n);
  for (int attempt = 0; attempt < 20; ++attempt) {
    const double taken = run(n).ns;
    if (taken >= 0.5 * kWantedNs) break;
    n = std::max(n + 1,
                 static_cast<std::int64_t>(static_cast<double>(n) *
                                           std::min(kWantedNs / std::max(taken, 1.0), 64.0)));
  }
  std::vector<double> cycles, ns;
  for (int i = 0; i < kSamples; ++i) {
    const Rate once = run(n), twice = run(2 * n);
    cycles.push_back((twice.cycles - once.cycles) / static_cast<double>(n));
    ns.push_back((twice.ns - once.ns) / static_cast<double>(n));
  }
  return {median(cycles), median(ns)};
}

}  // namespace assay
