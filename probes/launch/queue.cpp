// SPDX-License-Identifier: Apache-2.0
// How far the CPU may be ahead of the GPU, and whether it helps: kernels that do nothing are
// enqueued on a stream behind one that lasts. Streams are not all alike: the same is measured on
// streams made one after another, all of them twice, with the gaps of a chain on each, as in
// launch/empty, and the SM that its kernels of one CTA ran on.
#include <algorithm>
#include <array>
#include <vector>

#include "harness/measure/device_kernels.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/chain.hpp"
#include "probes/launch/clock.hpp"

namespace {

using assay::Better;
using assay::check;

// Calls before the first that waits: one takes some microseconds, and the delay is far longer than
// all of them.
int pending_launches(cudaStream_t stream) {
  constexpr int kMost = 4000;
  constexpr double kWaitedUs = 1000;
  check(cudaStreamSynchronize(stream));
  assay::delay(20'000'000, stream);
  int pending = 0;
  for (double waited = 0; pending < kMost && waited < kWaitedUs; ++pending) {
    const double before = assay::host_us();
    assay::launch(assay::empty_kernel(false), {}, nullptr, stream);
    waited = assay::host_us() - before;
  }
  check(cudaStreamSynchronize(stream));
  return pending < kMost ? pending - 1 : pending;  // without the one that waited
}

// Microseconds from one kernel to the next of so many, a few times.
std::vector<double> intervals(int kernels, cudaStream_t stream) {
  assay::Event begin, end;
  std::vector<double> us;
  for (int i = 0; i < assay::kChainRuns; ++i) {
    assay::delay(200'000 + static_cast<std::uint64_t>(kernels) * 6'000, stream);
    begin.record(stream);
    for (int k = 0; k < kernels; ++k)
      assay::launch(assay::empty_kernel(false), {}, nullptr, stream);
    end.record(stream);
    us.push_back(1e-3 * assay::elapsed_ns(begin, end) / kernels);
  }
  return us;
}

void compare_streams(assay::State& s) {
  constexpr int kStreams = 32, kPasses = 2;
  const std::array<assay::Stream, kStreams> streams;
  assay::Chain chain(s, assay::kChainKernels, assay::kChainWorkNs, {});
  chain.run_in_stream(streams[0]);  // loads the kernel
  std::vector<assay::Axis> axes = {{"pass", {}}, {"stream", {}}};
  for (int i = 0; i < kPasses; ++i) axes[0].points.emplace_back(std::int64_t{i});
  for (int i = 0; i < kStreams; ++i) axes[1].points.emplace_back(std::int64_t{i});
  assay::Series interval{"interval_us_of_stream", "us", axes, {}},
      gap{"gpu_gap_us_of_stream", "us", axes, {}}, sm{"sm_of_stream", "", axes, {}};
  std::vector<std::vector<double>> all;
  for (int pass = 0; pass < kPasses; ++pass)
    for (const assay::Stream& stream : streams) {
      all.push_back(intervals(64, stream));
      interval.add(assay::estimate(all.back()));
      const assay::ChainRun run = chain.run_in_stream(stream);
      gap.values.push_back(run.gap_us);
      sm.values.push_back(run.sm);
    }
  const auto [fastest, slowest] = std::ranges::minmax_element(interval.values);
  const auto of = [&](auto which) {
    return all[static_cast<std::size_t>(which - interval.values.begin())];
  };
  s.add_metric("interval_us_fastest_stream", "us", Better::lower, of(fastest));
  s.add_metric("interval_us_slowest_stream", "us", Better::lower, of(slowest));
  for (assay::Series* series : {&interval, &gap, &sm}) s.add_series(std::move(*series));
}

void run(assay::State& s) {
  const cudaStream_t stream = s.stream();
  assay::launch(assay::empty_kernel(false), {}, nullptr, stream);  // loads it
  std::vector<double> pending;
  for (int i = 0; i < 7; ++i) pending.push_back(pending_launches(stream));

  assay::Series series{"interval_us", "us", {{"kernels", {}}}, {}};
  for (const int kernels : {2, 4, 8, 16, 32, 64, 128, 256, 512, 900}) {
    const std::vector<double> us = intervals(kernels, stream);
    series.axes[0].points.emplace_back(std::int64_t{kernels});
    series.add(assay::estimate(us));
    if (kernels == 64) s.add_metric("interval_us_64", "us", Better::lower, us);
    if (kernels == 900) s.add_metric("interval_us_900", "us", Better::lower, us);
  }
  s.add_exact("pending_launches", "", Better::higher, assay::median(pending));
  s.add_series(std::move(series));
  compare_streams(s);
}

const assay::Registration registration{{
    .name = "launch/queue",
    .question = "How many launches may wait on a stream before the next call blocks, and how fast "
                "do they then run?",
    .metrics =
        {{"pending_launches",
          "Launches that return at once behind a busy stream before one waits for the GPU."},
         {"interval_us",
          "Time from one empty kernel to the next, by how many were queued behind a busy stream."},
         {"interval_us_fastest_stream",
          "Time from one of 64 empty kernels to the next, on the stream where it is shortest."},
         {"interval_us_slowest_stream",
          "Time from one of 64 empty kernels to the next, on the stream where it is longest."},
         {"interval_us_of_stream",
          "Time from one of 64 empty kernels to the next, on each stream in the order they were "
          "made."},
         {"gpu_gap_us_of_stream",
          "Time from the end of one kernel's work to where the next may begin its own, on each "
          "stream."},
         {"sm_of_stream", "SM on which the kernels of one CTA ran, on each stream."},
         {"interval_us_*", "Time from one of * empty kernels to the next."}},
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "empty", .sass = {{"EXIT", 1, 1, assay::SassWhere::kernel}}},
              {.kernel = "stamped", .sass = {{"STG", 1, 4, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
