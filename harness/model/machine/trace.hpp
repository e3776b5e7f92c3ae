// SPDX-License-Identifier: Apache-2.0
// Events of a launch, for a timeline that Perfetto (ui.perfetto.dev) draws. Time is the number of
// instructions that warps have executed: an order, not a duration.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace assay::model {

struct TraceEvent {
  std::string row, name;
  int cta = 0;
  std::uint64_t begin = 0, end = 0;
  std::int64_t from = -1;  // the event that let this one begin, by index
};

struct Trace {
  std::vector<TraceEvent> events;
  std::size_t most = 200'000;

  void add(TraceEvent event) {
    if (events.size() < most) events.push_back(std::move(event));
  }
};

// The Chrome trace format, which Perfetto reads.
std::string to_perfetto(const Trace& trace);

}  // namespace assay::model
