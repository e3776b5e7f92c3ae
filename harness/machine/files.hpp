// SPDX-License-Identifier: Apache-2.0
// Files: where programs lie, and writing that is whole or not at all.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The folder of the running executable; empty where /proc does not tell.
std::filesystem::path executable_folder();

// `start` and every folder above it, nearest first.
std::vector<std::filesystem::path> ancestors(std::filesystem::path start);

// The folders that an environment variable such as PATH lists; those that depend on the current
// folder are left out.
std::vector<std::filesystem::path> folders_of(const char* variable);

// Whether it is a regular file that this user may execute.
bool is_executable(const std::filesystem::path& path);

// The content of a regular file of at most `most` bytes. Throws Error(usage) naming the path and
// the reason; a pipe or a device, which may have no end, is not opened for long enough to wait for
// it.
std::string read_file(const std::filesystem::path& path, std::size_t most);

// Writes all of it to an open file, however many calls that takes. Returns 0, or errno.
int write_all(int file, std::string_view content);

// Writes beside the file, syncs and renames: a reader sees the old content or the new, never half.
// Of a link, the file that it leads to. Into what is no file, a terminal or a pipe, it writes as it
// is, or a file would take its place.
// Throws Error(io) naming the path and the reason (disk full, no permission).
void write_atomically(const std::filesystem::path& to, std::string_view content);

// Why that would fail, as far as can be told without making a file: an errno, or 0.
int obstacle_to_writing(const std::filesystem::path& path);

// A file of that name in the folder of what is kept for the next program: $ASSAY_CACHE_DIR, else
// $XDG_CACHE_HOME/assay, else ~/.cache/assay. Empty if there is none. A name holds the hash of all
// that the content depends on.
std::filesystem::path cache_path(const std::string& name);

// Writes there so that no reader ever sees half a file. Failure is not an error: it costs time.
void keep_in_cache(const std::filesystem::path& file, std::string_view content);

// A new folder among the temporary ones that only this user may enter. It goes, with all that is in
// it, when this does. The constructor throws Error(io) naming the place and the reason.
class PrivateFolder {
 public:
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;  // owns the folder
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace assay
