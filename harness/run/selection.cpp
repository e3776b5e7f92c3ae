// SPDX-License-Identifier: Apache-2.0
#include "harness/run/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "harness/error.hpp"
#include "harness/machine/excerpt.hpp"

namespace assay {
namespace {

constexpr std::size_t kLongestFilter = 10'000;            // characters
constexpr std::int64_t kLargestExpression = 1024 * 1024;  // bytes, compiled
constexpr std::size_t kLongestCompared = 200;             // characters; names are shorter

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, cost});
    }
  }
  return row.back();
}

// How far `text` is from `name` or from any run of its path parts: "wgma/bf16" is near
// "tensor_core/wgmma/bf16/m64n256/ss".
std::size_t distance_to_part(const std::string& text, const std::string& name) {
  std::vector<std::size_t> cuts{0};  // where a part begins, and one past the end
  for (std::size_t i = 0; i < name.size(); ++i)
    if (name[i] == '/') cuts.push_back(i + 1);
  cuts.push_back(name.size() + 1);
  const auto parts = 1 + static_cast<std::size_t>(std::ranges::count(text, '/'));
  std::size_t best = edit_distance(text, name);
  for (std::size_t i = 0; i + parts < cuts.size(); ++i)
    best = std::min(best, edit_distance(text, name.substr(cuts[i], cuts[i + parts] - cuts[i] - 1)));
  return best;
}

bool in_suite(const Probe& probe, const Case& which, const std::string& suite) {
  if (suite == "host") return probe.exists_on(which, Target::host);
  return suite == "full" || which.suite == Suite::quick;
}

}  // namespace

std::vector<std::string> nearest(const std::string& text, const std::vector<std::string>& names,
                                 std::size_t count) {
  const std::string compared = text.substr(0, kLongestCompared);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) ranked.emplace_back(distance_to_part(compared, name), name);
  count = std::min(count, ranked.size());
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(ranked[i].second);
  return result;
}

Filter::Filter(const std::string& expression) {
  if (expression.size() > kLongestFilter)
    throw Error(ExitCode::usage,
                fmt::format("filter '{}' has {} characters; at most {} are read",
                            excerpt(expression), expression.size(), kLongestFilter));
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(kLargestExpression);
  expression_ = std::make_shared<const RE2>(expression, options);
  if (expression_->ok()) return;
  if (expression_->error_code() == RE2::ErrorPatternTooLarge ||
      expression_->error_code() == RE2::ErrorRepeatSize)
    throw Error(ExitCode::usage, fmt::format("filter '{}' repeats too much: ask for less with {{}}",
                                             excerpt(expression)));
  throw Error(ExitCode::usage,
              fmt::format("filter '{}' is not a regular expression ({}): put a backslash before "
                          "characters like ( [ * that are meant as they are",
                          excerpt(expression), excerpt(expression_->error())));
}

bool Filter::is_in(const std::string& text) const { return RE2::PartialMatch(text, *expression_); }

std::vector<Selected> select(const std::string& filter, const std::string& suite) {
  if (suite != "quick" && suite != "full" && suite != "host")
    throw Error(ExitCode::usage,
                fmt::format("unknown suite '{}': choose quick, full or host", suite));
  const bool leave_out = filter.starts_with('-');
  const std::string pattern = leave_out ? filter.substr(1) : filter;
  const Filter expression(pattern);
  std::vector<Selected> chosen;
  std::vector<std::string> names;
  bool outside_suite = false;
  for (const Probe* probe : probes()) {
    for (const Case& which : probe->cases) {
      const std::string name = probe->full_name(which);
      names.push_back(name);
      const bool exact = name == pattern || "^" + name + "$" == pattern;
      if (!exact && expression.is_in(name) == leave_out) continue;
      if (exact && leave_out) continue;
      if (exact || in_suite(*probe, which, suite))
        chosen.push_back({probe, &which, name});
      else
        outside_suite = true;
    }
  }
  if (chosen.empty() && outside_suite)
    throw Error(ExitCode::usage, fmt::format("filter '{}' matches only cases outside the suite "
                                             "'{}': add --suite full",
                                             excerpt(filter), suite));
  if (chosen.empty())
    throw Error(ExitCode::usage,
                fmt::format("no case matches '{}'; the nearest are {} (see `assay list`)",
                            excerpt(filter), fmt::join(nearest(pattern, names), ", ")));
  return chosen;
}

}  // namespace assay
