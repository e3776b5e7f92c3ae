// SPDX-License-Identifier: Apache-2.0
// What other calls cost that small kernels are surrounded with: events, synchronization, small
// copies and memsets, a function of the CPU in a stream, allocation from a pool. `flag` is the
// quickest way to learn that a kernel has come to its end: it writes a word of the CPU's memory,
// which the CPU watches.
//
// The gap between two kernels with the call between them compares with that of launch/empty/stream,
// which has none. A gap can be longer than the latency: on an idle GPU nobody waits for anybody.
// Between kernels, a copy that is a copy engine's (memcpy_d2h; memcpy_h2d but for a few bytes)
// waits for the one, and the other for it, across two of the GPU's queues; memset and memcpy_d2d
// stay in one. A function of the CPU waits for a thread of the driver that sleeps meanwhile. Copies
// from pageable memory go through the driver's own buffer, so that few of them fit behind a busy
// GPU.
//
// malloc_free is of the device's default pool, which gives free memory back to the system at each
// synchronization (cudaMemPoolAttrReleaseThreshold is 0), so that its latency holds the mapping of
// memory; malloc_free_kept of a pool that keeps it.
#include <fmt/format.h>

#include <atomic>

#include "harness/callable.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/call.hpp"
#include "probes/launch/chain.hpp"
#include "probes/launch/clock.hpp"

namespace {

using assay::Better;
using assay::check;

constexpr int kCalls = 100;

// Microseconds a call in work(), which makes kCalls: the median of a few times, since now and then
// one is interrupted.
double median_us(const assay::Callable<void()>& work) {
  std::vector<double> us;
  for (int i = 0; i < 5; ++i) {
    const double begin = assay::host_us();
    work();
    us.push_back((assay::host_us() - begin) / kCalls);
  }
  return assay::median(us);
}

// How many calls, of kChainKernels, return before one waits for a GPU that is busy for long.
int pending_calls(assay::Call& call, cudaStream_t stream) {
  constexpr double kBusyUs = 3000, kWaitedUs = 500;
  assay::delay(static_cast<std::uint64_t>(1e3 * kBusyUs), stream);
  for (int i = 0; i < assay::kChainKernels; ++i) {
    const double begin = assay::host_us();
    call(i);
    if (assay::host_us() - begin > kWaitedUs) return i;
  }
  return assay::kChainKernels;
}

void run_enqueued(assay::State& s, assay::Call& call) {
  const cudaStream_t stream = s.stream();
  const auto finish = [&] {
    check(cudaStreamSynchronize(call.stream_of(1)));
    check(cudaStreamSynchronize(stream));
  };
  s.sample({}, [&] {
    return 1e3 * median_us([&] {
             for (int i = 0; i < kCalls; ++i) call(i);
             finish();
           });
  });
  const int pending = pending_calls(call, stream);
  finish();
  std::vector<double> cpu, latency;
  for (int i = 0; i < assay::kChainRuns; ++i) {
    assay::delay(1'000'000, stream);
    double begin = assay::host_us();
    for (int k = 0; k < pending; ++k) call(k);
    if (pending > 0) cpu.push_back((assay::host_us() - begin) / pending);
    finish();
    begin = assay::host_us();
    for (int k = 0; k < 20; ++k) {
      call(k);
      finish();
    }
    latency.push_back((assay::host_us() - begin) / 20);
  }
  assay::Chain chain(s, assay::kChainKernels, assay::kChainWorkNs, {});
  std::vector<double> gap;
  for (int i = 0; i <= assay::kChainRuns; ++i) {
    const assay::ChainRun run = chain.run(
        [&] {
          for (int k = 0; k < chain.count(); ++k) {
            if (k > 0) call(k);
            chain.launch(k, call.stream_of(k));
          }
        },
        stream, call.stream_of(chain.count() - 1));
    if (i > 0) gap.push_back(run.gap_us);
  }
  s.require(call.right(), "the calls did not have their effect");
  if (pending > 0) s.add_metric("cpu_us", "us", Better::lower, cpu);
  s.add_metric("gpu_gap_us", "us", Better::lower, gap);
  s.add_metric("latency_us", "us", Better::lower, latency);
  if (pending < assay::kChainKernels) s.add_exact("pending_calls", "", Better::higher, pending);
}

// A kernel writes a word of the CPU's memory, and the CPU looks until it is there.
void run_flag(assay::State& s) {
  const assay::PinnedBytes memory = assay::pinned(sizeof(std::uint32_t));
  auto* flag = reinterpret_cast<std::uint32_t*>(memory.get());
  *flag = 0;
  std::uint32_t value = 0;
  void* arguments[] = {&flag, &value};
  std::atomic_ref<std::uint32_t> seen(*flag);
  s.sample({}, [&] {
    return 1e3 * median_us([&] {
             for (int i = 0; i < kCalls; ++i) {
               ++value;
               assay::launch(assay::flag_kernel(), {}, arguments, s.stream());
               for (const double begin = assay::host_us();
                    seen.load(std::memory_order_acquire) != value;)
                 s.require(assay::host_us() - begin < 1e6, "the flag was not raised in a second");
             }
           });
  });
  check(cudaStreamSynchronize(s.stream()));
  s.require(*flag == value, "the flag changed once more than kernels were launched");
}

// `wait` returns when the stream is empty: behind a kernel, and when it has been empty already.
void run_waiting(assay::State& s, const assay::Callable<void()>& wait) {
  const cudaStream_t stream = s.stream();
  const void* kernel = assay::empty_kernel(false);
  s.sample({}, [&] {
    const double us = median_us([&] {
      for (int i = 0; i < kCalls; ++i) {
        assay::launch(kernel, {}, nullptr, stream);
        wait();
      }
    });
    s.require(cudaStreamQuery(stream) == cudaSuccess, "the stream has work left after the wait");
    return 1e3 * us;
  });
  std::vector<double> idle;
  for (int i = 0; i < assay::kChainRuns; ++i) {
    const double begin = assay::host_us();
    for (int k = 0; k < kCalls; ++k) wait();
    idle.push_back((assay::host_us() - begin) / kCalls);
  }
  s.add_metric("cpu_us", "us", Better::lower, idle);
}

void run(assay::State& s) {
  const std::string& call = s.text("call");
  const cudaStream_t stream = s.stream();
  if (const auto made = assay::enqueued_call(s)) return run_enqueued(s, *made);
  if (call == "flag") return run_flag(s);
  if (call == "stream_sync") return run_waiting(s, [&] { check(cudaStreamSynchronize(stream)); });
  if (call == "device_sync") return run_waiting(s, [] { check(cudaDeviceSynchronize()); });
  const bool blocking = call == "event_sync_blocking";
  const assay::FlaggedEvent event(cudaEventDisableTiming | (blocking ? cudaEventBlockingSync : 0u));
  if (call == "event_query")
    return run_waiting(s, [&] {
      check(cudaEventRecord(event, stream));
      while (cudaEventQuery(event) == cudaErrorNotReady) {
      }
    });
  run_waiting(s, [&] {
    check(cudaEventRecord(event, stream));
    check(cudaEventSynchronize(event));
  });
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  const auto add = [&](const char* call, std::int64_t bytes = 0) {
    all.push_back({.name = bytes ? fmt::format("{}/{}", call, bytes) : call,
                   .params = {{"call", call}, {"bytes", bytes}},
                   .suite = assay::Suite::full});
  };
  for (const char* call : {"event_record", "event_record_timed", "event_wait", "event_sync",
                           "event_sync_blocking", "event_query", "stream_sync", "device_sync",
                           "flag", "host_function", "malloc_free", "malloc_free_kept"})
    add(call);
  for (const char* call :
       {"memset", "memcpy_h2d", "memcpy_pageable_h2d", "memcpy_d2h", "memcpy_d2d"})
    for (const std::int64_t bytes : {4, 4096, 65536}) add(call, bytes);
  return all;
}

const assay::Registration registration{{
    .name = "launch/call",
    .question = "What do events, synchronization and small copies cost the CPU, and the GPU "
                "between two kernels?",
    .metrics =
        {{"time_us",
          "Time of one such call in a row of them; of a call that waits, from an empty kernel's "
          "launch to its return."},
         {"cpu_us",
          "CPU time of the call alone, while the GPU is busy, or idle for a call that waits."},
         {"gpu_gap_us",
          "Time from the end of one kernel's work to where the next may begin, with the call "
          "between them."},
         {"latency_us",
          "Time from the call until the synchronization behind it returns, on an idle GPU."},
         {"pending_calls",
          "Calls that fit behind a busy GPU before the next one waits for it; there where they are "
          "few."}},
    .cases = cases(),
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case& c, assay::Target) {
          if (c.name == "flag")
            return std::vector<assay::KernelUse>{
                {.kernel = "raise_flag",
                 .sass = {{"STG.E.STRONG.SYS", 1, 1, assay::SassWhere::kernel}}}};
          return std::vector<assay::KernelUse>{
              {.kernel = "stamped", .sass = {{"STG", 1, 4, assay::SassWhere::kernel}}},
              {.kernel = "empty", .sass = {{"EXIT", 1, 1, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
