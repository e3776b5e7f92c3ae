// SPDX-License-Identifier: Apache-2.0
// Values along one or more axes: a curve, a sweep, a map.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "harness/probe.hpp"
#include "harness/statistics.hpp"

namespace assay {

struct Axis {
  std::string name;           // "warps", "footprint_bytes", "lane"
  std::vector<Value> points;  // numbers or names, one for each place
};

struct Series {
  std::string name;  // "ops_per_clock_per_sm"; no two of a measurement share it
  std::string unit;
  std::vector<Axis> axes;
  // Row-major, the last axis fastest, as many as the axes' points multiplied; NaN (null in a file)
  // where there is nothing.
  std::vector<double> values;
  // By State::may_be_negative() and State::limit().
  bool signed_values = false;
  double limit = 0;  // what no value can exceed; 0 if none is known
  std::string limit_source = {};
  // 95% intervals of the values, of points that were sampled often enough for one; NaN elsewhere.
  // As many as the values, or none.
  std::vector<double> low = {}, high = {};

  // One more point, with its interval where it has one.
  void add(const Estimate& point) {
    values.push_back(point.value);
    low.push_back(point.low);
    high.push_back(point.high);
  }
  // Of a series whose places are not met in their order, and whose three lists are long enough.
  void set(std::size_t place, const Estimate& point) {
    values[place] = point.value;
    low[place] = point.low;
    high[place] = point.high;
  }
};

}  // namespace assay
