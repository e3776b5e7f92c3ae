// SPDX-License-Identifier: Apache-2.0
// What a small worker launches again and again: one warp that works for a while and notes when and
// where, and how many have.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include "harness/state.hpp"
#include "probes/launch/concurrency.hpp"
#include "probes/launch/graph.hpp"

namespace assay {

// In device memory, one for each worker.
struct WorkerLog {
  static constexpr std::uint32_t kSpans = 256;
  std::uint32_t tasks;  // all that ran, noted or not
  std::uint32_t unused;
  TimeSpan spans[kSpans];  // of the first so many
  std::uint32_t sms[kSpans];
};

// (WorkerLog* log, std::uint32_t work_ns)
const void* task_kernel();

// The logs of several workers. Thread-safe but for clear().
class WorkerLogs {
 public:
  WorkerLogs(State& s, std::size_t workers) : logs_(s.allocate<WorkerLog>(workers)) {}
  void clear(std::size_t workers);
  // One task of one worker: on a stream, or as a node of a graph behind `after`.
  void launch(std::size_t worker, std::uint32_t work_ns, cudaStream_t stream) const;
  cudaGraphNode_t add(Graph& graph, std::size_t worker, std::uint32_t work_ns,
                      const std::vector<cudaGraphNode_t>& after) const;
  // Of the first so many; the GPU must be idle.
  std::vector<WorkerLog> read(std::size_t workers) const;

 private:
  WorkerLog* logs_;
};

// What the notes of several workers show together.
struct WorkersSeen {
  std::uint64_t tasks = 0;
  int concurrent_most = 0;
  double concurrent_mean = 0;
  int sms = 0;           // that any ran on
  bool in_order = true;  // no worker's task began before its last one ended
};
// Tasks longer than `longest_ns` were interrupted for another process: that they only seem to have
// run side by side with its own does not count.
WorkersSeen look_at(std::span<const WorkerLog> logs, std::uint64_t longest_ns = ~0ull);

}  // namespace assay
