// SPDX-License-Identifier: Apache-2.0
// When to stop sampling: as soon as the answer is known well enough, or time is up.
#pragma once
#include <string>
#include <vector>

#include "harness/callable.hpp"

namespace assay {

struct SamplingOptions {
  double half_width = 0.005;  // of the 95% interval of the median, relative
  double time_cap_s = 2.0;
  int warm_up = 2;       // samples thrown away
  int min_samples = 11;  // 9 or more let a 95% interval leave the extremes out
  int max_samples = 2000;
};

struct Sampled {
  std::vector<double> values;
  std::string stop;  // "converged" or "time_cap"
};

// Calls `one` until the interval is narrow enough. `seconds` is the clock to watch (tests bring
// their own); at least min_samples are taken even past the cap, unless a single one takes longer
// than the cap, when 6 (the fewest with a 95% interval) must do.
Sampled sample_until_known(const SamplingOptions& options, const Callable<double()>& one,
                           const Callable<double()>& seconds);
Sampled sample_until_known(const SamplingOptions& options, const Callable<double()>& one);

}  // namespace assay
