// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/figures/metric_notes.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace assay {
namespace {

// What each `*` of a name stands for in `metric`; nothing if the name is not of that metric. Names
// are of letters, digits and underscores, so that only the `*` needs translating.
std::vector<re2::StringPiece> stars(std::string name, std::string_view metric) {
  RE2::GlobalReplace(&name, R"(\*)", "(.+)");
  const RE2 pattern(name);
  std::vector<re2::StringPiece> found(1 +
                                      static_cast<std::size_t>(pattern.NumberOfCapturingGroups()));
  if (!pattern.Match(metric, 0, metric.size(), RE2::ANCHOR_BOTH, found.data(),
                     static_cast<int>(found.size())))
    return {};
  found.erase(found.begin());  // the whole
  return found;
}

// Each `*` of the sentence becomes what the same one of the name stood for.
std::string fill_in(const std::string& meaning, std::span<const re2::StringPiece> found) {
  std::string text;
  std::size_t star = 0;
  for (const char c : meaning) {
    if (c == '*' && star < found.size()) {
      text.append(found[star].data(), found[star].size());
      ++star;
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

const std::vector<MetricNote>& standard_metrics() {
  static const std::vector<MetricNote> notes = {
      {"flop_per_clock_per_sm",
       "Operations of matrix or vector math, a multiply-add being two, that one SM does in a "
       "cycle."},
      {"tflops",
       "Operations of matrix or vector math, a multiply-add being two, of all SMs or CPUs in a "
       "second."},
      {"ops_per_clock_per_sm", "Results, or operations done, of one SM in a cycle."},
      {"gops", "Results, or operations done, of the whole GPU in a second."},
      {"bytes_per_clock_per_sm", "Bytes that one SM moves in a cycle; of all SMs, the mean."},
      {"bandwidth_gb_per_s", "Bytes moved in a second by all that take part."},
      {"latency_cycles", "Cycles of one step, where each step waits for the one before it."},
      {"latency_ns", "Time of one step, where each step waits for the one before it."},
      {"time_us", "Time of one run of what is measured: a kernel, a copy, a call or a collective."},
      {"issue_interval_cycles",
       "Cycles between the starts of two independent copies of an instruction in one warp."},
      {"bus_bandwidth_gb_per_s",
       "Bandwidth on the busiest link of a collective, as nccl-tests counts it."},
      {"energy_pj_per_flop",
       "Energy of one operation under lasting load: power of the whole board, idle included, over "
       "operations in a second."},
      {"energy_pj_per_byte",
       "Energy of one byte moved under lasting load: power of the whole board, idle included, over "
       "bytes in a second."},
  };
  return notes;
}

std::string find_meaning(const std::vector<MetricNote>& notes, std::string_view metric) {
  const auto exact = std::ranges::find(notes, metric, &MetricNote::name);
  if (exact != notes.end()) return exact->meaning;
  for (const MetricNote& note : notes) {
    const auto found = stars(note.name, metric);
    if (!found.empty()) return fill_in(note.meaning, found);
  }
  return {};
}

std::string describe(const Probe& probe, std::string_view metric) {
  const std::string own = find_meaning(probe.metrics, metric);
  return own.empty() ? find_meaning(standard_metrics(), metric) : own;
}

}  // namespace assay
