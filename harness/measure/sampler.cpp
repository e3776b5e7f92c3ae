// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/sampler.hpp"

#include <chrono>

#include "harness/callable.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {
constexpr int kFewest = 6;  // P(all 6 on one side of the median) * 2 = 3.1%
}

Sampled sample_until_known(const SamplingOptions& options, const Callable<double()>& one,
                           const Callable<double()>& seconds) {
  for (int i = 0; i < options.warm_up; ++i) one();
  Sampled sampled;
  const double begin = seconds();
  double last_check = 0;
  for (;;) {
    sampled.values.push_back(one());
    const int count = static_cast<int>(sampled.values.size());
    const double spent = seconds() - begin;
    const bool slow = spent / count > options.time_cap_s;
    if (count < (slow ? kFewest : options.min_samples)) continue;
    const bool out_of_time = spent >= options.time_cap_s || count >= options.max_samples;
    // Sorting all samples after each one would cost more than cheap samples do.
    if (!out_of_time && count < 1.05 * last_check) continue;
    last_check = count;
    if (relative_half_width(sampled.values) <= options.half_width) {
      sampled.stop = "converged";
      return sampled;
    }
    if (out_of_time) {
      sampled.stop = "time_cap";
      return sampled;
    }
  }
}

Sampled sample_until_known(const SamplingOptions& options, const Callable<double()>& one) {
  const auto begin = std::chrono::steady_clock::now();
  return sample_until_known(options, one, [begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
}

}  // namespace assay
