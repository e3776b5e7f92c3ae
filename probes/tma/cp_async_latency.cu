// SPDX-License-Identifier: Apache-2.0
// Latency of cp.async: each copy brings where the next one is, so a step is issue, flight, the wait
// for the group, and the load of the address from shared memory. 16 bytes go past L1, fewer through
// it; the rings are larger than L1, but for the one that is to hit there.
#include "harness/device.hpp"
#include "harness/ptx/cp_async.cuh"
#include "harness/state.hpp"
#include "probes/memory/ring.hpp"

namespace {

using namespace assay;

constexpr int kSteps = 16;               // copies in one iteration
constexpr std::uint32_t kSpacing = 128;  // bytes from node to node: one L2 line each

// A node's first word is its successor's place, in lines from the ring's first.
__global__ void lay_lines(char* ring, int bits) {
  const std::uint32_t step = blockIdx.x * blockDim.x + threadIdx.x;
  *reinterpret_cast<std::uint32_t*>(ring + std::uint64_t{shuffle(step, bits)} * kSpacing) =
      shuffle(step + 1, bits);
}

// One thread of each CTA walks, and leaves the place it ends at.
template <int kBytes>
__global__ void chase_copies(const char* ring, int bits, Start start, std::int64_t iterations,
                             std::uint32_t* ends, StopwatchRecord* records) {
  __shared__ __align__(16) std::uint32_t arrived[4];
  std::uint32_t next = shuffle(start.offset + blockIdx.x * start.apart, bits);
  const Stopwatch stopwatch;
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        ptx::cp_async<kBytes>(arrived, ring + std::uint64_t{next} * kSpacing);
        ptx::cp_async_commit();
        ptx::cp_async_wait<0>();
        next = *reinterpret_cast<volatile std::uint32_t*>(arrived);
      }
    }
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0) ends[blockIdx.x] = next;
}

Case ring_of(int bytes, const char* level, int bits) {
  return {.name = "b" + std::to_string(bytes) + "/" + level,
          .params = {{"bytes", bytes},
                     {"level", level},
                     {"ring_bits", bits},
                     {"footprint_bytes", std::int64_t{kSpacing} << bits}},
          .suite = Suite::full};
}

auto kernel_of(const Case& c) {
  switch (c.i64("bytes")) {
    case 4:
      return chase_copies<4>;
    case 8:
      return chase_copies<8>;
    default:
      return chase_copies<16>;
  }
}

void run(State& s) {
  const int bits = static_cast<int>(s.i64("ring_bits"));
  const int ctas = s.device().sm_count;
  char* ring = s.allocate<char>(s.i64("footprint_bytes"));
  auto* ends = s.allocate<std::uint32_t>(ctas);
  constexpr unsigned kThreads = 256;
  lay_lines<<<(1u << bits) / kThreads, kThreads, 0, s.stream()>>>(ring, bits);
  const auto kernel = kernel_of(s.which());
  RingWalk walk(ctas, bits);
  s.cycles({.steps = kSteps}, [&](const Launch& l) {
    const Start start = walk.set_out(l.iterations * kSteps);
    kernel<<<ctas, 32, 0, l.stream>>>(ring, bits, start, l.iterations, ends, l.records);
  });
  const auto ended = download(ends, ctas, s.stream());
  for (int cta = 0; cta < ctas; ++cta)
    s.require(ended[cta] == shuffle(walk.end(cta), bits), "a chase ended at the wrong line");
}

const Registration registration{{
    .name = "tma/cp_async/latency",
    .question = "How many cycles until what cp.async copies can be read?",
    .metrics = {{"latency_cycles",
                 "Cycles of one step: issue, flight, the wait for the group, and the load of the "
                 "next address."}},
    .cases = {ring_of(16, "l2", 13), ring_of(16, "dram", 23), ring_of(8, "l1", 8),
              ring_of(8, "l2", 13), ring_of(8, "dram", 23), ring_of(4, "l1", 8),
              ring_of(4, "l2", 13), ring_of(4, "dram", 23)},
    .kernels =
        [](const Case& c, Target) {
          return std::vector<KernelUse>{
              {.kernel = "chase_copies<" + std::to_string(c.i64("bytes")) + ">",
               .sass = {{"LDGSTS", kSteps, kSteps}}}};
        },
    .run = run,
}};

}  // namespace
