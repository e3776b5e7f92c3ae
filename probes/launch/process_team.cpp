// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/process_team.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "harness/callable.hpp"
#include "harness/error.hpp"
#include "harness/machine/process.hpp"
#include "probes/launch/clock.hpp"

namespace assay {

struct TeamMemory {
  static constexpr std::uint32_t kMost = 64;
  static constexpr std::uint32_t kOver = ~0u;  // as a round: the leader is done
  std::atomic<std::uint32_t> joined, round, done;
  pid_t leader;
  TeamOrder order;
  TeamReport reports[kMost];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "shared between processes");

namespace {

constexpr const char* kVariable = "ASSAY_LAUNCH_TEAM";  // descriptor of the shared memory
constexpr double kPatienceUs = 60e6;

TeamMemory* map(int file) {
  void* memory = mmap(nullptr, sizeof(TeamMemory), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    throw Error(ExitCode::io,
                fmt::format("cannot share memory between processes: {}", std::strerror(errno)));
  return static_cast<TeamMemory*>(memory);
}

}  // namespace

ProcessTeam::ProcessTeam(std::uint32_t members) : members_(members) {
  const int file = memfd_create("assay", MFD_CLOEXEC);
  file_ = fcntl(file, F_DUPFD, 10);  // members inherit it, above what run_tool() gives them
  close(file);
  if (file_ < 0 || ftruncate(file_, sizeof(TeamMemory)) != 0)
    throw Error(ExitCode::io,
                fmt::format("cannot create memory to share: {}", std::strerror(errno)));
  memory_ = map(file_);
  memory_->leader = getpid();
}

// By way of another constructor: should a member fail, the destructor ends the others.
ProcessTeam::ProcessTeam(const std::string& case_name, int device_index, std::uint32_t members,
                         const std::vector<std::string>& environment)
    : ProcessTeam(members) {
  std::vector<std::string> command = {"/usr/bin/env", fmt::format("{}={}", kVariable, file_)};
  command.insert(command.end(), environment.begin(), environment.end());
  for (const std::string& word :
       {std::filesystem::read_symlink("/proc/self/exe").string(), std::string("run"),
        std::string("--profile"), case_name, std::string("--device"), std::to_string(device_index)})
    command.push_back(word);
  for (std::uint32_t i = 0; i < members; ++i)
    threads_.emplace_back([this, command] {
      std::string failure;
      try {
        const ToolOutput output = run_tool(command);
        if (output.status == 0 && memory_->round == TeamMemory::kOver) return;
        failure =
            fmt::format("a worker process ended with status {}: {}", output.status, output.errors);
        failure.erase(failure.find_last_not_of(" \n") + 1);
      } catch (const std::exception& error) {
        failure = error.what();
      }
      const std::lock_guard lock(mutex_);
      if (failure_.empty()) failure_ = std::move(failure);
    });
  wait_for([this] { return memory_->joined == members_; });
}

ProcessTeam::~ProcessTeam() {
  memory_->round = TeamMemory::kOver;
  threads_.clear();  // joins: members see the round, or have ended
  munmap(memory_, sizeof(TeamMemory));
  close(file_);
}

void ProcessTeam::wait_for(const Callable<bool()>& done) {
  const double begin = host_us();
  while (!done()) {
    {
      const std::lock_guard lock(mutex_);
      if (!failure_.empty()) throw Error(ExitCode::failed, failure_);
    }
    if (host_us() - begin > kPatienceUs)
      throw Error(ExitCode::failed, "the worker processes did not answer within a minute");
    usleep(200);
  }
}

std::vector<TeamReport> ProcessTeam::run(const TeamOrder& order) {
  memory_->order = order;
  memory_->order.start_us = host_us() + 1000;  // by when each has seen the round
  memory_->done = 0;
  ++memory_->round;
  wait_for([&] { return memory_->done == members_; });
  return {memory_->reports, memory_->reports + order.members};
}

bool serve_team(const Callable<void(const TeamOrder&, TeamReport&)>& work) {
  const char* file = std::getenv(kVariable);
  if (!file) return false;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed leader takes its members along
  TeamMemory* memory = map(static_cast<int>(std::strtol(file, nullptr, 10)));
  if (getppid() != memory->leader) return true;  // it was killed before that
  const std::uint32_t rank = memory->joined++;
  for (std::uint32_t seen = 0;;) {
    const std::uint32_t round = memory->round;
    if (round == seen) {
      usleep(100);
      continue;
    }
    if (round == TeamMemory::kOver) return true;
    seen = round;
    const TeamOrder order = memory->order;
    while (host_us() < order.start_us) {
    }
    if (rank < order.members) work(order, memory->reports[rank]);
    ++memory->done;
  }
}

}  // namespace assay
