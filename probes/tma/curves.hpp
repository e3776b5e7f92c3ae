// SPDX-License-Identifier: Apache-2.0
// Bandwidth curves of several ways to stream one array, side by side.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/tma/streamer.hpp"

namespace assay {

// Whole sweeps over all curves are repeated, every point once in each, so that a sweep has a best
// and a knee of its own: these are the samples behind their medians and intervals.
class Curves {
 public:
  // The axes: what tells the curves apart, and what a curve runs along.
  Curves(std::string of, std::string along, std::vector<std::uint64_t> places)
      : of_(std::move(of)), along_(std::move(along)), places_(std::move(places)) {}

  const std::vector<std::uint64_t>& places() const { return places_; }
  // One job for each place; nothing where there is none.
  void add(std::string name, std::vector<std::optional<StreamJob>> jobs);
  // Checks what every job brings, then sweeps.
  void measure(Streamer& streamer);
  // Of the first curve, the job that was fastest.
  const StreamJob& fastest() const;
  // The largest value of each sweep over the curves whose name begins with one of these.
  std::vector<double> best_of(const std::vector<std::string>& prefixes) const;
  // What each sweep found of a curve at a place; empty where there is no job.
  const std::vector<double>& samples(const std::string& name, std::uint64_t place) const;
  // For each curve `<knee>_<name>`, the place where it reaches 95% of its best, and
  // best_gb_per_s_<name>; the first curve's knee as `<knee>` too; and the medians of all points as
  // the series bandwidth_gb_per_s.
  void report(State& s, const std::string& knee) const;

 private:
  struct Curve {
    std::string name;
    std::vector<std::optional<StreamJob>> jobs;
    std::vector<std::vector<double>> samples;  // of each place, one for each sweep
    std::vector<double> sweep(std::size_t index) const;
  };

  std::string of_, along_;
  std::vector<std::uint64_t> places_;
  std::vector<Curve> curves_;
};

}  // namespace assay
