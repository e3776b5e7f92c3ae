// SPDX-License-Identifier: Apache-2.0
// What a launch costs when the kernel does nothing, by the way it is launched:
//   stream        the CPU launches kernels back to back
//   stream_sync   the CPU waits for each before it launches the next
//   graph         kernels of one CUDA graph follow one another, its launch shared by its nodes
//   cluster, cooperative, programmatic   as in stream, with that launch attribute
//   graph_programmatic   as in graph, with that launch attribute
// The time of it all says little where the CPU is what takes long, so the parts are measured apart:
// the call, the GPU's way from one kernel to the next, and the latency. The gap is that of kernels
// of 4 us that stamp the time: what a dependent kernel waits for.
//
// A programmatic kernel lets its dependents go with its first instruction and then waits for what
// it depends on itself. So its dependents wait on the GPU already, rather than in the queue.
#include <optional>

#include "harness/callable.hpp"
#include "harness/measure/device_kernels.hpp"
#include "probes/launch/chain.hpp"
#include "probes/launch/clock.hpp"

namespace {

constexpr int kLaunches = 1000;
constexpr int kAhead = 256;  // launches enqueued behind a busy GPU

// Nanoseconds per kernel between two events around work() on the stream.
double timed(cudaStream_t stream, int kernels, const assay::Callable<void()>& work) {
  assay::Event begin, end;
  begin.record(stream);
  work();
  end.record(stream);
  return assay::elapsed_ns(begin, end) / kernels;
}

assay::LaunchShape shape_of(const assay::Case& c) {
  const std::string& attribute = c.text("attribute");
  const bool cluster = attribute == "cluster";
  return {.ctas = cluster ? 2u : 1u,
          .cluster = cluster ? 2u : 0u,
          .cooperative = attribute == "cooperative",
          .programmatic = attribute == "programmatic"};
}

// Launches this many empty kernels: one by one, or as one graph.
class Empties {
 public:
  Empties(const assay::LaunchShape& shape, int count, bool in_graph)
      : kernel_(assay::empty_kernel(shape.programmatic)), shape_(shape), count_(count) {
    if (!in_graph) return;
    assay::Graph graph;
    std::vector<cudaGraphNode_t> before;
    for (int i = 0; i < count; ++i) before = {graph.add(kernel_, shape, nullptr, before)};
    executable_.emplace(graph);
  }
  void operator()(cudaStream_t stream) const {
    if (executable_) return executable_->launch(stream);
    for (int i = 0; i < count_; ++i) assay::launch(kernel_, shape_, nullptr, stream);
  }

 private:
  const void* kernel_;
  assay::LaunchShape shape_;
  int count_;
  std::optional<assay::ExecutableGraph> executable_ = {};
};

// The same for stamped kernels.
class ChainBench {
 public:
  ChainBench(assay::State& s, const assay::LaunchShape& shape, bool in_graph)
      : chain_(s, assay::kChainKernels, assay::kChainWorkNs, shape) {
    if (in_graph) executable_.emplace(chain_.graph());
  }
  assay::ChainRun run(cudaStream_t stream) {
    return executable_ ? chain_.run_graph(*executable_, stream) : chain_.run_in_stream(stream);
  }

 private:
  assay::Chain chain_;
  std::optional<assay::ExecutableGraph> executable_ = {};
};

double latency_us(const Empties& one, cudaStream_t stream, int times) {
  const double begin = assay::host_us();
  for (int i = 0; i < times; ++i) {
    one(stream);
    assay::check(cudaStreamSynchronize(stream));
  }
  return (assay::host_us() - begin) / times;
}

void run_stream_sync(assay::State& s) {
  const Empties one(shape_of(s.which()), 1, false);
  s.sample({}, [&] { return 1e3 * latency_us(one, s.stream(), kLaunches); });
}

void run(assay::State& s) {
  using assay::Better;
  const assay::LaunchShape shape = shape_of(s.which());
  const bool in_graph = s.text("launched") == "graph";
  const cudaStream_t stream = s.stream();
  const Empties many(shape, kLaunches, in_graph), one(shape, 1, in_graph),
      ahead(shape, kAhead, in_graph);
  s.sample({}, [&] { return timed(stream, kLaunches, [&] { many(stream); }); });

  std::vector<double> interval, latency;
  for (int i = 0; i < assay::kChainRuns; ++i) {
    assay::delay(2'000'000, stream);  // while the CPU enqueues
    interval.push_back(1e-3 * timed(stream, kAhead, [&] { ahead(stream); }));
    latency.push_back(latency_us(one, stream, 20));
  }
  ChainBench chain(s, shape, in_graph);
  if (shape.programmatic) {
    ChainBench plain(s, {}, in_graph);
    add_chain_metrics(
        s, [&] { return chain.run(stream); }, [&] { return plain.run(stream); });
  } else {
    add_chain_metrics(s, [&] { return chain.run(stream); });
  }
  s.add_metric("interval_us", "us", Better::lower, interval);
  s.add_metric("latency_us", "us", Better::lower, latency);
}

std::vector<assay::Case> cases() {
  const auto one = [](const char* name, const char* attribute, const char* launched,
                      assay::Suite suite, std::vector<assay::Target> targets = {}) {
    return assay::Case{.name = name,
                       .params = {{"attribute", attribute}, {"launched", launched}},
                       .targets = std::move(targets),
                       .suite = suite};
  };
  using assay::Suite;
  const auto dependent = assay::targets_with(assay::Feature::dependent_launch);
  return {one("stream", "none", "stream", Suite::quick),
          one("stream_sync", "none", "stream", Suite::quick),
          one("graph", "none", "graph", Suite::quick),
          one("programmatic", "programmatic", "stream", Suite::quick, dependent),
          one("graph_programmatic", "programmatic", "graph", Suite::full, dependent),
          one("cluster", "cluster", "stream", Suite::full, dependent),
          one("cooperative", "cooperative", "stream", Suite::full)};
}

std::vector<assay::KernelUse> kernels(const assay::Case& c, assay::Target) {
  using assay::SassWhere;
  const assay::KernelUse stamped{.kernel = "stamped", .sass = {{"STG", 1, 4, SassWhere::kernel}}};
  if (c.text("attribute") != "programmatic")
    return {{.kernel = "empty", .sass = {{"EXIT", 1, 1, SassWhere::kernel}}}, stamped};
  const std::vector<assay::SassRule> both = {{"PREEXIT", 1, 1, SassWhere::kernel},
                                             {"ACQBULK", 1, 1, SassWhere::kernel}};
  return {{.kernel = "empty_programmatic", .sass = both},
          {.kernel = "stamped_programmatic", .sass = both},
          stamped};
}

const assay::Registration registration{{
    .name = "launch/empty",
    .question = "How long does it take to launch a kernel that does nothing?",
    .metrics =
        {{"time_us",
          "Time from one kernel to the next; of stream_sync, from the launch to the return of the "
          "synchronization behind it."},
         {"cpu_us",
          "CPU time of one launch while the GPU is busy; of a graph, the call shared by its "
          "kernels."},
         {"interval_us",
          "Time from one empty kernel to the next when the CPU is ahead of the GPU."},
         {"gpu_gap_us",
          "Time from the end of a 4 us kernel's work, which leaves time stamps behind, to where "
          "the "
          "next begins; empty kernels (interval_us) follow sooner."},
         {"gpu_gap_saved_us",
          "Time by which gpu_gap_us is shorter than without the launch attribute."},
         {"resident_kernels",
          "Kernels of a chain of 64 that are on the GPU at once; all but one of them wait."},
         {"latency_us",
          "Time from the launch of one kernel to the return of the synchronization behind it."}},
    .cases = cases(),
    .pace = assay::Pace::host,
    .kernels = kernels,
    .run = [](assay::State& s) { s.which().name == "stream_sync" ? run_stream_sync(s) : run(s); },
}};

}  // namespace
