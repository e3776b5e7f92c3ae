// SPDX-License-Identifier: Apache-2.0
#include "harness/run/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>

#include "harness/error.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"
#include "harness/run/descriptions.hpp"
#include "harness/run/json_io.hpp"
#include "harness/run/loop_texts.hpp"

namespace assay {
namespace {

constexpr const char *kFile = "journal.jsonl", *kRunFile = "run.json";

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw Error(ExitCode::io,
              fmt::format("cannot write {}: {}: {}", path.string(), std::strerror(error),
                          error == ENOSPC || error == EDQUOT || error == EFBIG
                              ? "free some space, then go on with --resume"
                              : "choose a folder you may write to with --out"));
}

// One run has one writer. A file system without locks is trusted: only "held" counts.
void lock(int file, const std::filesystem::path& folder) {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error(ExitCode::usage, fmt::format("another process is measuring into {}: wait until it "
                                             "ends, or choose another folder with --out",
                                             folder.string()));
}

constexpr std::size_t kLargestJournal = std::size_t{2} << 30;  // bytes: hundreds of full runs

struct Line {
  JsonSource source;  // the file and the number of the line
  Json json;
};

JsonSource source_of_line(const std::filesystem::path& path, std::size_t number) {
  return {fmt::format("{}: line {}", path.string(), number),
          "restore the file or delete that line, then --resume again"};
}

// The whole lines of a journal, and how many bytes they take.
std::vector<Line> whole_lines(const std::filesystem::path& path, std::size_t& bytes) {
  const std::string content = read_file(path, kLargestJournal);
  std::vector<Line> lines;
  for (bytes = 0;;) {
    const std::size_t end = content.find('\n', bytes);
    if (end == content.npos) return lines;
    const JsonSource source = source_of_line(path, lines.size() + 1);
    const std::string_view line = std::string_view(content).substr(bytes, end - bytes);
    lines.push_back({source, parse_json(line, source)});
    bytes = end + 1;
  }
}

Journal::Key key_of(const Json& measurement) {
  return {measurement.at("name"), measurement.at("repetition")};
}

}  // namespace

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

Journal::Journal(Journal&& other) noexcept
    : folder_(std::move(other.folder_)),
      file_(std::exchange(other.file_, -1)),
      place_(std::exchange(other.place_, {})),
      header_(std::move(other.header_)),
      measurements_(std::move(other.measurements_)),
      finished_(std::move(other.finished_)) {}

void Journal::require_none_in(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const char* file : {kFile, kRunFile})
    if (std::filesystem::exists(std::filesystem::symlink_status(folder / file, ignored)))
      throw Error(ExitCode::usage, fmt::format("{} holds a run already: go on with --resume {}, or "
                                               "choose another folder with --out",
                                               folder.string(), shell_word(folder.string())));
}

// Makes the folder and, in it, a file that was not there.
void Journal::open_new() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const auto path = folder_ / kFile;
  if (error) fail(path, error.value());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST) require_none_in(folder_);
  if (file < 0) fail(path, errno);
  hold(file);
}

void Journal::hold(int file) {
  if (file_ >= 0) ::close(file_);
  file_ = file;
  struct stat status {};
  if (::fstat(file, &status) != 0) fail(folder_ / kFile, errno);
  place_ = {status.st_dev, status.st_ino};
  lock(file, folder_);
}

Journal Journal::create(const std::filesystem::path& folder, const Json& header) {
  require_none_in(folder);
  Journal journal(folder);
  journal.open_new();
  journal.header_ = header;
  journal.append_line(header.dump());
  return journal;
}

Journal Journal::resume(const std::filesystem::path& folder) {
  const auto path = folder / kFile;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw Error(ExitCode::usage, fmt::format("{} holds no run to resume: there is no {} in it",
                                             excerpt(folder.string()), kFile));
  std::size_t good = 0;  // bytes up to the end of the last whole line
  std::vector<Line> lines = whole_lines(path, good);
  if (lines.empty())
    throw Error(ExitCode::usage, fmt::format("{} was cut off before its first line was whole: "
                                             "delete the folder and start again",
                                             path.string()));
  require_schema(lines.front().json, {path.string()});
  check_header({lines.front().json, lines.front().source});
  std::map<Key, std::size_t> line_of;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Field measurement = Field(lines[i].json, lines[i].source).at("measurement");
    check_measurement(measurement, true);
    const auto [first, is_new] = line_of.emplace(key_of(lines[i].json["measurement"]), i + 1);
    if (!is_new)
      measurement.refuse(
          fmt::format("is '{}' again, which line {} holds", first->first.first, first->second));
  }
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) fail(path, errno);
  Journal journal(folder);
  journal.hold(file);
  if (::ftruncate(file, static_cast<off_t>(good)) != 0) fail(path, errno);
  journal.header_ = std::move(lines.front().json);
  for (std::size_t i = 1; i < lines.size(); ++i) journal.remember(lines[i].json["measurement"]);
  return journal;
}

void Journal::remember(const Json& measurement) {
  finished_.insert(key_of(measurement));
  measurements_.push_back(measurement);
}

// Whether the file that is open is still the one in the folder.
bool Journal::is_in_place() const {
  struct stat there {};
  return ::stat((folder_ / kFile).c_str(), &there) == 0 &&
         place_ == std::pair<std::uint64_t, std::uint64_t>(there.st_dev, there.st_ino);
}

void Journal::restore() {
  if (is_in_place()) return;
  open_new();
  tell(fmt::format("{} was deleted: it is made again with the {} measurements so far",
                   (folder_ / kFile).string(), measurements_.size()));
  append_line(header_.dump());
  for (const Json& measurement : measurements_)
    append_line(Json{{"measurement", measurement}}.dump());
}

void Journal::append(const Json& measurement) {
  restore();
  append_line(Json{{"measurement", measurement}}.dump());
  remember(measurement);
}

// One write() a line: with O_APPEND it lands whole or, on a full disk or a kill, is cut off at the
// end of the file, where resume() finds it.
void Journal::append_line(const std::string& line) {
  if (const int error = write_all(file_, line + "\n")) fail(folder_ / kFile, error);
  if (::fsync(file_) != 0) fail(folder_ / kFile, errno);
}

JsonSource Journal::source() const {
  return {fmt::format("{}: line 1", (folder_ / kFile).string()), "start a new run"};
}

JsonSource Journal::source_of(std::size_t measurement) const {
  return source_of_line(folder_ / kFile, measurement + 2);  // the header is line 1
}

std::string Journal::difference_from(const Json& environment) const {
  const Json& then = header_.at("environment");
  const auto differs = [](const Json& a, const Json& b, std::string_view what,
                          std::initializer_list<const char*> keys) -> std::string {
    const auto of = [](const Json& json, const char* key) {
      return json.is_object() && json.contains(key) ? json[key] : Json(nullptr);
    };
    for (const char* key : keys)
      if (of(a, key) != of(b, key))
        return fmt::format("{} ({}: {}, here {})", what, key, excerpt(of(a, key).dump()),
                           excerpt(of(b, key).dump()));
    return "";
  };
  const auto part = [](const Json& whole, const char* key) {
    return whole.contains(key) ? whole[key] : Json(nullptr);
  };
  const Json gpu = part(then, "gpu"), gpu_here = part(environment, "gpu");
  const bool has_ids = !text_in(gpu, "id").empty() && !text_in(gpu_here, "id").empty();
  for (std::string found :
       {differs(part(then, "assay"), part(environment, "assay"), "another build of assay",
                {"version", "commit", "dirty", "nvcc", "compiler"}),
        has_ids ? differs(gpu, gpu_here, "another GPU", {"id"})
                : differs(gpu, gpu_here, "another GPU", {"name", "architecture", "memory_bytes"}),
        gpu.is_null() ? "" : differs(then, environment, "another driver", {"driver"}),
        differs(part(then, "host"), part(environment, "host"), "another host",
                {"cpu", "logical_cores", "numa_nodes", "memory_bytes"})})
    if (!found.empty()) return found;
  return "";
}

bool Journal::has(const std::string& name, int repetition) const {
  return finished_.contains({name, repetition});
}

std::filesystem::path Journal::write_run_file() {
  restore();
  LoopTexts loops;
  Json head = header_;
  head["metrics"] = metric_descriptions(measurements_);
  std::string text = "{\n";
  for (const auto& [key, value] : head.items())
    text += fmt::format("{}: {},\n", Json(key).dump(), value.dump(1));
  text += "\"measurements\": [";
  const char* separator = "\n";
  for (Json measurement : measurements_) {
    loops.take_from(measurement);
    text += separator + measurement.dump();
    separator = ",\n";
  }
  text += "\n]}\n";
  loops.write(folder_);
  const auto path = folder_ / kRunFile;
  write_atomically(path, text);
  return path;
}

}  // namespace assay
