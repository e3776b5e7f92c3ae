// SPDX-License-Identifier: Apache-2.0
// What the time from one empty kernel of a graph to the next depends on. It was found to be 0.50 us
// in some processes and 0.68 us in others on GPUs of one kind; it can change within a process, too.
// So one process asks all that may differ: how many nodes there are and how they came into the
// graph, where the graph lies (several are kept side by side), on which stream it runs, how long
// the GPU was idle before, and whether another process has a context on the GPU.
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/chain.hpp"
#include "probes/launch/process_team.hpp"

namespace {

using assay::check;
using assay::ExecutableGraph;

constexpr int kNodes = 256;  // where their number is not the question
constexpr int kGraphs = 16;

// Empty kernels, one behind the other.
ExecutableGraph chain_of(int nodes, bool programmatic) {
  assay::Graph graph;
  std::vector<cudaGraphNode_t> before;
  for (int i = 0; i < nodes; ++i)
    before = {graph.add(assay::empty_kernel(programmatic), {.programmatic = programmatic}, nullptr,
                        before)};
  return ExecutableGraph(graph);
}

// The same as a stream has them.
ExecutableGraph captured(int nodes) {
  const assay::Stream stream;
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < nodes; ++i) assay::launch(assay::empty_kernel(false), {}, nullptr, stream);
  check(cudaStreamEndCapture(stream, &graph));
  ExecutableGraph executable(graph);
  check(cudaGraphDestroy(graph));
  return executable;
}

// Microseconds from one of its nodes to the next, a few times.
std::vector<double> intervals(const ExecutableGraph& graph, int nodes, cudaStream_t stream) {
  assay::Event begin, end;
  std::vector<double> us;
  for (int i = 0; i <= assay::kChainRuns; ++i) {
    assay::delay(200'000, stream);  // while the CPU launches the graph
    begin.record(stream);
    graph.launch(stream);
    end.record(stream);
    const double ns = assay::elapsed_ns(begin, end) / nodes;
    if (i > 0) us.push_back(1e-3 * ns);  // the first uploads the graph
  }
  return us;
}

void add_by_nodes(assay::State& s) {
  assay::Series series{
      .name = "interval_us_by_nodes", .unit = "us", .axes = {{"made", {}}, {"nodes", {}}}};
  const std::array counts = {16, 64, 256, 1000, 4000};
  for (const int nodes : counts) series.axes[1].points.emplace_back(std::int64_t{nodes});
  const auto add = [&](const char* made, const auto& graph_of) {
    series.axes[0].points.emplace_back(std::string(made));
    for (const int nodes : counts)
      series.add(assay::estimate(intervals(graph_of(nodes), nodes, s.stream())));
  };
  add("one by one", [](int nodes) { return chain_of(nodes, false); });
  add("captured", captured);
  if (has(s.target(), assay::Feature::dependent_launch))
    add("programmatic", [](int nodes) { return chain_of(nodes, true); });
  s.add_series(std::move(series));
}

void add_by_place(assay::State& s) {
  std::vector<ExecutableGraph> graphs;
  assay::Series of_graph{.name = "interval_us_of_graph", .unit = "us", .axes = {{"graph", {}}}};
  for (int i = 0; i < kGraphs; ++i) {
    graphs.push_back(chain_of(kNodes, false));
    of_graph.axes[0].points.emplace_back(std::int64_t{i});
    of_graph.add(assay::estimate(intervals(graphs.back(), kNodes, s.stream())));
  }
  s.add_series(std::move(of_graph));
  const std::array<assay::Stream, kGraphs> streams;
  assay::Series of_stream{.name = "interval_us_of_stream", .unit = "us", .axes = {{"stream", {}}}};
  for (int i = 0; i < kGraphs; ++i) {
    of_stream.axes[0].points.emplace_back(std::int64_t{i});
    of_stream.add(
        assay::estimate(intervals(graphs[0], kNodes, streams[static_cast<std::size_t>(i)])));
  }
  s.add_series(std::move(of_stream));
}

void run(assay::State& s) {
  if (assay::serve_team([](const assay::TeamOrder&, assay::TeamReport&) {}))
    s.skip("this process only has a context, for another's case");
  using assay::Better;
  const ExecutableGraph graph = chain_of(kNodes, false);
  const auto measured = [&] { return intervals(graph, kNodes, s.stream()); };
  s.add_metric("interval_us", "us", Better::lower, measured());
  add_by_nodes(s);
  add_by_place(s);
  assay::Series after_idle{
      .name = "interval_us_after_idle", .unit = "us", .axes = {{"idle_ms", {}}}};
  for (const int idle_ms : {0, 100, 1000}) {
    check(cudaStreamSynchronize(s.stream()));
    std::this_thread::sleep_for(std::chrono::milliseconds(idle_ms));
    after_idle.axes[0].points.emplace_back(std::int64_t{idle_ms});
    after_idle.add(assay::estimate(measured()));
  }
  s.add_series(std::move(after_idle));
  {
    const assay::ProcessTeam other("launch/graph_interval", s.device().index, 1);
    s.add_metric("interval_us_beside_a_context", "us", Better::lower, measured());
  }
  s.add_metric("interval_us_at_the_end", "us", Better::lower, measured());
}

const assay::Registration registration{{
    .name = "launch/graph_interval",
    .question = "What does the time from one empty kernel of a graph to the next depend on?",
    .metrics = {{"interval_us",
                 "Time from one of 256 empty kernels to the next, in the first graph of the case."},
                {"interval_us_by_nodes",
                 "Time from one kernel to the next, by how the graph was made and its nodes."},
                {"interval_us_of_graph",
                 "Time from one kernel to the next, in each of several graphs that exist at once."},
                {"interval_us_of_stream",
                 "Time from one kernel of a graph to the next, on each of several streams."},
                {"interval_us_after_idle",
                 "Time from one kernel to the next, after so many milliseconds of doing nothing."},
                {"interval_us_beside_a_context",
                 "Time from one kernel to the next while another process has a context on the GPU, "
                 "and does nothing."},
                {"interval_us_at_the_end", "The same as interval_us, at the end of the case."}},
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case&, assay::Target target) {
          std::vector<assay::KernelUse> uses = {
              {.kernel = "empty", .sass = {{"EXIT", 1, 1, assay::SassWhere::kernel}}}};
          if (has(target, assay::Feature::dependent_launch))
            uses.push_back({.kernel = "empty_programmatic",
                            .sass = {{"PREEXIT", 1, 1, assay::SassWhere::kernel},
                                     {"ACQBULK", 1, 1, assay::SassWhere::kernel}}});
          return uses;
        },
    .run = run,
}};

}  // namespace
