// SPDX-License-Identifier: Apache-2.0
#include "probes/tma/curves.hpp"

#include <algorithm>
#include <cmath>

#include "harness/statistics.hpp"
#include "probes/tma/knee.hpp"

namespace assay {
namespace {

constexpr std::size_t kSweeps = 7;  // the range of six or more samples is a 95% interval

double largest(const std::vector<double>& values) {
  double most = NAN;  // fmax passes over NaN
  for (const double value : values) most = std::fmax(most, value);
  return most;
}

}  // namespace

std::vector<double> Curves::Curve::sweep(std::size_t index) const {
  std::vector<double> values;
  for (const auto& point : samples) values.push_back(point.empty() ? NAN : point[index]);
  return values;
}

void Curves::add(std::string name, std::vector<std::optional<StreamJob>> jobs) {
  const std::size_t count = jobs.size();
  curves_.push_back({std::move(name), std::move(jobs), std::vector<std::vector<double>>(count)});
}

void Curves::measure(Streamer& streamer) {
  for (const Curve& curve : curves_)
    for (const auto& job : curve.jobs)
      if (job) streamer.verify(*job);
  for (std::size_t sweep = 0; sweep < kSweeps; ++sweep)
    for (std::size_t i = 0; i < places_.size(); ++i)
      for (Curve& curve : curves_)
        if (curve.jobs[i]) curve.samples[i].push_back(streamer.gb_per_s(*curve.jobs[i]));
}

const StreamJob& Curves::fastest() const {
  const Curve& curve = curves_.front();
  std::size_t best = 0;
  double most = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (curve.samples[i].empty() || median(curve.samples[i]) <= most) continue;
    most = median(curve.samples[i]);
    best = i;
  }
  return curve.jobs[best].value();
}

std::vector<double> Curves::best_of(const std::vector<std::string>& prefixes) const {
  std::vector<double> best;
  for (std::size_t sweep = 0; sweep < kSweeps; ++sweep) {
    double most = NAN;
    for (const Curve& curve : curves_)
      if (std::ranges::any_of(prefixes, [&](const auto& p) { return curve.name.starts_with(p); }))
        most = std::fmax(most, largest(curve.sweep(sweep)));
    best.push_back(most);
  }
  return best;
}

const std::vector<double>& Curves::samples(const std::string& name, std::uint64_t place) const {
  const auto curve = std::ranges::find(curves_, name, &Curve::name);
  const auto index = std::ranges::find(places_, place) - places_.begin();
  return curve->samples.at(static_cast<std::size_t>(index));
}

void Curves::report(State& s, const std::string& knee_name) const {
  Series series{"bandwidth_gb_per_s", "GB/s", {{of_, {}}, {along_, {}}}, {}};
  for (const std::uint64_t place : places_)
    series.axes[1].points.emplace_back(static_cast<std::int64_t>(place));
  const std::vector<double> places(places_.begin(), places_.end());
  for (const Curve& curve : curves_) {
    series.axes[0].points.emplace_back(curve.name);
    for (const auto& point : curve.samples)
      series.add(point.empty() ? Estimate(NAN) : estimate(point));
    std::vector<double> knees, most;
    for (std::size_t sweep = 0; sweep < kSweeps; ++sweep) {
      const std::vector<double> values = curve.sweep(sweep);
      knees.push_back(knee(places, values));
      most.push_back(largest(values));
    }
    if (std::isnan(most.front())) continue;  // no point of it exists here
    if (&curve == &curves_.front()) s.add_metric(knee_name, "B", Better::lower, knees);
    s.add_metric(knee_name + "_" + curve.name, "B", Better::lower, knees);
    s.add_metric("best_gb_per_s_" + curve.name, "GB/s", Better::higher, most);
  }
  s.add_series(std::move(series));
}

}  // namespace assay
