// SPDX-License-Identifier: Apache-2.0
// Medians and their confidence intervals, without assuming a distribution.
#pragma once
#include <limits>
#include <span>
#include <type_traits>
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

// A median with its 95% interval; the ends are NaN where none is known. It can be multiplied,
// divided and divided into, and its ends go with it; whatever else is computed from it is a number
// alone.
struct Estimate {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  Estimate(double value, double low = kNone, double high = kNone)
      : value(value), low(low), high(high) {}
  operator double() const { return value; }

  double value, low, high;

  template <class N>
  requires std::is_arithmetic_v<N>
  friend Estimate operator*(const Estimate& e, N by) {
    return ordered(e.value * by, e.low * by, e.high * by);
  }
  template <class N>
  requires std::is_arithmetic_v<N>
  friend Estimate operator*(N by, const Estimate& e) { return e * by; }
  template <class N>
  requires std::is_arithmetic_v<N>
  friend Estimate operator/(const Estimate& e, N by) {
    return ordered(e.value / by, e.low / by, e.high / by);
  }
  template <class N>  // a rate of a time; one that may be nothing has no interval
  requires std::is_arithmetic_v<N>
  friend Estimate operator/(N of, const Estimate& e) {
    return e.low > 0 ? ordered(of / e.value, of / e.low, of / e.high) : Estimate(of / e.value);
  }

 private:
  static Estimate ordered(double value, double a, double b) {
    return a <= b ? Estimate(value, a, b) : Estimate(value, b, a);
  }
};

// What the samples say: without an interval where they are fewer than the six that one of 95%
// takes. Precondition: not empty.
Estimate estimate(std::span<const double> values);

// Half the width of that interval over the median; infinity when the median is 0 but the
// interval is not empty.
double relative_half_width(std::span<const double> values, double confidence = 0.95);

// Element-wise a / b. Precondition: equal lengths.
std::vector<double> ratios(std::span<const double> a, std::span<const double> b);

}  // namespace assay
