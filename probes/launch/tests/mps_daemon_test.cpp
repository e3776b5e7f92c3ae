// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/mps_daemon.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/error.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Stands for NVIDIA's: -f serves until it is told to quit, anything else asks it.
constexpr const char* kControl = R"sh(#!/bin/sh
state=$CUDA_MPS_PIPE_DIRECTORY/state
if [ "$1" = -f ]; then
  echo "starting for $CUDA_VISIBLE_DEVICES"
  [ -z "$ASSAY_TEST_REFUSE" ] || { echo "An instance of this daemon is already running"; exit 1; }
  echo $$ >"$state"
  echo $$ >"$ASSAY_TEST_PID"
  while [ -e "$state" ]; do sleep 0.02; done
  exit 0
fi
read -r command
[ -e "$state" ] || { echo 'Cannot find MPS control daemon process'; exit 1; }
case $command in
  get_default*) echo 100.0 ;;
  get_server_list) cat "$state" ;;
  quit*) [ -n "$ASSAY_TEST_STUBBORN" ] || rm "$state" ;;
esac
)sh";

class MpsDaemonTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "assay-test-XXXXXX").string();
    folder_ = mkdtemp(folder.data());
    path_ = std::getenv("PATH");
    std::ofstream(folder_ / "nvidia-cuda-mps-control") << kControl;
    fs::permissions(folder_ / "nvidia-cuda-mps-control", fs::perms::owner_all);
    setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
    setenv("ASSAY_TEST_PID", (folder_ / "pid").c_str(), 1);
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    for (const char* name :
         {"ASSAY_TEST_PID", "ASSAY_TEST_STUBBORN", "ASSAY_TEST_REFUSE", "TMPDIR"})
      unsetenv(name);
    fs::remove_all(folder_);
  }

  bool runs() const {
    pid_t pid = 0;
    std::ifstream(folder_ / "pid") >> pid;
    return pid > 0 && kill(pid, 0) == 0;
  }
  std::size_t folders_left() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) count += entry.is_directory();
    return count;
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(MpsDaemonTest, LivesAsLongAsItsOwner) {
  {
    const MpsDaemon daemon("GPU-1");
    EXPECT_TRUE(runs());
    EXPECT_TRUE(daemon.used());
    ASSERT_EQ(daemon.environment().size(), 3u);
    EXPECT_EQ(daemon.environment()[2], "CUDA_VISIBLE_DEVICES=GPU-1");
  }
  EXPECT_FALSE(runs());
  EXPECT_EQ(folders_left(), 0u);
}

TEST_F(MpsDaemonTest, IsKilledWhenItDoesNotQuit) {
  setenv("ASSAY_TEST_STUBBORN", "1", 1);
  { const MpsDaemon daemon("GPU-1"); }
  EXPECT_FALSE(runs());
  EXPECT_EQ(folders_left(), 0u);
}

TEST_F(MpsDaemonTest, EndsWhenItsOwnerIsKilled) {
  const pid_t owner = fork();
  if (owner == 0) {
    setpgid(0, 0);
    const MpsDaemon daemon("GPU-1");
    kill(0, SIGKILL);
  }
  int status = 0;
  waitpid(owner, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (int i = 0; i < 500 && (runs() || folders_left() > 0); ++i) usleep(10'000);
  EXPECT_FALSE(runs());
  EXPECT_EQ(folders_left(), 0u);
}

TEST_F(MpsDaemonTest, SaysWhyItDoesNotStart) {
  setenv("ASSAY_TEST_REFUSE", "1", 1);
  try {
    const MpsDaemon daemon("GPU-1");
    FAIL() << "it started";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unfit);
    EXPECT_STREQ(error.what(),
                 "nvidia-cuda-mps-control does not answer: An instance of this daemon is already "
                 "running");
  }
  EXPECT_EQ(folders_left(), 0u);
}

TEST_F(MpsDaemonTest, SaysThatThereIsNone) {
  fs::remove(folder_ / "nvidia-cuda-mps-control");
  if (system("command -v nvidia-cuda-mps-control >/dev/null") == 0) GTEST_SKIP() << "there is one";
  try {
    const MpsDaemon daemon("GPU-1");
    FAIL() << "it started";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "nvidia-cuda-mps-control is not on the PATH");
  }
  EXPECT_EQ(folders_left(), 0u);
}

TEST(GpuUuid, ReadsAsTheDriverShowsIt) {
  const unsigned char bytes[16] = {0x00, 0x1f, 0x80, 0xff, 0x12, 0x34, 0x56, 0x78,
                                   0x9a, 0xbc, 0xde, 0xf0, 0x01, 0x02, 0x03, 0x0a};
  EXPECT_EQ(gpu_uuid(reinterpret_cast<const char*>(bytes)),
            "GPU-001f80ff-1234-5678-9abc-def00102030a");
}

}  // namespace
}  // namespace assay
