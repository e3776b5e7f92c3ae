// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/environment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace assay {
namespace {
namespace fs = std::filesystem;

// A little file system such as a kernel shows.
class FakeRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("assay_environment_" + std::to_string(getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  fs::path root_;
};

TEST_F(FakeRoot, ReadsAnX86Host) {
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor\n");
  write("proc/meminfo", "MemTotal:       1056436224 kB\nMemFree: 1 kB\n");
  write("proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
  write("etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\n");
  write("sys/devices/system/node/node0/cpulist", "0-95\n");
  write("sys/devices/system/node/node1/cpulist", "96-191\n");
  write("sys/devices/system/node/possible", "0-1\n");
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");

  const HostEnvironment host = host_environment(root_);
  EXPECT_EQ(host.cpu, "AMD EPYC 9654 96-Core Processor");
  EXPECT_EQ(host.memory_bytes, 1056436224ull * 1024);
  EXPECT_EQ(host.kernel, "6.8.0-45-generic");
  EXPECT_EQ(host.system, "Ubuntu 24.04.1 LTS");
  EXPECT_EQ(host.numa_nodes, 2);
  EXPECT_EQ(host.governor, "performance");
}

TEST_F(FakeRoot, NamesAnArmCpuThatHasNoModelName) {
  write("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
  EXPECT_EQ(host_environment(root_).cpu, "Arm Neoverse V2");
  write("proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xabc\n");
  EXPECT_EQ(host_environment(root_).cpu, "Arm implementer 0x41 part 0xabc");
}

TEST_F(FakeRoot, LeavesEmptyWhatTheSystemDoesNotTell) {
  const HostEnvironment host = host_environment(root_);
  EXPECT_TRUE(host.cpu.empty());
  EXPECT_TRUE(host.governor.empty());
  EXPECT_EQ(host.memory_bytes, 0u);
  EXPECT_GT(host.logical_cores, 0);
}

TEST(Environment, SaysWhatThisBuildIs) {
  const BuildEnvironment build = build_environment();
  EXPECT_FALSE(build.version.empty());
  EXPECT_FALSE(build.nvcc.empty());
  EXPECT_FALSE(build.compiler.empty());
  EXPECT_TRUE(build.type == "release" || build.type == "debug") << build.type;
  EXPECT_EQ(build.commit.find("dirty"), std::string::npos);
}

// True on every machine: a GPU, or the reason why there is none.
TEST(Environment, CapturesThisMachine) {
  const Environment here = capture_environment(0);
  EXPECT_NE(static_cast<bool>(here.gpu), !here.gpu.reason().empty());
  EXPECT_TRUE(here.cuda_runtime.starts_with("13.")) << here.cuda_runtime;
  EXPECT_FALSE(here.host.kernel.empty());
  EXPECT_GT(here.host.memory_bytes, 0u);
  if (here.gpu) {
    EXPECT_TRUE(here.gpu->device.pci_bus_id.empty());
  }
}

}  // namespace
}  // namespace assay
