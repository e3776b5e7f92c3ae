// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/worker_task.hpp"

#include <algorithm>
#include <set>

#include "harness/ptx/stopwatch.cuh"

namespace assay {
namespace {

__global__ void task(WorkerLog* log, std::uint32_t work_ns) {
  const std::uint64_t begin_ns = ptx::globaltimer();
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  const std::uint32_t number = atomicAdd(&log->tasks, 1);
  std::uint64_t end_ns = ptx::globaltimer();
  while (end_ns - begin_ns < work_ns) end_ns = ptx::globaltimer();
  if (number >= WorkerLog::kSpans) return;
  log->spans[number] = {begin_ns, end_ns};
  log->sms[number] = ptx::smid();
}

}  // namespace

const void* task_kernel() { return reinterpret_cast<const void*>(task); }

void WorkerLogs::clear(std::size_t workers) {
  check(cudaMemset(logs_, 0, workers * sizeof(WorkerLog)));
  check(cudaDeviceSynchronize());
}

void WorkerLogs::launch(std::size_t worker, std::uint32_t work_ns, cudaStream_t stream) const {
  WorkerLog* log = logs_ + worker;
  void* arguments[] = {&log, &work_ns};
  assay::launch(task_kernel(), {}, arguments, stream);
}

cudaGraphNode_t WorkerLogs::add(Graph& graph, std::size_t worker, std::uint32_t work_ns,
                                const std::vector<cudaGraphNode_t>& after) const {
  WorkerLog* log = logs_ + worker;
  void* arguments[] = {&log, &work_ns};
  return graph.add(task_kernel(), {}, arguments, after);
}

std::vector<WorkerLog> WorkerLogs::read(std::size_t workers) const {
  std::vector<WorkerLog> logs(workers);
  check(cudaMemcpy(logs.data(), logs_, workers * sizeof(WorkerLog), cudaMemcpyDeviceToHost));
  return logs;
}

WorkersSeen look_at(std::span<const WorkerLog> logs, std::uint64_t longest_ns) {
  WorkersSeen seen;
  std::vector<TimeSpan> all;
  std::set<std::uint32_t> sms;
  for (const WorkerLog& log : logs) {
    seen.tasks += log.tasks;
    const std::uint32_t noted = std::min(log.tasks, WorkerLog::kSpans);
    for (std::uint32_t i = 0; i < noted; ++i) {
      if (log.spans[i].end_ns - log.spans[i].begin_ns <= longest_ns) all.push_back(log.spans[i]);
      sms.insert(log.sms[i]);
      if (i > 0 && log.spans[i].begin_ns + kTimerSlackNs < log.spans[i - 1].end_ns)
        seen.in_order = false;
    }
  }
  const Concurrency found = concurrency(all);
  seen.concurrent_most = found.most;
  seen.concurrent_mean = found.mean;
  seen.sms = static_cast<int>(sms.size());
  return seen;
}

}  // namespace assay
