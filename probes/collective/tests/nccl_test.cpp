// SPDX-License-Identifier: Apache-2.0
#include "probes/collective/nccl.hpp"

#include <gtest/gtest.h>
#include <cstdlib>
#include <optional>
#include <string>

#include "harness/error.hpp"

namespace assay::nccl {
namespace {

TEST(Nccl, ReadsItsVersionNumber) {
  EXPECT_EQ(version_text(NCCL_VERSION_CODE), std::to_string(NCCL_MAJOR) + "." +
                                                 std::to_string(NCCL_MINOR) + "." +
                                                 std::to_string(NCCL_PATCH));
}

TEST(Nccl, OpensWithoutAGpu) {
  try {
    EXPECT_GT(Library::get().version, 20000);
    EXPECT_STREQ(std::getenv("NCCL_NVLS_ENABLE"), "0");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
}

TEST(Multicast, IsOffUnlessAskedFor) {
  EXPECT_EQ(multicast_policy(nullptr, nullptr), Multicast::off);
  EXPECT_EQ(multicast_policy("", nullptr), Multicast::off);
  EXPECT_EQ(multicast_policy("0", nullptr), Multicast::off);
  EXPECT_EQ(multicast_policy("0", "0"), Multicast::off);
}

TEST(Multicast, RefusesWhatNcclWouldNotReadAsZero) {
  for (const char* value : {"1", "2", "-1", "0x1", "on", "false", "0 ", "no", "01"})
    EXPECT_EQ(multicast_policy(value, nullptr), Multicast::refused) << value;
  EXPECT_EQ(multicast_policy("1", "0"), Multicast::refused);
  EXPECT_EQ(multicast_policy("1", "yes"), Multicast::refused);
}

TEST(Multicast, IsAllowedByItsFullNameOnly) {
  EXPECT_EQ(multicast_policy("1", "1"), Multicast::allowed);
  EXPECT_EQ(multicast_policy(nullptr, "1"), Multicast::allowed);
}

// Sets a variable while it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Multicast, IsSwitchedOffInThisProcess) {
  const Environment nvls("NCCL_NVLS_ENABLE", nullptr);
  const Environment allow("ASSAY_ALLOW_NVLINK_MULTICAST", nullptr);
  forbid_nvlink_multicast();
  EXPECT_STREQ(std::getenv("NCCL_NVLS_ENABLE"), "0");
}

TEST(Multicast, OptInLeavesTheEnvironmentAlone) {
  const Environment nvls("NCCL_NVLS_ENABLE", nullptr);
  const Environment allow("ASSAY_ALLOW_NVLINK_MULTICAST", "1");
  forbid_nvlink_multicast();
  EXPECT_EQ(std::getenv("NCCL_NVLS_ENABLE"), nullptr);
}

TEST(Multicast, RefusalSaysHowToMend) {
  const Environment nvls("NCCL_NVLS_ENABLE", "1");
  const Environment allow("ASSAY_ALLOW_NVLINK_MULTICAST", nullptr);
  try {
    forbid_nvlink_multicast();
    FAIL() << "did not refuse";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("ASSAY_ALLOW_NVLINK_MULTICAST=1"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::nccl
