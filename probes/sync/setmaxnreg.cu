// SPDX-License-Identifier: Apache-2.0
// setmaxnreg: what it costs a warpgroup to give registers back and take them again, by the number
// of warpgroups that do so at once. All find enough free, since each takes back what it gave.
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/state.hpp"

namespace {

constexpr int kPairs = 8;                                // in one iteration
[[maybe_unused]] constexpr int kFew = 40, kMany = 120;   // registers of a thread
constexpr int kWarpgroup = 128, kMost = 4 * kWarpgroup;  // 65536 registers: 128 for each of kMost

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

void run(assay::State& s) {
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
  return all;
}

const assay::Registration registration{{
    .name = "sync/setmaxnreg",
    .question = "How many cycles does it cost to give registers back and take them again, by the "
                "warpgroups that do so?",
    .cases = cases(),
    .targets = assay::targets_from(assay::Target::sm_90a),
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "give_and_take", .sass = {{"USETMAXREG", 2 * kPairs, 2 * kPairs}}}};
        },
    .run = run,
}};

}  // namespace
