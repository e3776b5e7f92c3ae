// SPDX-License-Identifier: Apache-2.0
#include "harness/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "harness/machine/excerpt.hpp"

namespace assay {

std::string headline(const Json& m) {
  if (m.at("status") != "ok") return m.value("reason", std::string("no reason given"));
  const Json& metric = m.at("metrics").at(m.at("primary").get<std::string>());
  const double value = metric.at("value");
  const double half =
      0.5 * (metric.at("ci95")[1].get<double>() - metric.at("ci95")[0].get<double>());
  std::string line = fmt::format("{:.5g} {}", value, metric.at("unit").get<std::string>());
  if (value != 0) line += fmt::format(" \u00b1{:.2g}%", 100 * half / std::abs(value));
  if (metric.contains("limit"))
    line += fmt::format(" ({:.1f}% of limit)", 100 * value / metric["limit"].get<double>());
  for (const Json& baseline : m.at("baselines"))
    line += fmt::format(", {:.3f}x {}", baseline["speedup"]["value"].get<double>(),
                        baseline["name"].get<std::string>());
  if (m.at("conditions").at("stop") == "time_cap") line += ", interval wider than asked";
  for (const Json& flag : m.at("flags")) line += ", " + flag.get<std::string>();
  return line;
}

Progress::Progress(std::size_t total) : terminal_(::isatty(STDERR_FILENO)), total_(total) {}

std::string Progress::eta() const {
  if (done_ == 0) return "";
  const double spent =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const auto left = static_cast<int>(
      std::ceil(spent / static_cast<double>(done_) * static_cast<double>(total_ - done_)));
  return fmt::format("{}:{:02} left", left / 60, left % 60);
}

void Progress::begin(const std::string& name) {
  if (terminal_)
    show_on_stderr(fmt::format("\r\033[K[{}/{}] {} {}", done_ + 1, total_, eta(), name));
}

void Progress::end(const Json& m) {
  ++done_;
  const std::string status = m.at("status");
  (status == "ok" ? ok_ : status == "skipped" ? skipped_ : failed_)++;
  show_on_stderr(fmt::format("{}[{}/{}] {:<44} {}{}\n", terminal_ ? "\r\033[K" : "", done_, total_,
                             m.at("name").get<std::string>(), status == "ok" ? "" : status + ": ",
                             headline(m)));
}

std::string Progress::summary() const {
  const double spent =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return fmt::format("{} measured, {} failed, {} skipped in {:.1f} s", ok_, failed_, skipped_,
                     spent);
}

}  // namespace assay
