// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "harness/tests/scratch.hpp"

namespace assay {
namespace {

using FilesInAFolder = ScratchFolder;

TEST_F(FilesInAFolder, ALinkStaysAndLeadsToWhatWasWritten) {
  namespace fs = std::filesystem;
  write_atomically(folder() / "file", "old");
  fs::create_symlink("file", folder() / "link");
  write_atomically(folder() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder() / "link"));
  EXPECT_EQ(content_of(folder() / "file"), "new");
  // As /dev/stdout is where standard output goes to a file.
  const int open_file = ::open((folder() / "file").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(open_file, 0);
  fs::create_symlink("/proc/self/fd/" + std::to_string(open_file), folder() / "stdout");
  write_atomically(folder() / "stdout", "newer");
  ::close(open_file);
  EXPECT_TRUE(fs::is_symlink(folder() / "stdout"));
  EXPECT_EQ(content_of(folder() / "file"), "newer");
  fs::create_symlink("nowhere/file", folder() / "dangling");
  EXPECT_NO_THROW(write_atomically(folder() / "dangling", "there"));
}

TEST_F(FilesInAFolder, WhatCannotBeWrittenIsKnownBefore) {
  EXPECT_EQ(obstacle_to_writing(folder() / "file"), 0);
  EXPECT_FALSE(std::filesystem::exists(folder() / "file"));
  EXPECT_EQ(obstacle_to_writing(folder()), EISDIR);
  EXPECT_EQ(obstacle_to_writing(folder() / "none/file"), ENOENT);
  EXPECT_EQ(obstacle_to_writing("/dev/null"), 0);
  write_atomically(folder() / "file", "old");
  EXPECT_EQ(obstacle_to_writing(folder() / "file/file"), ENOTDIR);
  std::filesystem::create_directory(folder() / "inner");
  std::filesystem::permissions(folder() / "inner", std::filesystem::perms(0555));
  const AsNobody nobody(folder());
  EXPECT_EQ(obstacle_to_writing(folder() / "inner/new"), EACCES);
}

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
