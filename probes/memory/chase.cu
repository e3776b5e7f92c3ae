// SPDX-License-Identifier: Apache-2.0
#include "harness/device.hpp"
#include "probes/memory/chase.hpp"

namespace assay {
namespace {

// Ties lines[rings][count] into rings and puts cursor c on ring c % rings. Each cursor starts at a
// place of its own, so that SMs do not march over their rings in step.
__global__ void tie_rings(Line* lines, std::uint32_t rings, std::uint32_t count, Line** cursors,
                          std::uint32_t cursor_count) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (std::size_t i = thread; i < std::size_t{rings} * count; i += gridDim.x * blockDim.x) {
    const auto place = static_cast<std::uint32_t>(i % count);
    lines[i].next = &lines[i - place + successor(place, count)];
  }
  if (thread < cursor_count)
    cursors[thread] = &lines[std::size_t{thread % rings} * count + thread * 2654435769u % count];
}

}  // namespace

void measure_chase(State& s, int rings, std::uint32_t count, ChaseKernel kernel) {
  const int ctas = s.device().sm_count;
  auto* lines = s.allocate<Line>(std::size_t{count} * rings);
  auto* cursors = s.allocate<Line*>(ctas);
  auto* records = s.allocate<StopwatchRecord>(ctas);
  tie_rings<<<1024, 256, 0, s.stream()>>>(lines, rings, count, cursors, ctas);
  const std::vector<Line*> start = download(cursors, ctas, s.stream());
  s.set_param("bytes", static_cast<std::int64_t>(sizeof(Line) * count * rings));

  kernel<<<ctas, 32, 0, s.stream()>>>(count / kChaseSteps, cursors, records);
  check(cudaGetLastError());
  s.require(download(cursors, ctas, s.stream()) == start,
            "a walk once round the ring did not end where it began");

  std::uint64_t steps = 0;
  s.cycles({.steps = kChaseSteps}, [&](const Launch& l) {
    kernel<<<ctas, 32, 0, l.stream>>>(l.iterations, cursors, l.records);
    steps += static_cast<std::uint64_t>(l.iterations) * kChaseSteps;
  });
  const std::vector<Line*> end = download(cursors, ctas, s.stream());
  for (int cta = 0; cta < ctas; ++cta) {
    const Line* ring = lines + std::size_t{count} * (cta % rings);
    const auto from = static_cast<std::uint32_t>(start[cta] - ring);
    s.require(end[cta] == ring + place_after(from, steps, count),
              "a chase ended on another line than its steps lead to");
  }
}

}  // namespace assay
