// SPDX-License-Identifier: Apache-2.0
// Named barriers: one of a whole CTA, several groups of warps at once on barriers of their own
// whose number is in a register (a constant one, as __syncthreads() has, is cheaper: both are
// shown), and two groups that hand a turn to one another, where one side arrives and goes on
// (bar.arrive) and the other waits (bar.sync).
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/named_barrier.cuh"
#include "harness/state.hpp"
#include "probes/sync/passage.cuh"

namespace {

constexpr int kBarriers = 64, kRounds = 16;  // in one iteration
constexpr int kThreads = 1024;               // of a CTA, at most
constexpr int kHandOverGroups = 2;

// With a constant the barrier's number is part of the instruction, else it comes from a register.
template <int kGroup, bool kConstant>
__global__ void __launch_bounds__(kThreads)
    sync_group(std::int64_t iterations, std::uint32_t* early, assay::StopwatchRecord* records) {
  // 0 is the stopwatch's.
  const int id = kConstant ? 1 : 1 + static_cast<int>(threadIdx.x) / kGroup % 15;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int barrier = 0; barrier < kBarriers; ++barrier)
      assay::ptx::named_barrier_sync(id, kGroup);
  }
  stopwatch.stop(records);
  assay::prove_barrier(
      early, [=](int) { assay::ptx::named_barrier_sync(id, kGroup); }, kGroup);
}

// Turns go from the first group to the second over barrier 1 and back over barrier 2.
template <int kGroup>
__global__ void __launch_bounds__(kHandOverGroups* kGroup)
    hand_over(std::int64_t iterations, std::uint32_t* wrong, assay::StopwatchRecord* records) {
  __shared__ volatile std::uint32_t baton;
  constexpr int kBoth = kHandOverGroups * kGroup;
  const bool second = threadIdx.x >= kGroup;
  if (threadIdx.x == 0) baton = 0;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
    if (second) {
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        assay::ptx::named_barrier_sync(1, kBoth);
        assay::ptx::named_barrier_arrive(2, kBoth);
      }
    } else {
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        assay::ptx::named_barrier_arrive(1, kBoth);
        assay::ptx::named_barrier_sync(2, kBoth);
      }
    }
  }
  stopwatch.stop(records);
  // One thread of the group whose turn it is adds to the baton, whatever the other group reads.
  const bool lead = threadIdx.x % kGroup == 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    if (second) {
      assay::ptx::named_barrier_sync(1, kBoth);
      if (baton != 2 * round + 1) atomicAdd(wrong, 1);
      assay::ptx::named_barrier_sync(3, kGroup);  // all have read
      if (lead) baton = 2 * round + 2;
      assay::ptx::named_barrier_arrive(2, kBoth);
    } else {
      if (lead) baton = 2 * round + 1;
      assay::ptx::named_barrier_arrive(1, kBoth);
      assay::ptx::named_barrier_sync(2, kBoth);
      if (baton != 2 * round + 2) atomicAdd(wrong, 1);
      assay::ptx::named_barrier_sync(4, kGroup);
    }
  }
}

using Kernel = void (*)(std::int64_t, std::uint32_t*, assay::StopwatchRecord*);
struct Width {
  int threads;  // of a group
  Kernel sync, constant, hand_over;
};
template <int kGroup>
constexpr Width width() {
  Width w{kGroup, sync_group<kGroup, false>, sync_group<kGroup, true>, nullptr};
  if constexpr (kHandOverGroups * kGroup <= kThreads) w.hand_over = hand_over<kGroup>;
  return w;
}
constexpr Width kWidths[] = {width<32>(),  width<64>(),  width<128>(),
                             width<256>(), width<512>(), width<1024>()};

const Width& width_of(const assay::Case& c) {
  for (const Width& w : kWidths)
    if (w.threads == c.i64("threads")) return w;
  return kWidths[0];
}

std::vector<assay::Case> cases(bool turns) {
  std::vector<assay::Case> all;
  for (const Width& w : kWidths)
    if (!turns || w.hand_over)
      all.push_back({.name = std::to_string(w.threads),
                     .params = {{"threads", w.threads}},
                     .suite = assay::Suite::full});
  return all;
}

void run_sync(assay::State& s) {
  const Width& w = width_of(s.which());
  const int ctas = s.device().sm_count;
  auto* early = assay::early_counter(s);
  const auto with = [&](Kernel kernel, int groups) {
    return [=, &w](const assay::Launch& l) {
      kernel<<<ctas, groups * w.threads, 0, l.stream>>>(l.iterations, early, l.records);
    };
  };
  s.cycles({.steps = kBarriers}, with(w.sync, 1));
  s.add_exact("latency_cycles_of_constant_barrier", "cycle", assay::Better::lower,
              s.cycles_once(with(w.constant, 1)) / kBarriers);
  assay::Series by_groups{"latency_cycles_by_groups", "cycle", {{"groups", {}}}, {}};
  for (int groups = 1; groups * w.threads <= kThreads && groups < 16; groups *= 2) {
    by_groups.axes[0].points.emplace_back(std::int64_t{groups});
    by_groups.add(s.cycles_once(with(w.sync, groups)) / kBarriers);
  }
  s.add_series(std::move(by_groups));
  assay::require_barrier(s, early);
}

void run_hand_over(assay::State& s) {
  const Width& w = width_of(s.which());
  const int ctas = s.device().sm_count;
  auto* wrong = assay::early_counter(s);
  s.cycles({.steps = 2 * kRounds}, [&](const assay::Launch& l) {
    w.hand_over<<<ctas, kHandOverGroups * w.threads, 0, l.stream>>>(l.iterations, wrong, l.records);
  });
  s.require(assay::download(wrong, 1, s.stream()).front() == 0,
            "a group went on before the other had handed it the turn");
}

const assay::Registration sync{{
    .name = "sync/named_barrier/sync",
    .question = "How many cycles does bar.sync cost on a barrier of its own, by the threads that "
                "meet and by the groups that do so at once?",
    .metrics =
        {{"latency_cycles", "Cycles of one barrier of one group, whose number is in a register."},
         {"latency_cycles_of_constant_barrier",
          "Cycles of one barrier of one group, whose number is a constant."},
         {"latency_cycles_by_groups",
          "Cycles of one barrier, by the groups that meet at once, each on a barrier of its own."}},
    .cases = cases(false),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          std::vector<assay::KernelUse> uses;
          for (const char* constant : {"false", "true"})
            uses.push_back(
                {.kernel = "sync_group<" + std::to_string(c.i64("threads")) + ", " + constant + ">",
                 .sass = {{"BAR.SYNC", kBarriers, kBarriers}},
                 .role = assay::Role::latency});
          return uses;
        },
    .run = run_sync,
}};
const assay::Registration turns{{
    .name = "sync/named_barrier/hand_over",
    .question = "How many cycles after another group's bar.arrive does a group of warps run that "
                "waits for it, by the threads of each?",
    .metrics = {{"latency_cycles",
                 "Cycles from one group's arrival until the other, which waited for it, goes on."}},
    .cases = cases(true),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "hand_over<" + std::to_string(c.i64("threads")) + ">",
               .sass = {{"BAR.SYNC", 2 * kRounds, 2 * kRounds},
                        {"BAR.ARV", 2 * kRounds, 2 * kRounds}}}};
        },
    .run = run_hand_over,
}};

}  // namespace
