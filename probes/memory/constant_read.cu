// SPDX-License-Identifier: Apache-2.0
// Throughput of loads from a constant bank, by how many addresses the lanes of a warp have: the
// cache gives one word at a time, to all lanes that want it ("Constant Memory" of the CUDA C++
// Programming Guide: as many requests as there are addresses).
#include "harness/device.hpp"
#include "harness/state.hpp"

namespace {

constexpr int kThreads = 512, kLoads = 16;
constexpr std::uint32_t kWords = 256;  // 1 KiB, within the first level

__constant__ std::uint32_t words[kWords];

// Lane l begins at word l % addresses. `step` is 0, which only the host knows.
__global__ void __launch_bounds__(kThreads)
    read_constant(std::int64_t iterations, std::uint32_t addresses, std::uint32_t step,
                  std::uint32_t* sums, assay::StopwatchRecord* records) {
  std::uint32_t at = threadIdx.x % 32 % addresses;
  std::uint32_t sum = 0;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int load = 0; load < kLoads; ++load)
      sum += *const_cast<const volatile std::uint32_t*>(&words[at + load * 8]);
    at += step;
  }
  stopwatch.stop(records);
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

void run(assay::State& s) {
  const auto ctas = static_cast<std::size_t>(s.device().sm_count);
  auto* sums = s.allocate<std::uint32_t>(ctas * kThreads);
  auto* data = s.allocate<std::uint32_t>(kWords);
  s.fill_random_bits(data, kWords * sizeof(*data));
  const auto host = assay::download(data, kWords, s.stream());
  assay::check(
      cudaMemcpyToSymbolAsync(words, data, sizeof(words), 0, cudaMemcpyDeviceToDevice, s.stream()));
  assay::Series series{"ops_per_clock_per_sm", "op/clk/SM", {{"addresses_of_warp", {}}}, {}};
  for (std::uint32_t addresses = 1; addresses <= 32; addresses *= 2) {
    std::int64_t iterations = 0;
    const auto launch = [&](const assay::Launch& l) {
      read_constant<<<static_cast<unsigned>(ctas), kThreads, 0, l.stream>>>(l.iterations, addresses,
                                                                            0, sums, l.records);
      iterations = l.iterations;
    };
    if (addresses == 1) s.cycles({.ops = double{kLoads} * kThreads}, launch);
    series.axes[0].points.emplace_back(std::int64_t{addresses});
    series.add(double{kLoads} * kThreads / s.cycles_once(launch));
    const auto found = assay::download(sums, ctas * kThreads, s.stream());
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::uint32_t once = 0;
      for (std::uint32_t load = 0; load < kLoads; ++load)
        once += host[i % 32 % addresses + load * 8];
      s.require(found[i] == once * static_cast<std::uint32_t>(iterations),
                "a thread's sum is not that of the words it should have read");
    }
  }
  s.add_series(std::move(series));
}

const assay::Registration registration{{
    .name = "memory/constant/read",
    .question = "How many constants does an SM load in a cycle, by how many addresses the lanes "
                "of a warp have?",
    .metrics = {{"ops_per_clock_per_sm",
                 "Words loaded in a cycle by the threads of an SM; the series is by the addresses "
                 "of a warp's lanes."}},
    .cases = {{.suite = assay::Suite::full}},
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "read_constant", .sass = {{"LDC", kLoads, INT_MAX}}}};
        },
    .run = run,
}};

}  // namespace
