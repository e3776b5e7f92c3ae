// SPDX-License-Identifier: Apache-2.0
// What an mbarrier costs piece by piece, and the forms in which groups of warps use it:
//   arrive            one thread's arrivals, one after another, each of which ends a phase
//   test_wait,        asking about a phase that has ended, where the question waits for the answer
//     try_wait        to the one before
//   expect_tx         arrive.expect_tx, the bytes, and the wait for the phase, by one thread
//   warp_arrive_wait  all threads wait, but only one of each warp arrives
//   arrive_spin       all arrive and ask with test_wait, which never suspends, until it is so
//   hand_over         two groups take turns, the full and empty barriers of a producer and a
//                     consumer: one lane of each warp arrives for the other group, whose threads
//                     all wait. Were it one lane of the group, its other warps could fall two
//                     phases behind, take the old parity for the new one, and wait forever
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/mbarrier.cuh"
#include "harness/state.hpp"
#include "probes/sync/passage.cuh"

namespace {

constexpr int kRounds = 16;  // in one iteration; even, so that each starts at parity 0
[[maybe_unused]] constexpr int kWord = 16;  // bytes announced and counted
enum Form : int {
  kArrive,
  kTestWait,
  kTryWait,
  kExpectTx,
  kWarpArriveWait,
  kArriveSpin,
  kHandOver
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ bool try_wait(assay::ptx::Mbarrier* barrier, std::uint32_t parity) {
  return assay::ptx::mbarrier_try_wait_parity(barrier, parity);
}
#else
__device__ bool try_wait(assay::ptx::Mbarrier* barrier, std::uint32_t parity) {
  return assay::ptx::mbarrier_test_wait_parity(barrier, parity);
}
#endif
__device__ void wait(assay::ptx::Mbarrier* barrier, std::uint32_t parity) {
  while (!try_wait(barrier, parity)) {
  }
}

// By one thread alone.
template <int kForm>
__global__ void __launch_bounds__(32)
    alone(std::int64_t iterations, std::uint32_t* wrong, assay::StopwatchRecord* records) {
  __shared__ assay::ptx::Mbarrier barrier;
  if (threadIdx.x == 0) assay::ptx::mbarrier_init(&barrier, 1);
  std::uint32_t ended = 1;  // the parity of the phase before the first, and the answer about it
  const assay::Stopwatch stopwatch;
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        if constexpr (kForm == kArrive) assay::ptx::mbarrier_arrive(&barrier);
        if constexpr (kForm == kTestWait)
          ended = assay::ptx::mbarrier_test_wait_parity(&barrier, ended);
        if constexpr (kForm == kTryWait) ended = try_wait(&barrier, ended);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
        if constexpr (kForm == kExpectTx) {
          assay::ptx::mbarrier_arrive_expect_tx(&barrier, kWord);
          assay::ptx::mbarrier_complete_tx(&barrier, kWord);
          wait(&barrier, round % 2);
        }
#endif
      }
    }
  }
  stopwatch.stop(records);
  // An even number of phases has ended, or none, and the next one has not.
  if (threadIdx.x == 0 && (ended != 1 || !assay::ptx::mbarrier_test_wait_parity(&barrier, 1) ||
                           assay::ptx::mbarrier_test_wait_parity(&barrier, 0)))
    atomicAdd(wrong, 1);
}

// One lane arrives when its whole warp has come.
__device__ void arrive_warp(assay::ptx::Mbarrier* barrier) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) assay::ptx::mbarrier_arrive(barrier);
}

template <int kForm>
__device__ void pass(assay::ptx::Mbarrier* barrier, std::uint32_t parity) {
  if constexpr (kForm == kWarpArriveWait) {
    arrive_warp(barrier);
    wait(barrier, parity);
  } else {
    assay::ptx::mbarrier_arrive(barrier);
    while (!assay::ptx::mbarrier_test_wait_parity(barrier, parity)) {
    }
  }
}

template <int kForm>
__global__ void __launch_bounds__(1024)
    meet(std::int64_t iterations, std::uint32_t* early, assay::StopwatchRecord* records) {
  __shared__ assay::ptx::Mbarrier barrier;
  if (threadIdx.x == 0)
    assay::ptx::mbarrier_init(&barrier, kForm == kWarpArriveWait ? blockDim.x / 32 : blockDim.x);
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) pass<kForm>(&barrier, round % 2);
  }
  stopwatch.stop(records);
  assay::prove_barrier(early, [&](int round) { pass<kForm>(&barrier, round % 2); });
}

// Half of the threads wait for barrier 0 and the others for barrier 1.
__global__ void __launch_bounds__(1024)
    hand_over(std::int64_t iterations, std::uint32_t* wrong, assay::StopwatchRecord* records) {
  __shared__ assay::ptx::Mbarrier barriers[2];
  __shared__ volatile std::uint32_t baton;
  const unsigned group = blockDim.x / 2;
  if (threadIdx.x < 2) assay::ptx::mbarrier_init(&barriers[threadIdx.x], group / 32);
  if (threadIdx.x == 0) baton = 0;
  const bool second = threadIdx.x >= group, lead = threadIdx.x % group == 0;
  const assay::Stopwatch stopwatch;
  if (second) {
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        wait(&barriers[0], round % 2);
        arrive_warp(&barriers[1]);
      }
    }
  } else {
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        arrive_warp(&barriers[0]);
        wait(&barriers[1], round % 2);
      }
    }
  }
  stopwatch.stop(records);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    if (second) {
      wait(&barriers[0], round % 2);
      if (lead) {
        if (baton != 2 * round + 1) atomicAdd(wrong, 1);
        baton = 2 * round + 2;
      }
      arrive_warp(&barriers[1]);
    } else {
      if (lead) baton = 2 * round + 1;
      arrive_warp(&barriers[0]);
      wait(&barriers[1], round % 2);
      if (baton != 2 * round + 2) atomicAdd(wrong, 1);
    }
    __syncthreads();
  }
}

using Kernel = void (*)(std::int64_t, std::uint32_t*, assay::StopwatchRecord*);
struct Variant {
  const char *form, *name;
  Kernel kernel;
  const char *arrive, *wait;  // opcodes; null: none
  int hand_overs = 1;         // in one round
  bool many = true;           // threads
  bool needs_unit = false;
};
constexpr Variant kVariants[] = {
    {"arrive", "alone<0>", alone<kArrive>, "SYNCS.ARRIVE", nullptr, 1, false},
    {"test_wait", "alone<1>", alone<kTestWait>, nullptr, "SYNCS.PHASECHK", 1, false},
    {"try_wait", "alone<2>", alone<kTryWait>, nullptr, "SYNCS.PHASECHK", 1, false, true},
    {"expect_tx", "alone<3>", alone<kExpectTx>, "SYNCS.ARRIVE", "SYNCS.PHASECHK", 1, false, true},
    {"warp_arrive_wait", "meet<4>", meet<kWarpArriveWait>, "SYNCS.ARRIVE", "SYNCS.PHASECHK"},
    {"arrive_spin", "meet<5>", meet<kArriveSpin>, "SYNCS.ARRIVE", "SYNCS.PHASECHK"},
    {"hand_over", "hand_over", hand_over, "SYNCS.ARRIVE", "SYNCS.PHASECHK", 2}};

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find(kVariants, c.text("form"), [](const Variant& v) { return v.form; });
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const Variant& v : kVariants)
    for (const int threads : {32, 64, 128, 256, 512, 1024}) {
      if (!v.many && threads > 32) continue;
      if (v.hand_overs > 1 && threads < 64) continue;
      assay::Case c{.name = v.form,
                    .params = {{"form", v.form}, {"threads", v.many ? threads : 1}},
                    .suite = assay::Suite::full};
      if (v.many) c.name += "/" + std::to_string(threads);
      if (v.needs_unit) c.targets = assay::targets_with(assay::Feature::mbarrier_unit);
      all.push_back(std::move(c));
    }
  return all;
}

std::vector<assay::KernelUse> kernels(const assay::Case& c, assay::Target target) {
  const Variant& v = variant_of(c);
  assay::KernelUse use{.kernel = v.name};
  // Without the unit an arrival is an atomic operation, and a wait a load and a comparison.
  const bool old = !assay::has(target, assay::Feature::mbarrier_unit);
  if (v.arrive) use.sass.push_back({old ? "ATOMS.ARRIVE" : v.arrive, kRounds});
  if (v.wait && !old) use.sass.push_back({v.wait, kRounds});
  if (v.wait && !v.arrive && old) use.sass.push_back({"LDS", kRounds});
  // __syncwarp() behind a branch calls one.
  use.emulated = v.hand_overs > 1 && assay::has(target, assay::Feature::divergence_routines);
  return {use};
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  const int threads = v.many ? static_cast<int>(s.i64("threads")) : 32;
  const int ctas = s.device().sm_count;
  auto* wrong = assay::early_counter(s);
  s.cycles({.steps = 1.0 * kRounds * v.hand_overs}, [&](const assay::Launch& l) {
    v.kernel<<<ctas, threads, 0, l.stream>>>(l.iterations, wrong, l.records);
  });
  s.require(assay::download(wrong, 1, s.stream()).front() == 0,
            "the barrier let threads through that should have waited");
}

const assay::Registration registration{{
    .name = "sync/mbarrier",
    .question = "How many cycles do the pieces of an mbarrier cost, and handing over work with "
                "one?",
    .metrics = {{"latency_cycles",
                 "Cycles of one use of this form; of hand_over, until the other group goes on."}},
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
