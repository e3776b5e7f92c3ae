// SPDX-License-Identifier: Apache-2.0
// What cannot be is refused: figures above their limit, below zero, or at odds with one another.
#pragma once
#include <map>
#include <string>

#include "harness/limits.hpp"
#include "harness/measurement.hpp"

namespace assay {

// What of a GPU bounds its rates. All zero for a case of the CPU, which has no limits here.
struct GpuBounds {
  int sm_count = 0;
  double sm_clock_max_mhz = 0;
  bool through_sms = true;  // bytes: those that cross a link by a copy engine are in no SM's L1
};

// Gives each metric and series that has no limit the one of its name or its unit: of `known`, of
// what follows from it (B/clk/SM to GB/s, FLOP/clk/SM to TFLOP/s, at the maximum SM clock or the
// fastest one that a sample saw; GB/s to B/clk/SM, at the slowest), or of every SM, whichever is
// the tightest. Where none is known, limit_source says so.
void set_limits(Measurement& found, const std::map<std::string, Limit>& known,
                const GpuBounds& gpu);

// Why this cannot be right, in one line that names the figure; empty if nothing speaks against it:
//   - a figure or a point of a series is not a number, or negative where its unit has no negatives
//   - a latency or the time of something is 0
//   - a rate is above its limit by more than its interval, a point of a series by more than 0.5%
//   - bytes (or FLOP) per second and per clock, or points of their series at one place, disagree by
//     more than their intervals
std::string implausible(const Measurement& found, const GpuBounds& gpu);

}  // namespace assay
