// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "harness/error.hpp"
#include "harness/machine/excerpt.hpp"

namespace assay {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void cannot_write(const fs::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const char* mend = full              ? "free some space, or choose another folder with --out"
                     : error == EACCES ? "choose a folder you may write to with --out"
                                       : "check the path";
  throw Error(ExitCode::io,
              fmt::format("cannot write {}: {}: {}", path.string(), std::strerror(error), mend));
}

}  // namespace

fs::path executable_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::vector<fs::path> ancestors(fs::path start) {
  std::vector<fs::path> found;
  for (; !start.empty(); start = start.parent_path()) {
    found.push_back(start);
    if (start == start.root_path()) break;
  }
  return found;
}

std::vector<fs::path> folders_of(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  const std::string_view list = value ? value : "";
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (list.substr(begin, end - begin).starts_with('/'))
      folders.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

bool is_executable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string read_file(const fs::path& path, std::size_t most) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::usage, fmt::format("cannot read {}: {}", excerpt(path.string()), why));
  };
  // Opening a pipe would wait for its writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) refuse(std::strerror(errno));
  const struct Closer {
    int file;
    ~Closer() { ::close(file); }
  } closer{file};
  struct stat status {};
  if (::fstat(file, &status) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse("it is a folder; give a file");
  if (!S_ISREG(status.st_mode)) refuse("it is a pipe or a device; give a regular file");
  if (static_cast<std::uint64_t>(status.st_size) > most)
    refuse(fmt::format("it has {} bytes; at most {} are read", status.st_size, most));
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t n = ::read(file, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse(std::strerror(errno));
    if (n == 0) content.resize(done);  // cut short meanwhile
    done += static_cast<std::size_t>(n);
  }
  return content;
}

int write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

namespace {

// What a link leads to, so that the link stays, /dev/stdout too.
fs::path without_link(const fs::path& path) {
  std::error_code none;
  if (!fs::is_symlink(path, none)) return path;
  const fs::path target = fs::canonical(path, none);
  return none ? path : target;
}

// Into a device, or into a pipe that somebody reads.
void write_as_it_is(const fs::path& path, std::string_view content) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) cannot_write(path, errno);
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  const int error = write_all(file, content);
  ::close(file);
  if (error) cannot_write(path, error);
}

}  // namespace

int obstacle_to_writing(const fs::path& path) {
  const auto may = [](const fs::path& what, int how) {
    return ::faccessat(AT_FDCWD, what.c_str(), how, AT_EACCESS) == 0;
  };
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  if (!there && errno != ENOENT) return errno;
  if (there && S_ISDIR(status.st_mode)) return EISDIR;
  if (there && !may(path, W_OK)) return errno;
  if (there && !S_ISREG(status.st_mode)) return 0;
  const fs::path folder = without_link(path).parent_path();
  return may(folder.empty() ? "." : folder, W_OK | X_OK) ? 0 : errno;
}

void write_atomically(const fs::path& to, std::string_view content) {
  struct stat status {};
  if (::stat(to.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return write_as_it_is(to, content);
  const fs::path path = without_link(to);
  const fs::path temporary = path.string() + ".part";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) cannot_write(path, errno);
  if (const int error = write_all(file, content)) {
    ::close(file);
    ::unlink(temporary.c_str());
    cannot_write(path, error);
  }
  if (::fsync(file) != 0 || ::close(file) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    cannot_write(path, error);
  }
}

fs::path cache_path(const std::string& name) {
  const auto environment = [](const char* variable) {
    const char* value = std::getenv(variable);
    return fs::path(value ? value : "");
  };
  if (const fs::path chosen = environment("ASSAY_CACHE_DIR"); !chosen.empty()) return chosen / name;
  if (const fs::path xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "assay" / name;
  if (const fs::path home = environment("HOME"); !home.empty()) return home / ".cache/assay" / name;
  return {};
}

// Under a name that no other process and no other thread writes, then renamed.
void keep_in_cache(const fs::path& file, std::string_view content) {
  static std::atomic<int> counter{0};
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const fs::path scratch =
      file.string() + "." + std::to_string(::getpid()) + "." + std::to_string(counter++);
  std::ofstream stream(scratch, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (stream) fs::rename(scratch, file, ignored);
  if (!stream || ignored) fs::remove(scratch, ignored);
}

PrivateFolder::PrivateFolder() {
  std::string name = (fs::temp_directory_path() / "assay-XXXXXX").string();  // mkdtemp()'s form
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(ExitCode::io,
                fmt::format("cannot make a folder in {}: {}", fs::temp_directory_path().string(),
                            std::strerror(errno)));
  path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace assay
