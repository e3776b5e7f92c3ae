// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/chain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/callable.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/clock.hpp"
#include "probes/launch/concurrency.hpp"

namespace assay {
namespace {

double micros(std::uint64_t from_ns, std::uint64_t to_ns) {
  return static_cast<double>(static_cast<std::int64_t>(to_ns - from_ns)) * 1e-3;
}

}  // namespace

Chain::Chain(State& s, int count, std::uint32_t work_ns, const LaunchShape& shape,
             int argument_bytes)
    : s_(s),
      count_(count),
      shape_(shape),
      kernel_(argument_bytes ? stamped_kernel_with(argument_bytes)
                             : stamped_kernel(shape.programmatic)),
      stamps_(s.allocate<Stamp>(static_cast<std::size_t>(count))),
      work_ns_(work_ns) {
  check(cudaMemset(stamps_, 0, sizeof(Stamp) * static_cast<std::size_t>(count)));
  check(cudaDeviceSynchronize());  // no stream that it may run on waits for the default one
  if (argument_bytes) {
    further_.assign(static_cast<std::size_t>(argument_bytes - kStampedArgumentBytes) / 4, 0);
    further_.front() = 1;
  }
  arguments_ = {&own_, &predecessor_, &work_ns_, further_.data()};
}

void** Chain::arguments(int i) {
  own_ = stamps_ + i;
  predecessor_ = stamps_ + (i + count_ - 1) % count_;
  return arguments_.data();
}

Graph Chain::graph() {
  Graph graph;
  std::vector<cudaGraphNode_t> before;
  for (int i = 0; i < count_; ++i) before = {graph.add(kernel_, shape_, arguments(i), before)};
  return graph;
}

std::vector<Stamp> Chain::read_stamps() {
  ++runs_;
  std::vector<Stamp> stamps =
      download(stamps_, static_cast<std::size_t>(count_), cudaStream_t{s_.stream()});
  for (int i = 0; i < count_; ++i) {
    const Stamp& own = stamps[static_cast<std::size_t>(i)];
    const std::uint32_t expected =
        (runs_ - 1) * static_cast<std::uint32_t>(count_) + static_cast<std::uint32_t>(i) + 1;
    s_.require(own.serial == expected,
               fmt::format("kernel {} of the chain is number {}, expected {}: it did not run once "
                           "and behind its predecessor",
                           i, own.serial, expected));
    if (i == 0) continue;
    const Stamp& before = stamps[static_cast<std::size_t>(i - 1)];
    s_.require(own.ready_ns + kTimerSlackNs >= before.end_ns,
               fmt::format("kernel {} of the chain was ready {} ns before its predecessor ended", i,
                           before.end_ns - own.ready_ns));
  }
  return stamps;
}

ChainRun Chain::run(const Callable<void()>& enqueue, cudaStream_t first, cudaStream_t last) {
  // Calls that wait for the GPU would be given ever longer: hence the bound.
  const double spin_us = std::min(2 * enqueue_us_ + 100, 3000.0);
  delay(static_cast<std::uint64_t>(1e3 * spin_us), first);
  const double begin = host_us();
  enqueue();
  enqueue_us_ = host_us() - begin;
  check(cudaStreamSynchronize(last));
  const std::vector<Stamp> all = read_stamps();
  ChainRun run{.cpu_us = enqueue_us_ / count_};
  std::vector<TimeSpan> spans;
  for (const Stamp& stamp : all) spans.push_back({stamp.begin_ns, stamp.end_ns});
  run.resident = concurrency(spans).most;
  run.sm = static_cast<int>(all.back().sm);
  for (std::size_t i = 1; i < all.size(); ++i)
    run.gap_us += micros(all[i - 1].end_ns, all[i].ready_ns);
  run.gap_us /= std::max(1, count_ - 1);
  return run;
}

ChainRun Chain::run_in_stream(cudaStream_t stream) {
  return run(
      [&] {
        for (int i = 0; i < count_; ++i) launch(i, stream);
      },
      stream, stream);
}

ChainRun Chain::run_graph(const ExecutableGraph& graph, cudaStream_t stream) {
  return run([&] { graph.launch(stream); }, stream, stream);
}

void add_chain_metrics(State& s, const Callable<ChainRun()>& run,
                       const Callable<ChainRun()>& plain) {
  std::vector<double> cpu, gap, saved, resident;
  for (int i = 0; i <= kChainRuns; ++i) {
    const ChainRun found = run();
    const ChainRun without = plain ? plain() : ChainRun{};
    s.set_param("sm", std::int64_t{found.sm});
    if (i == 0) continue;  // loads the kernels
    cpu.push_back(found.cpu_us);
    gap.push_back(found.gap_us);
    saved.push_back(without.gap_us - found.gap_us);
    resident.push_back(found.resident);
  }
  s.add_metric("cpu_us", "us", Better::lower, cpu);
  s.add_metric("gpu_gap_us", "us", Better::lower, gap);
  if (!plain) return;
  s.add_metric("gpu_gap_saved_us", "us", Better::higher, saved);
  s.add_exact("resident_kernels", "", Better::higher, median(resident));
}

}  // namespace assay
