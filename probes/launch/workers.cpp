// SPDX-License-Identifier: Apache-2.0
// Many small workers in one process: each launches kernels of one warp, again and again.
//   streams   one CPU thread serves them all, a stream each, a kernel each in turn
//   graphs    the same, but what it launches in turn is a graph of such kernels, one by one: 64, or
//             16 of those that last
//   threads   each has a CPU thread and a stream of its own
// Throughput is that of work queued up; for latency, each worker has one kernel at a time: from its
// launch to where the CPU knows that it has ended (streams and graphs: that all have, of a graph
// all its kernels). Whether kernels really ran side by side is read off the times they note
// themselves.
//
// Streams share the hardware's queues, 8 unless CUDA_DEVICE_MAX_CONNECTIONS says otherwise (CUDA
// C++ Programming Guide, "CUDA Environment Variables"): what one stream has queued keeps others of
// its queue waiting. As that is read when a process first uses the GPU, a case with another number
// of them (`max_connections`) measures in a process of its own.
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>

#include "harness/callable.hpp"
#include "harness/device.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/clock.hpp"
#include "probes/launch/graph.hpp"
#include "probes/launch/process_team.hpp"
#include "probes/launch/worker_sweep.hpp"

namespace {

using assay::check;

constexpr int kRounds = 7;  // enough for a 95% interval
constexpr const char* kConnections = "CUDA_DEVICE_MAX_CONNECTIONS";

int graph_kernels(std::uint32_t work_ns) { return work_ns > 10'000 ? 16 : 64; }

// How long work took from the first launch on, and how much of that went into launching.
struct Times {
  double us = 0, launching_us = 0;
};

class Streams {
 public:
  explicit Streams(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) streams_.push_back(std::make_unique<assay::Stream>());
  }
  cudaStream_t operator[](std::size_t i) const { return *streams_[i]; }

 private:
  std::vector<std::unique_ptr<assay::Stream>> streams_;
};

// One CPU thread, a stream for each worker. `kernels` are launched by one call of `launch`.
class OneThread {
 public:
  OneThread(assay::State& s, std::size_t most, std::uint32_t work_ns, bool graphs)
      : s_(s),
        work_ns_(work_ns),
        kernels_(graphs ? graph_kernels(work_ns) : 1),
        logs_(s, most),
        streams_(most) {
    for (std::size_t worker = 0; graphs && worker < most; ++worker) {
      assay::Graph graph;
      std::vector<cudaGraphNode_t> before;
      for (int i = 0; i < kernels_; ++i) before = {logs_.add(graph, worker, work_ns, before)};
      graphs_.emplace_back(graph);
    }
  }

  assay::WorkerPoint measure(int count) {
    const auto workers = static_cast<std::size_t>(count);
    // A few milliseconds' worth, and enough of each worker that its first and last do not count.
    const int total = work_ns_ > 10'000 ? 128 : 512;
    const int turns = std::max(total / kernels_ / count, graphs_.empty() ? 32 : 4);
    logs_.clear(workers);
    const Times times = run(workers, turns);
    const std::vector<assay::WorkerLog> logs = logs_.read(workers);
    assay::WorkerPoint point{.kernels_per_s = 1e6 * count * turns * kernels_ / times.us,
                             .launching_share = times.launching_us / times.us,
                             .launch_us = times.launching_us / (count * turns),
                             .seen = assay::look_at(logs)};
    for (const assay::WorkerLog& log : logs)
      s_.require(log.tasks == static_cast<std::uint32_t>(turns * kernels_),
                 fmt::format("a worker ran {} kernels, expected {}", log.tasks, turns * kernels_));
    std::vector<double> latencies;
    for (int i = 0; i < 9; ++i) latencies.push_back(run(workers, 1).us);
    point.latency_us = assay::median(latencies);
    return point;
  }

 private:
  Times run(std::size_t workers, int turns) {
    const double begin = assay::host_us();
    for (int turn = 0; turn < turns; ++turn)
      for (std::size_t worker = 0; worker < workers; ++worker)
        graphs_.empty() ? logs_.launch(worker, work_ns_, streams_[worker])
                        : graphs_[worker].launch(streams_[worker]);
    const double launching_us = assay::host_us() - begin;
    for (std::size_t worker = 0; worker < workers; ++worker)
      check(cudaStreamSynchronize(streams_[worker]));
    return {.us = assay::host_us() - begin, .launching_us = launching_us};
  }

  assay::State& s_;
  std::uint32_t work_ns_;
  int kernels_;  // of one launch
  assay::WorkerLogs logs_;
  Streams streams_;
  std::vector<assay::ExecutableGraph> graphs_ = {};
};

// A CPU thread and a stream for each worker.
class ManyThreads {
 public:
  ManyThreads(assay::State& s, std::size_t most, std::uint32_t work_ns)
      : s_(s), work_ns_(work_ns), logs_(s, most), streams_(most) {}

  assay::WorkerPoint measure(int count) {
    logs_.clear(static_cast<std::size_t>(count));
    std::vector<double> latencies;
    const int queued = work_ns_ > 10'000 ? 64 : 200;
    const Times times = run(count, queued, nullptr);
    const std::vector<assay::WorkerLog> logs = logs_.read(static_cast<std::size_t>(count));
    for (const assay::WorkerLog& log : logs)
      s_.require(log.tasks == static_cast<std::uint32_t>(queued),
                 fmt::format("a worker ran {} kernels, expected {}", log.tasks, queued));
    run(count, kAlone, &latencies);
    return {.kernels_per_s = 1e6 * queued * count / times.us,
            .latency_us = assay::median(latencies),
            .slow_latency_us = assay::quantile(latencies, 0.99),
            .launching_share = times.launching_us / times.us,
            .launch_us = times.launching_us / queued,
            .seen = assay::look_at(logs)};
  }

 private:
  static constexpr int kAlone = 40;

  // From the start of all threads to the end of the last; launching is the slowest thread's. With
  // `latencies`, each kernel is waited for, and timed.
  Times run(int count, int kernels, std::vector<double>* latencies) {
    std::vector<std::vector<double>> of_thread(static_cast<std::size_t>(count));
    std::vector<double> ends(of_thread.size()), launched(of_thread.size());
    std::vector<std::exception_ptr> errors(of_thread.size());
    std::barrier start(count + 1);
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker < of_thread.size(); ++worker)
      threads.emplace_back([&, worker] {
        const cudaError_t ready = cudaSetDevice(s_.device().index);
        start.arrive_and_wait();
        try {
          check(ready);
          for (int i = 0; i < kernels; ++i) {
            const double begin = assay::host_us();
            logs_.launch(worker, work_ns_, streams_[worker]);
            if (!latencies) continue;
            check(cudaStreamSynchronize(streams_[worker]));
            of_thread[worker].push_back(assay::host_us() - begin);
          }
          launched[worker] = assay::host_us();
          check(cudaStreamSynchronize(streams_[worker]));
        } catch (...) {
          errors[worker] = std::current_exception();
        }
        ends[worker] = assay::host_us();
      });
    start.arrive_and_wait();
    const double begin = assay::host_us();
    threads.clear();  // joins
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
    for (const auto& list : of_thread)
      if (latencies) latencies->insert(latencies->end(), list.begin(), list.end());
    return {.us = std::ranges::max(ends) - begin,
            .launching_us = std::ranges::max(launched) - begin};
  }

  assay::State& s_;
  std::uint32_t work_ns_;
  assay::WorkerLogs logs_;
  Streams streams_;
};

using Measure = assay::Callable<assay::WorkerPoint(int workers)>;

// Sweeps by this process's own measuring, or by that of one with so many hardware queues.
void sweep(assay::State& s, const std::vector<int>& counts, const Measure& measure) {
  const std::string& connections = s.text("max_connections");
  if (connections == "default") {
    if (const char* found = std::getenv(kConnections)) s.set_param("max_connections", found);
    return sweep_workers(s, counts, kRounds, measure);
  }
  if (assay::serve_team([&](const assay::TeamOrder& order, assay::TeamReport& report) {
        report.point = measure(static_cast<int>(order.workers));
      })) {
    s.skip("this process only works for another's case");
  }
  assay::ProcessTeam team("launch/workers/" + s.which().name, s.device().index, 1,
                          {fmt::format("{}={}", kConnections, connections)});
  sweep_workers(s, counts, kRounds, [&](int count) {
    return team.run({.members = 1, .workers = static_cast<std::uint32_t>(count)}).front().point;
  });
}

void run(assay::State& s) {
  const auto work_ns = static_cast<std::uint32_t>(s.i64("work_ns"));
  const std::string& workers = s.text("workers");
  if (workers == "threads") {
    const std::vector<int> counts = {1, 2, 3, 4, 6, 8, 12, 16, 32};
    ManyThreads team(s, static_cast<std::size_t>(counts.back()), work_ns);
    return sweep(s, counts, [&](int count) { return team.measure(count); });
  }
  const std::vector<int> counts = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  if (workers == "graphs") s.set_param("graph_kernels", std::int64_t{graph_kernels(work_ns)});
  OneThread team(s, static_cast<std::size_t>(counts.back()), work_ns, workers == "graphs");
  sweep(s, counts, [&](int count) { return team.measure(count); });
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const char* workers : {"streams", "graphs", "threads"})
    for (const auto& [name, work_ns] : {std::pair{"short", 0}, {"5us", 5'000}, {"50us", 50'000}})
      all.push_back(
          {.name = fmt::format("{}/{}", workers, name),
           .params = {{"workers", workers}, {"work_ns", work_ns}, {"max_connections", "default"}},
           .suite = all.size() == 1 ? assay::Suite::quick : assay::Suite::full});
  all.push_back({.name = "threads_connections32/50us",
                 .params = {{"workers", "threads"}, {"work_ns", 50'000}, {"max_connections", "32"}},
                 .suite = assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "launch/workers",
    .question = "How many small kernels run in a second from several streams, graphs or CPU "
                "threads, how long does each take, and how many run at once?",
    .metrics = assay::worker_metrics(),
    .cases = cases(),
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "task", .sass = {{"ATOMG|ATOM", 1, 1, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
