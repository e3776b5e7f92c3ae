// SPDX-License-Identifier: Apache-2.0
// Several processes that start work at the same moment and tell what they did.
//
// The leader shares a piece of memory with its members, which are this very program, told to
// measure the same case: a member finds that memory by its environment and serves rounds until the
// leader is done.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harness/callable.hpp"
#include "probes/launch/worker_sweep.hpp"

namespace assay {

// What the leader asks for in a round.
struct TeamOrder {
  std::uint32_t members = 0;  // the first so many take part
  std::uint32_t queued = 1;   // kernels launched before they are waited for
  std::uint32_t work_ns = 0;
  std::uint32_t workers = 1;  // inside each member
  double run_us = 0;          // how long they go on
  double start_us = 0;        // when they begin; set by run()
};

// What a member did in it. Times are host_us()'s.
struct TeamReport {
  static constexpr std::uint32_t kLatencies = 4096;
  double begin_us, end_us, launching_us;
  std::uint32_t tasks;      // launched, and counted on the GPU too
  std::uint32_t latencies;  // noted
  float latency_us[kLatencies];
  WorkerLog log;
  WorkerPoint point;  // of a member that measures several workers by itself
};

struct TeamMemory;

class ProcessTeam {
 public:
  // Starts `members` processes that measure `case_name` on that GPU, with these variables
  // ("NAME=value") in their environment, and waits until each has a context there. Throws what the
  // first to fail said.
  ProcessTeam(const std::string& case_name, int device_index, std::uint32_t members,
              const std::vector<std::string>& environment = {});
  ~ProcessTeam();                            // ends them
  ProcessTeam(const ProcessTeam&) = delete;  // its members know its memory
  ProcessTeam& operator=(const ProcessTeam&) = delete;

  // One round; reports of the members that took part.
  std::vector<TeamReport> run(const TeamOrder& order);

 private:
  explicit ProcessTeam(std::uint32_t members);  // nobody started yet
  void wait_for(const Callable<bool()>& done);

  int file_ = -1;
  TeamMemory* memory_ = nullptr;
  std::uint32_t members_;
  std::mutex mutex_;
  std::string failure_;  // what the first to fail said
  std::vector<std::jthread> threads_;
};

// If this process is a member: serves its leader to the end and returns true.
bool serve_team(const Callable<void(const TeamOrder&, TeamReport&)>& work);

}  // namespace assay
