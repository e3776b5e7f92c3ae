// SPDX-License-Identifier: Apache-2.0
#include "harness/run/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/machine/files.hpp"
#include "harness/probe.hpp"
#include "harness/run/json_io.hpp"

namespace assay {
namespace {

constexpr int kRequests = 3, kAnswers = 4;
const JsonSource kRequest{"what the measuring process is asked", "measure again"};
const JsonSource kAnswer{"what the measuring process answered", "measure again"};

bool write_line(int file, const std::string& line) { return write_all(file, line + "\n") == 0; }

struct CaseRef {
  const Probe* probe;
  const Case* which;
};

CaseRef find_case(const std::string& name) {
  for (const Probe* probe : probes())
    for (const Case& which : probe->cases)
      if (probe->full_name(which) == name) return {probe, &which};
  throw Error(ExitCode::usage, "no case is named '" + name + "'");
}

// The GPU, opened when the first case needs it: host cases run without one.
class Gpu {
 public:
  explicit Gpu(int index) : index_(index) {}
  Json describe() const {
    Json answer;
    answer["environment"] = to_json(capture_environment(index_));
    try {
      answer["target"] = name(device(index_).target);
    } catch (const Error& error) {
      answer["target"] = name(Target::host);
      answer["no_gpu"] = error.what();
    }
    return answer;
  }
  GpuContext* context(int siblings) {
    if (!context_) context_.emplace(device(index_));
    context_->siblings = siblings;
    return &*context_;
  }
  // Opens it before it is asked for, which takes some tenths of a second. Where that fails, the
  // first case tries again and says what is wrong.
  bool prepare() noexcept {
    try {
      context(0);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  int index_;
  std::optional<GpuContext> context_;
};

bool on_host(const Probe& probe, const Case& which) { return probe.exists_on(which, Target::host); }

}  // namespace

int worker_main(int device_index) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed parent takes its child along
  std::signal(SIGPIPE, SIG_IGN);
  Gpu gpu(device_index);
  std::string buffered;
  char chunk[4096];
  for (;;) {
    const auto end_of_line = buffered.find('\n');
    if (end_of_line == std::string::npos) {
      const ssize_t n = ::read(kRequests, chunk, sizeof chunk);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return 0;  // the parent is gone or done
      buffered.append(chunk, static_cast<std::size_t>(n));
      continue;
    }
    const Json request = parse_json(buffered.substr(0, end_of_line), kRequest);
    buffered.erase(0, end_of_line + 1);
    Json answer;
    try {
      if (request.at("ask") == "describe") {
        answer = gpu.describe();
      } else {
        const auto [probe, which] = find_case(request.at("name"));
        Measurement found = measure_case(
            *probe, *which, options_from_json(Field(request, kRequest).at("options")),
            on_host(*probe, *which) ? nullptr : gpu.context(request.value("siblings", 0)));
        answer["measurement"] = to_json(found);
        answer["loaded"] = found.loaded;
        answer["launches"] = to_json(found.launches);
        answer["recorded_kernel"] = found.recorded_kernel;
        // A fault in a kernel poisons the CUDA context: the next case needs a fresh process.
        if (found.status == Status::failed && cudaDeviceSynchronize() != cudaSuccess)
          answer["context_lost"] = true;
      }
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    // What an error says may hold any bytes; JSON holds UTF-8.
    if (!write_line(kAnswers, answer.dump(-1, ' ', false, Json::error_handler_t::replace)))
      return 0;
    // While the parent checks machine code.
    if (request.value("prepare", false)) gpu.prepare();
  }
}

Worker::Worker(int device_index) {
  int requests[2], answers[2];
  if (::pipe2(requests, O_CLOEXEC) != 0 || ::pipe2(answers, O_CLOEXEC) != 0)
    throw Error(ExitCode::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const std::string device = std::to_string(device_index);
  pid_ = ::fork();
  if (pid_ < 0)
    throw Error(ExitCode::io, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid_ == 0) {
    // Out of the way of 3 and 4 first: dup2 onto them must not close a pipe end still needed.
    const int from = ::fcntl(requests[0], F_DUPFD, 10), to = ::fcntl(answers[1], F_DUPFD, 10);
    ::dup2(from, kRequests);
    ::dup2(to, kAnswers);
    ::close(from);
    ::close(to);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is the parent's answer to its caller
    std::signal(SIGINT, SIG_IGN);          // Ctrl-C is the parent's to handle
    std::signal(SIGHUP, SIG_IGN);          // and so is the end of the terminal
    ::execl("/proc/self/exe", "assay", "worker", "--device", device.c_str(), nullptr);
    _exit(127);
  }
  ::close(requests[0]);
  ::close(answers[1]);
  request_ = requests[1];
  answer_ = answers[0];
}

Worker::~Worker() {
  if (request_ >= 0) ::close(request_);
  if (answer_ >= 0) ::close(answer_);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);  // nothing it has left to do matters: answers are already here
    ::waitpid(pid_, nullptr, 0);
  }
}

void Worker::kill_child(std::string why) {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  died_of_ = std::move(why);
}

std::optional<Json> Worker::ask(const Json& request, std::chrono::duration<double> deadline,
                                const volatile std::sig_atomic_t* cancel) {
  if (!alive()) return std::nullopt;
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(deadline);
  if (!write_line(request_, request.dump())) kill_child("the measuring process ended");
  while (alive()) {
    if (const auto end = pending_.find('\n'); end != std::string::npos) {
      const Json answer = parse_json(pending_.substr(0, end), kAnswer);
      pending_.erase(0, end + 1);
      return answer;
    }
    if (cancel && *cancel) {
      kill_child("interrupted");
      break;
    }
    const auto left = std::chrono::duration<double>(until - Clock::now()).count();
    if (left <= 0) {
      kill_child(fmt::format("timeout: no answer within {:g} s", deadline.count()));
      break;
    }
    pollfd ready{answer_, POLLIN, 0};
    // Short naps: a signal that arrives between the check above and poll() is seen soon.
    if (::poll(&ready, 1, static_cast<int>(std::min(left * 1e3 + 1, 200.0))) <= 0) continue;
    char chunk[65536];
    const ssize_t n = ::read(answer_, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) {
      pending_.append(chunk, static_cast<std::size_t>(n));
      continue;
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    died_of_ = WIFSIGNALED(status)
                   ? fmt::format("the measuring process died: {}", ::strsignal(WTERMSIG(status)))
                   : fmt::format("the measuring process exited with {}", WEXITSTATUS(status));
  }
  return std::nullopt;
}

}  // namespace assay
