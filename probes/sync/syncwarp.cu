// SPDX-License-Identifier: Apache-2.0
// __syncwarp(). Where the compiler sees that the warp has not diverged, nothing of it is left but a
// NOP: `whole`. The other cases have the lanes of a mask known at run time only step aside from the
// others, meet, and go on with them: WARPSYNC between BSSY and BSYNC.
#include <string>

#include "harness/device.hpp"
#include "harness/state.hpp"

namespace {

constexpr int kRounds = 8;  // in one iteration

template <bool kWhole>
__device__ void meet([[maybe_unused]] unsigned mask, [[maybe_unused]] unsigned lane) {
  if constexpr (kWhole)
    __syncwarp();
  else if (mask >> lane & 1)
    __syncwarp(mask);
}

template <bool kWhole>
__global__ void __launch_bounds__(1024)
    sync_warp(std::int64_t iterations, unsigned mask, std::uint32_t* wrong,
              assay::StopwatchRecord* records) {
  __shared__ volatile std::uint32_t words[1024];
  const unsigned lane = threadIdx.x % 32;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) meet<kWhole>(mask, lane);
  }
  stopwatch.stop(records);
  // What a lane wrote before, the next one of the mask's (its first `lanes`) sees behind it.
  const unsigned lanes = __popc(mask);
  const unsigned next = threadIdx.x - lane + (lane + 1) % lanes;
  for (std::uint32_t round = 1; round <= 16; ++round) {
    words[threadIdx.x] = round * 64 + lane;
    meet<kWhole>(mask, lane);
    if (lane < lanes && words[next] != round * 64 + next % 32) atomicAdd(wrong, 1);
    meet<kWhole>(mask, lane);
  }
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all{
      {.name = "whole", .params = {{"lanes", 32}}, .suite = assay::Suite::full}};
  for (const int lanes : {1, 2, 8, 16, 31, 32})
    all.push_back({.name = "masked/" + std::to_string(lanes),
                   .params = {{"lanes", lanes}},
                   .suite = assay::Suite::full});
  return all;
}

bool whole(const assay::Case& c) { return c.name == "whole"; }

void run(assay::State& s) {
  const int ctas = s.device().sm_count;
  const auto mask = static_cast<unsigned>((std::int64_t{1} << s.i64("lanes")) - 1);
  auto* wrong = s.allocate<std::uint32_t>(1);
  assay::check(cudaMemsetAsync(wrong, 0, sizeof *wrong, s.stream()));
  const auto kernel = whole(s.which()) ? sync_warp<true> : sync_warp<false>;
  const auto with = [&](int threads) {
    return [=](const assay::Launch& l) {
      kernel<<<ctas, threads, 0, l.stream>>>(l.iterations, mask, wrong, l.records);
    };
  };
  s.cycles({.steps = kRounds}, with(32));
  assay::Series by_warps{"latency_cycles_by_warps", "cycle", {{"warps", {}}}, {}};
  for (const int warps : {1, 4, 8, 16, 32}) {
    by_warps.axes[0].points.emplace_back(std::int64_t{warps});
    by_warps.add(s.cycles_once(with(warps * 32)) / kRounds);
  }
  s.add_series(std::move(by_warps));
  s.require(assay::download(wrong, 1, s.stream()).front() == 0,
            "a lane did not see what another had written before __syncwarp()");
}

const assay::Registration registration{{
    .name = "sync/syncwarp",
    .question = "How many cycles does __syncwarp() cost, by the lanes that meet?",
    .metrics =
        {{"latency_cycles",
          "Cycles of one __syncwarp(); with a mask, of lanes that step aside, meet and go on."},
         {"latency_cycles_by_warps",
          "Cycles of one __syncwarp(), by the warps of an SM that meet at once."}},
    .cases = cases(),
    .kernels =
        [](const assay::Case& c, assay::Target target) {
          // There, a branch to a routine unless the lanes of the mask are together.
          const bool old = assay::has(target, assay::Feature::divergence_routines);
          const int rounds = whole(c) ? 0 : kRounds;
          return std::vector<assay::KernelUse>{
              {.kernel = whole(c) ? "sync_warp<true>" : "sync_warp<false>",
               .sass = {{old ? "BRA.CONV" : "WARPSYNC", rounds, rounds}},
               .emulated = old && !whole(c)}};
        },
    .run = run,
}};

}  // namespace
