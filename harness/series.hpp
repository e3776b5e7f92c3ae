// SPDX-License-Identifier: Apache-2.0
// Values along one or more axes: a curve, a sweep, a map.
#pragma once
#include <string>
#include <vector>

#include "harness/probe.hpp"

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
};

}  // namespace assay
