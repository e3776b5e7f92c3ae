// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/mps_daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/error.hpp"

namespace assay {
namespace {

// Starts the daemon, tells so by the file `ready`, waits for the end of the pipe `alive`, and ends
// all that the daemon started. In a session of its own, so that what is sent to the group of its
// leader, a Ctrl-C or a kill, does not keep it from that.
constexpr const char* kGuard = R"sh(
folder=$1 alive=$2
if ! command -v nvidia-cuda-mps-control >/dev/null; then
  echo 'nvidia-cuda-mps-control is not on the PATH' >&2
  exit 1
fi
ask() { echo "$1" | timeout 15 nvidia-cuda-mps-control 2>/dev/null; }
nvidia-cuda-mps-control -f >"$folder/said" 2>&1 &
daemon=$!
runs() { kill -0 "$daemon" 2>/dev/null; }
tries=0
while runs && [ $tries -lt 100 ] && [ ! -e "$folder/ready" ]; do
  case $(ask get_default_active_thread_percentage) in
    [0-9]*) : >"$folder/ready" ;;
    *) sleep 0.05 ;;
  esac
  tries=$((tries + 1))
done
if [ -e "$folder/ready" ]; then
  read -r _ <"$alive"
else
  echo "nvidia-cuda-mps-control does not answer: $(tail -n 1 "$folder/said")" >&2
fi
ask 'quit -t 5' >/dev/null
tries=0
while runs && [ $tries -lt 20 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
runs && kill -KILL "$daemon"
wait "$daemon"
rm -rf "$folder"
kill -KILL 0
)sh";

// Asks the daemon for the process ids of its servers: there is none before it has a client.
constexpr const char* kServers = "echo get_server_list | nvidia-cuda-mps-control";

std::string text_of(const std::string& text) {  // without line ends behind it
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

std::vector<std::string> command(const std::vector<std::string>& environment,
                                 const std::vector<std::string>& program) {
  std::vector<std::string> all = {"/usr/bin/env"};
  all.insert(all.end(), environment.begin(), environment.end());
  all.insert(all.end(), program.begin(), program.end());
  return all;
}

}  // namespace

std::string gpu_uuid(const char bytes[16]) {
  std::string uuid = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return uuid;
}

MpsDaemon::MpsDaemon(const std::string& gpu) {
  // The names of its sockets are short, as they must be.
  folder_ = (std::filesystem::temp_directory_path() / "assay-mps-XXXXXX").string();
  if (!mkdtemp(folder_.data()) || pipe2(alive_, O_CLOEXEC) != 0)
    throw Error(ExitCode::io,
                fmt::format("cannot create a folder for MPS in {}: {}",
                            std::filesystem::temp_directory_path().string(), std::strerror(errno)));
  std::filesystem::create_directory(folder_ + "/pipe");
  std::filesystem::create_directory(folder_ + "/log");
  environment_ = {"CUDA_MPS_PIPE_DIRECTORY=" + folder_ + "/pipe",
                  "CUDA_MPS_LOG_DIRECTORY=" + folder_ + "/log", "CUDA_VISIBLE_DEVICES=" + gpu};
  // The guard inherits the reading end, above what run_tool() gives it.
  const int inherited = fcntl(alive_[0], F_DUPFD, 10);
  close(alive_[0]);
  alive_[0] = inherited;
  guard_ = std::jthread([this, inherited] {
    try {
      guard_output_ = run_tool(command(environment_, {"setsid", "sh", "-c", kGuard, "sh", folder_,
                                                      fmt::format("/dev/fd/{}", inherited)}));
    } catch (const std::exception& error) {
      guard_output_.errors = error.what();
    }
    ended_ = true;
  });
  while (!ended_ && !std::filesystem::exists(folder_ + "/ready")) usleep(1000);
  if (!ended_) return;
  close(alive_[0]);
  close(alive_[1]);
  std::filesystem::remove_all(folder_);
  throw Error(ExitCode::unfit, text_of(guard_output_.errors));
}

MpsDaemon::~MpsDaemon() {
  close(alive_[1]);
  guard_.join();
  close(alive_[0]);
}

bool MpsDaemon::used() const {
  const ToolOutput servers = run_tool(command(environment_, {"sh", "-c", kServers}));
  return servers.text.find_first_of("123456789") != std::string::npos;
}

}  // namespace assay
