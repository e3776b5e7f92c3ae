// SPDX-License-Identifier: Apache-2.0
// setmaxnreg: what it costs a warpgroup to give registers back and take them again, by the number
// of warpgroups that do so at once: all find enough free, since each takes back what it gave. And
// `wait`: a warpgroup asks for registers before another has given them back, as consumers do of
// kernels whose producers need few. It asks again and again (USETMAXREG.TRY_ALLOC and a branch);
// the figure is from where the last warp gives to where the last warp has what it asked for.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/state.hpp"
#include "harness/statistics.hpp"

// Own PTX: nvcc takes setmaxnreg for one architecture or family alone.

namespace {

constexpr int kPairs = 8;                                // in one iteration
[[maybe_unused]] constexpr int kFew = 40, kMany = 120;   // registers of a thread
constexpr int kWarpgroup = 128, kMost = 4 * kWarpgroup;  // 65536 registers: 128 for each of kMost
// What one of two warpgroups gives is exactly what the other wants beside what it begins with.
[[maybe_unused]] constexpr int kAfterGiving = 96, kAtFirst = 128, kAfterTaking = 160;
[[maybe_unused]] constexpr int kGivesAfterCycles = 3000;
constexpr int kRuns = 9, kWarps = 2 * kWarpgroup / 32;

// With launch bounds of one CTA, ptxas gives each thread of this kernel kMany registers at first.
__global__ void __launch_bounds__(kMost, 1)
    give_and_take(std::int64_t iterations, std::uint32_t* passes, assay::StopwatchRecord* records) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t kept = 0;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      assay::ptx::setmaxnreg_decrease<kFew>();
      assay::ptx::setmaxnreg_increase<kMany>();
    }
    kept += 3;
  }
  stopwatch.stop(records);
  passes[blockIdx.x * kMost + threadIdx.x] = kept;
#endif
}

struct Clocks {
  long long before, after;  // setmaxnreg, in one warp
};

// Of two warpgroups the first gives, the second takes. Launch bounds as above.
__global__ void __launch_bounds__(kMost, 1) wait_for_registers(Clocks* clocks) {
#if __CUDA_ARCH__ >= 900
  long long before, after;
  __syncthreads();
  if (threadIdx.x < kWarpgroup) {
    const long long begin = assay::ptx::clock64();
    do before = assay::ptx::clock64();
    while (before - begin < kGivesAfterCycles);
    assay::ptx::setmaxnreg_decrease<kAfterGiving>();
    after = assay::ptx::clock64();
  } else {
    before = assay::ptx::clock64();
    assay::ptx::setmaxnreg_increase<kAfterTaking>();
    after = assay::ptx::clock64();
  }
  if (threadIdx.x % 32 == 0) clocks[blockIdx.x * kWarps + threadIdx.x / 32] = {before, after};
#endif
}

void run_wait(assay::State& s) {
  const int ctas = s.device().sm_count;
  const auto warps = static_cast<std::size_t>(ctas) * kWarps;
  auto* clocks = s.allocate<Clocks>(warps);
  cudaFuncAttributes attributes;
  assay::check(cudaFuncGetAttributes(&attributes, wait_for_registers));
  s.require(attributes.numRegs == kAtFirst,  // else it may wait forever
            "the kernel begins with " + std::to_string(attributes.numRegs) +
                " registers for each thread, not " + std::to_string(kAtFirst));
  std::vector<double> cycles;
  for (int i = 0; i <= kRuns; ++i) {
    wait_for_registers<<<ctas, kWarps * 32, 0, s.stream()>>>(clocks);
    assay::check(cudaGetLastError());
    std::vector<double> of_sm;
    const auto found = assay::download(clocks, warps, s.stream());
    for (auto cta = found.begin(); cta != found.end(); cta += kWarps) {
      const auto takers = cta + kWarps / 2;
      const long long given = std::ranges::max(std::span(cta, takers), {}, &Clocks::before).before;
      const auto asked = std::span(takers, takers + kWarps / 2);
      const long long last_asked = std::ranges::max(asked, {}, &Clocks::before).before;
      const long long taken = std::ranges::max(asked, {}, &Clocks::after).after;
      s.require(last_asked < given, "registers were given before they were asked for");
      s.require(given < taken, "registers were taken before they had been given");
      of_sm.push_back(static_cast<double>(taken - given));
    }
    if (i > 0) cycles.push_back(assay::median(of_sm));  // the first run fetches the code
  }
  s.add_metric("latency_cycles", "cycle", assay::Better::lower, cycles);
}

void run(assay::State& s) {
  if (s.which().name == "wait") return run_wait(s);
  const int ctas = s.device().sm_count;
  const int threads = static_cast<int>(s.i64("threads"));
  auto* passes = s.allocate<std::uint32_t>(static_cast<std::size_t>(ctas) * kMost);
  std::int64_t last = 0;
  s.cycles({.steps = kPairs}, [&](const assay::Launch& l) {
    last = l.iterations;
    give_and_take<<<ctas, threads, 0, l.stream>>>(l.iterations, passes, l.records);
  });
  const auto kept = assay::download(passes, static_cast<std::size_t>(threads), s.stream());
  for (const std::uint32_t value : kept)
    s.require(value == 3 * static_cast<std::uint32_t>(last),
              "a register that every warp keeps has lost its value");
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const int groups : {1, 2, 3, 4})
    all.push_back({.name = std::to_string(groups),
                   .params = {{"warpgroups", groups}, {"threads", groups * kWarpgroup}},
                   .suite = groups == 1 ? assay::Suite::quick : assay::Suite::full});
  all.push_back({.name = "wait",
                 .params = {{"warpgroups", 2}, {"threads", 2 * kWarpgroup}},
                 .suite = assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "sync/setmaxnreg",
    .question = "How many cycles does it cost to give registers back and take them again, by the "
                "warpgroups that do so, and to wait for another's?",
    .metrics = {{"latency_cycles",
                 "Cycles to give registers back and take them again; of wait, from giving until "
                 "the other group has them."}},
    .cases = cases(),
    .targets = assay::targets_with(assay::Feature::setmaxnreg),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          if (c.name == "wait")
            return std::vector<assay::KernelUse>{
                {.kernel = "wait_for_registers",
                 .sass = {{"USETMAXREG", 2, 2, assay::SassWhere::kernel}}}};
          return std::vector<assay::KernelUse>{
              {.kernel = "give_and_take", .sass = {{"USETMAXREG", 2 * kPairs, 2 * kPairs}}}};
        },
    .run = run,
}};

}  // namespace
