// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "harness/error.hpp"
#include "harness/machine/files.hpp"

namespace assay {
namespace {

[[noreturn]] void failed(const std::string& what, int error) {
  throw Error(ExitCode::io, "cannot " + what + ": " + std::strerror(error));
}

// An anonymous file in memory. Input and output go through these rather than pipes, so neither
// side can block the other and nothing is left on disk.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("assay", MFD_CLOEXEC)) {
    if (descriptor_ < 0) failed("create a file in memory", errno);
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;  // owns the descriptor
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }

  void write_all(std::span<const char> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (n < 0 && errno != EINTR) failed("write to a file in memory", errno);
      if (n > 0) done += static_cast<std::size_t>(n);
    }
  }

  std::string read_all() const {
    std::string text;
    char buffer[1 << 16];
    for (;;) {
      const ssize_t n = pread(descriptor_, buffer, sizeof buffer, static_cast<off_t>(text.size()));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed("read a tool's output", errno);
      if (n == 0) return text;
      text.append(buffer, static_cast<std::size_t>(n));
    }
  }

 private:
  int descriptor_;
};

}  // namespace

namespace {

// In the child: what it has in memory now is shared with the parent and does not count.
void limit_this_process() {
  constexpr rlim_t kMoreBytes = 64 << 20, kSeconds = 1;
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  for (const auto& [what, most] :
       {std::pair(RLIMIT_AS, bytes + kMoreBytes), std::pair(RLIMIT_CPU, kSeconds)}) {
    const rlimit limit{most, most};
    ::setrlimit(what, &limit);
  }
}

// A process that calls `f` and exits with 0, or with 1 if that throws.
pid_t begin_apart(const Callable<void()>& f) {
  const pid_t child = ::fork();
  if (child < 0)
    throw Error(ExitCode::unfit, std::string("cannot start a process: ") + std::strerror(errno));
  if (child > 0) return child;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  try {
    f();
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::optional<std::string> call_apart(const Callable<std::string()>& f, std::size_t longest) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) failed("make a pipe", errno);
  const pid_t child = begin_apart([&] {
    limit_this_process();
    const std::string result = f();
    if (result.size() > longest || ::assay::write_all(ends[1], result) != 0) _exit(1);
  });
  ::close(ends[1]);
  std::string result;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) result.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  const int status = status_of(child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::optional(result) : std::nullopt;
}

int signal_that_ends(const Callable<void()>& f) {
  const int status = status_of(begin_apart(f));
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

ToolOutput run_tool(const std::vector<std::string>& arguments, std::span<const char> input,
                    const std::filesystem::path& folder) {
  MemoryFile in, out, err;
  in.write_all(input);

  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  // Sources are first moved above the targets 1..3, so that no dup2 overwrites a later source.
  const auto high = [](int descriptor) {
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
    if (moved < 0) failed("duplicate a descriptor", errno);
    return moved;
  };
  const int sources[] = {high(out.descriptor()), high(err.descriptor()), high(in.descriptor())};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i) posix_spawn_file_actions_adddup2(&actions, sources[i], i + 1);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int error =
      posix_spawn(&child, arguments.front().c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  for (const int source : sources) close(source);
  if (error != 0) failed("start " + arguments.front(), error);

  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) failed("wait for " + arguments.front(), errno);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.read_all(),
          err.read_all()};
}

}  // namespace assay
