// SPDX-License-Identifier: Apache-2.0
// A chain of stamped kernels, enqueued behind a busy GPU: what a launch costs the CPU, and how long
// the GPU takes from one kernel to the next when the CPU is ahead of it.
#pragma once
#include <vector>

#include "harness/callable.hpp"
#include "harness/state.hpp"
#include "probes/launch/graph.hpp"
#include "probes/launch/stamped.hpp"

namespace assay {

// One run of a chain. Times are means over its kernels.
struct ChainRun {
  double cpu_us = 0;  // of the calls that enqueue one kernel (or the one that does all, shared)
  double gap_us = 0;  // from the end of one kernel's work to when the next may begin its own
  int sm = 0;         // of the last kernel's first CTA
  int resident = 0;   // the most kernels on the GPU at once: all but one of them wait
};

class Chain {
 public:
  // `count` kernels that work so long, one behind the other, with so many bytes of arguments if any
  // are asked for (one of kArgumentBytes).
  Chain(State& s, int count, std::uint32_t work_ns, const LaunchShape& shape,
        int argument_bytes = 0);
  Chain(const Chain&) = delete;  // its arguments lie in it
  Chain& operator=(const Chain&) = delete;

  int count() const { return count_; }
  void launch(int i, cudaStream_t stream) { assay::launch(kernel_, shape_, arguments(i), stream); }
  Graph graph();

  // Lets the GPU spin on the stream `first`, calls `enqueue`, which must enqueue the whole chain
  // once so that it ends on the stream `last`, waits for that and reads the stamps. The case fails
  // unless every kernel ran, each after its predecessor.
  ChainRun run(const Callable<void()>& enqueue, cudaStream_t first, cudaStream_t last);
  ChainRun run_in_stream(cudaStream_t stream);
  ChainRun run_graph(const ExecutableGraph& graph, cudaStream_t stream);

 private:
  void** arguments(int i);           // of kernel i, until the next call
  std::vector<Stamp> read_stamps();  // and check them
  State& s_;
  int count_;
  LaunchShape shape_;
  const void* kernel_;
  Stamp* stamps_;  // device
  Stamp* own_ = nullptr;
  const Stamp* predecessor_ = nullptr;
  std::uint32_t work_ns_;
  std::vector<std::uint32_t> further_ = {};
  std::vector<void*> arguments_ = {};
  std::uint32_t runs_ = 0;
  double enqueue_us_ = 1000;  // how long enqueuing took the last time
};

// Metrics cpu_us and gpu_gap_us of a few runs, and the parameter sm, where the last ended. If
// `plain` is given, the same without a launch attribute, the two take turns, and there are
// gpu_gap_saved_us, by how much the gap is shorter than the plain one, and resident_kernels.
void add_chain_metrics(State& s, const Callable<ChainRun()>& run,
                       const Callable<ChainRun()>& plain = nullptr);

// Runs of a chain for one figure: enough for a 95% interval that leaves the extremes out.
inline constexpr int kChainRuns = 15;
// Kernels of a chain that is enqueued one by one: fewer than the driver takes before it blocks.
inline constexpr int kChainKernels = 64;
inline constexpr std::uint32_t kChainWorkNs = 4000;

}  // namespace assay
