// SPDX-License-Identifier: Apache-2.0
// Medians and their confidence intervals, without assuming a distribution.
#pragma once
#include <span>
#include <vector>

namespace assay {

struct Interval {
  double low, high;
};

// The middle value; the mean of the two middle ones for an even count. Precondition: not empty.
double median(std::span<const double> values);

// Confidence interval of the median from order statistics: between which two sorted samples does
// the true median lie with probability >= confidence, whatever the distribution (the number of
// samples below it is binomial(n, 1/2)). With fewer than 6 samples no pair reaches 95%: then the
// range.
Interval median_interval(std::span<const double> values, double confidence = 0.95);

// Half the width of that interval over the median; infinity when the median is 0 but the
// interval is not empty.
double relative_half_width(std::span<const double> values, double confidence = 0.95);

// Element-wise a / b. Precondition: equal lengths.
std::vector<double> ratios(std::span<const double> a, std::span<const double> b);

}  // namespace assay
