// SPDX-License-Identifier: Apache-2.0
// Latency of the constant caches over the footprint: a chase round a ring in a constant bank, one
// place of each 64 bytes. A word holds its successor's offset, which is the address in the bank, so
// that only the load is on the chain. A bank has 64 KiB (CUDA C++ Programming Guide), and so the
// curve ends there, within what the second level holds on most chips.
#include "harness/device.hpp"
#include "harness/state.hpp"
#include "probes/memory/plateaus.hpp"
#include "probes/memory/ring.hpp"

namespace {

constexpr std::uint32_t kBankBytes = 64 << 10, kStride = 64;
constexpr int kSteps = 64;

__constant__ std::uint32_t bank[kBankBytes / 4];

__global__ void chase_constant(std::int64_t iterations, std::uint32_t warm_steps,
                               std::uint32_t* place, assay::StopwatchRecord* records) {
  std::uint32_t at = *place;
  const auto load = [&at] {
    at = *reinterpret_cast<const volatile std::uint32_t*>(
        reinterpret_cast<const volatile char*>(bank) + at);
  };
#pragma unroll 1
  for (std::uint32_t i = 0; i < warm_steps; ++i) load();
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) load();
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0) *place = at;
}

void run(assay::State& s) {
  auto* place = s.allocate<std::uint32_t>(1);
  assay::Series series{"latency_cycles", "cycle", {{"footprint_bytes", {}}}, {}};
  std::vector<std::uint32_t> footprints;
  for (std::uint32_t bytes = 256; bytes <= kBankBytes; bytes += bytes < 4096    ? 256
                                                                : bytes < 16384 ? 1024
                                                                                : 4096)
    footprints.push_back(bytes);
  for (const std::uint32_t bytes : footprints) {
    const std::uint32_t count = bytes / kStride;
    std::vector<std::uint32_t> words(kBankBytes / 4);
    const auto offset = [&](std::uint32_t step) {
      return assay::shuffle_within(step % count, count) * kStride;
    };
    for (std::uint32_t step = 0; step < count; ++step) words[offset(step) / 4] = offset(step + 1);
    assay::check(cudaMemcpyToSymbolAsync(bank, words.data(), kBankBytes, 0, cudaMemcpyHostToDevice,
                                         s.stream()));
    std::uint32_t at = offset(0), steps = 0;
    assay::check(cudaMemcpyAsync(place, &at, sizeof at, cudaMemcpyHostToDevice, s.stream()));
    assay::check(cudaStreamSynchronize(s.stream()));
    const assay::Estimate cycles = s.cycles_once([&](const assay::Launch& l) {
      chase_constant<<<1, 32, 0, l.stream>>>(l.iterations, 2 * count, place, l.records);
      steps = static_cast<std::uint32_t>(
          (steps + 2 * count + static_cast<std::uint64_t>(l.iterations) * kSteps) % count);
    });
    s.require(assay::download(place, 1, s.stream()).front() == offset(steps),
              "a chase ended on another word than its steps lead to");
    series.axes[0].points.emplace_back(std::int64_t{bytes});
    series.add(cycles / kSteps);
  }
  s.add_exact("latency_cycles", "cycle", assay::Better::lower, std::ranges::min(series.values));
  const auto levels = assay::plateaus(series.values);
  for (std::size_t i = 0; i < levels.size() && i < 2; ++i) {
    const std::string name = i == 0 ? "constant_l1" : "constant_l15";
    s.add_exact(name + "_latency_cycles", "cycle", assay::Better::lower, levels[i].level);
    if (levels[i].last + 1 < footprints.size())
      s.add_exact(name + "_capacity_bytes", "byte", assay::Better::higher,
                  footprints[levels[i].last]);
  }
  s.add_series(std::move(series));
}

const assay::Registration registration{{
    .name = "memory/constant/latency",
    .question = "How many cycles does a dependent load from a constant bank take, and how much do "
                "its caches hold?",
    .metrics = {{"latency_cycles",
                 "Cycles of a dependent load over the footprint; the figure is the least of them."},
                {"constant_l1_latency_cycles", "Latency of the first level of constant cache."},
                {"constant_l1_capacity_bytes",
                 "Largest footprint that the first level of constant cache still serves."},
                {"constant_l15_latency_cycles",
                 "Latency of the second level of constant cache, called L1.5."},
                {"constant_l15_capacity_bytes",
                 "Largest footprint that the second level of constant cache still serves."}},
    .cases = {{.suite = assay::Suite::full}},
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{{.kernel = "chase_constant",
                                                .sass = {{"LDC", kSteps, kSteps}},
                                                .role = assay::Role::latency}};
        },
    .run = run,
}};

}  // namespace
