// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "harness/device.hpp"
#include "probes/memory/chase.hpp"
#include "probes/memory/visit.hpp"

namespace assay {
namespace {

// Each cursor starts at a step of its own, so that SMs do not march over their rings in step.
__host__ __device__ std::uint32_t first_step(std::uint32_t cursor) { return cursor * 2654435769u; }

// Ties lines[rings][2^bits] into rings and puts cursor c on ring c % rings.
__global__ void tie_rings(Line* lines, std::uint32_t rings, int bits, Line** cursors,
                          std::uint32_t cursor_count) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (std::size_t i = thread; i < std::size_t{rings} << bits; i += gridDim.x * blockDim.x) {
    Line* ring = lines + (i >> bits << bits);
    const auto step = static_cast<std::uint32_t>(i);
    ring[shuffle(step, bits)].next = &ring[shuffle(step + 1, bits)];
  }
  if (thread < cursor_count) {
    Line* ring = lines + (std::size_t{thread % rings} << bits);
    cursors[thread] = &ring[shuffle(first_step(thread), bits)];
  }
}

__global__ void tie(PlaceLayout layout) {
  for (std::uint32_t step = blockIdx.x * blockDim.x + threadIdx.x; step < layout.count;
       step += gridDim.x * blockDim.x)
    *reinterpret_cast<Place*>(layout.base + layout.offset(shuffle_within(step, layout.count))) = {
        layout.at_step(step + 1), 1, layout.at_step(step + kVisitLoads), 1};
  static_assert(offsetof(Place, skip) == kSkipAt);
}

}  // namespace

void tie_places(const PlaceLayout& layout, cudaStream_t stream) {
  tie<<<1024, 256, 0, stream>>>(layout);
  check(cudaGetLastError());
}

void measure_chase(State& s, int rings, int bits, ChaseKernel kernel) {
  const int ctas = s.device().sm_count;
  const std::int64_t count = std::int64_t{1} << bits;
  auto* lines = s.allocate<Line>(count * rings);
  auto* cursors = s.allocate<Line*>(ctas);
  auto* records = s.allocate<StopwatchRecord>(ctas);
  tie_rings<<<1024, 256, 0, s.stream()>>>(lines, rings, bits, cursors, ctas);
  const std::vector<Line*> start = download(cursors, ctas, s.stream());
  s.set_param("bytes", static_cast<std::int64_t>(sizeof(Line)) * count * rings);

  kernel<<<ctas, 32, 0, s.stream()>>>(count / kChaseSteps, cursors, records);
  check(cudaGetLastError());
  s.require(download(cursors, ctas, s.stream()) == start,
            "a walk once round the ring did not end where it began");

  std::uint32_t steps = 0;  // wraps at a multiple of the ring's length
  s.cycles({.steps = kChaseSteps}, [&](const Launch& l) {
    kernel<<<ctas, 32, 0, l.stream>>>(l.iterations, cursors, l.records);
    steps += static_cast<std::uint32_t>(l.iterations) * kChaseSteps;
  });
  const std::vector<Line*> end = download(cursors, ctas, s.stream());
  for (int cta = 0; cta < ctas; ++cta) {
    const Line* ring = lines + count * (cta % rings);
    s.require(end[cta] == ring + shuffle(first_step(cta) + steps, bits),
              "a chase ended on another line than its steps lead to");
  }
}

}  // namespace assay
