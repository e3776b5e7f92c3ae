// SPDX-License-Identifier: Apache-2.0
// What a launch costs when the kernel does nothing.
//   stream       from one kernel to the next when the CPU launches them back to back
//   stream_sync  from the call of one launch to the return of the synchronization behind it, by the
//                CPU's clock
//   graph        from one kernel to the next inside one CUDA graph, its launch shared by its nodes
#include <chrono>

#include "harness/cuda.hpp"
#include "harness/state.hpp"

namespace {

constexpr int kLaunches = 1000;

__global__ void empty() {}

void launch_many(cudaStream_t stream) {
  for (int i = 0; i < kLaunches; ++i) empty<<<1, 32, 0, stream>>>();
}

// Nanoseconds per kernel between two events around work() on the stream.
double timed(cudaStream_t stream, const std::function<void()>& work) {
  assay::Event begin, end;
  begin.record(stream);
  work();
  assay::check(cudaGetLastError());
  end.record(stream);
  return assay::elapsed_ns(begin, end) / kLaunches;
}

void run_stream(assay::State& s) {
  s.sample({}, [&] { return timed(s.stream(), [&] { launch_many(s.stream()); }); });
}

void run_stream_sync(assay::State& s) {
  s.sample({}, [&] {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) {
      empty<<<1, 32, 0, s.stream()>>>();
      assay::check(cudaStreamSynchronize(s.stream()));
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    return taken.count() / kLaunches;
  });
}

void run_graph(assay::State& s) {
  struct Graph {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ~Graph() {
      if (executable) cudaGraphExecDestroy(executable);
      if (graph) cudaGraphDestroy(graph);
    }
  } made;
  assay::check(cudaStreamBeginCapture(s.stream(), cudaStreamCaptureModeThreadLocal));
  launch_many(s.stream());
  assay::check(cudaStreamEndCapture(s.stream(), &made.graph));
  std::size_t nodes = 0;
  assay::check(cudaGraphGetNodes(made.graph, nullptr, &nodes));
  s.require(nodes == kLaunches, "the graph does not hold every launch");
  assay::check(cudaGraphInstantiate(&made.executable, made.graph));
  assay::check(cudaGraphUpload(made.executable, s.stream()));
  s.sample({}, [&] {
    return timed(s.stream(), [&] { assay::check(cudaGraphLaunch(made.executable, s.stream())); });
  });
}

const assay::Registration registration{{
    .name = "launch/empty",
    .question = "How long does launching a kernel take that does nothing?",
    .cases = {{.name = "stream"}, {.name = "stream_sync"}, {.name = "graph"}},
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "empty", .sass = {{"EXIT", 1, 1, assay::SassWhere::kernel}}}};
        },
    .run =
        [](assay::State& s) {
          const std::string& name = s.which().name;
          name == "graph" ? run_graph(s) : name == "stream" ? run_stream(s) : run_stream_sync(s);
        },
}};

}  // namespace
