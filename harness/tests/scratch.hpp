// SPDX-License-Identifier: Apache-2.0
// What tests of files share.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "harness/error.hpp"

namespace assay {

// A fixture with a fresh folder for each test.
class ScratchFolder : public testing::Test {
 protected:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() override {
    std::error_code ignored;
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(folder_, ignored);
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

// Root may do anything, so that tests of permissions run as nobody; whoever else runs them, as
// themselves. `folder` is then visible to all.
class AsNobody {
 public:
  explicit AsNobody(const std::filesystem::path& folder) {
    if (::geteuid() != 0) return;
    std::filesystem::permissions(folder, std::filesystem::perms(0055),
                                 std::filesystem::perm_options::add);
    if (::seteuid(65534) != 0) std::abort();
  }
  ~AsNobody() {
    if (::getuid() == 0 && ::seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
};

// The one line of the Error that `action` throws, which must have this exit code.
template <class F>
std::string message_of(ExitCode code, F&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "nothing was thrown";
}

inline std::string content_of(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

}  // namespace assay
