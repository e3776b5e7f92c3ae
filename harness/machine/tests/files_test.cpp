// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace assay {
namespace {

TEST(Files, FoldersOfAVariableComeInItsOrderWithoutTheCurrentOne) {
  setenv("ASSAY_TEST_FOLDERS", ":/one::/two/three:.:four", 1);
  EXPECT_EQ(folders_of("ASSAY_TEST_FOLDERS"),
            (std::vector<std::filesystem::path>{"/one", "/two/three"}));
  unsetenv("ASSAY_TEST_FOLDERS");
  EXPECT_TRUE(folders_of("ASSAY_TEST_FOLDERS").empty());
}

TEST(Files, AncestorsEndAtTheRoot) {
  EXPECT_EQ(ancestors("/a/b"), (std::vector<std::filesystem::path>{"/a/b", "/a", "/"}));
  EXPECT_TRUE(ancestors("").empty());
}

TEST(Files, ThisProgramLiesInItsFolder) {
  EXPECT_TRUE(is_executable(std::filesystem::read_symlink("/proc/self/exe")));
  EXPECT_EQ(executable_folder(), std::filesystem::read_symlink("/proc/self/exe").parent_path());
  EXPECT_FALSE(is_executable(executable_folder()));
}

TEST(Files, WriteAllSaysWhyItCouldNot) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  EXPECT_EQ(write_all(full, "anything"), ENOSPC);
  EXPECT_EQ(write_all(full, ""), 0);
  ::close(full);
}

}  // namespace
}  // namespace assay
