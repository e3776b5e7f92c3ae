// SPDX-License-Identifier: Apache-2.0
#include "harness/run/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "harness/error.hpp"
#include "harness/machine/files.hpp"
#include "harness/run/descriptions.hpp"
#include "harness/run/loop_texts.hpp"

namespace assay {
namespace {

constexpr const char* kFile = "journal.jsonl";

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

bool is_measurement(const Json& line) {
  const auto found = line.is_object() ? line.find("measurement") : line.end();
  return line.is_object() && found != line.end() && found->is_object() && found->contains("name") &&
         (*found)["name"].is_string();
}

}  // namespace

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

Journal::Journal(Journal&& other) noexcept
    : folder_(std::move(other.folder_)),
      file_(std::exchange(other.file_, -1)),
      header_(std::move(other.header_)),
      measurements_(std::move(other.measurements_)),
      finished_(std::move(other.finished_)) {}

Journal Journal::create(const std::filesystem::path& folder, const Json& header) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto path = folder / kFile;
  if (error) fail(path, error.value());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST)
    throw Error(ExitCode::usage, fmt::format("{} holds a run already: go on with --resume {}, or "
                                             "choose another folder with --out",
                                             folder.string(), folder.string()));
  if (file < 0) fail(path, errno);
  Journal journal(folder, file);
  lock(file, folder);
  journal.header_ = header;
  journal.append_line(header.dump());
  return journal;
}

Journal Journal::resume(const std::filesystem::path& folder) {
  const auto path = folder / kFile;
  std::ifstream in(path);
  if (!in)
    throw Error(ExitCode::usage, fmt::format("{} holds no run to resume: there is no {} in it",
                                             folder.string(), kFile));
  std::vector<Json> lines;
  std::string line;
  std::streamoff good = 0;  // bytes up to the end of the last whole line
  while (std::getline(in, line) && !in.eof()) {
    lines.push_back(Json::parse(line, nullptr, false));
    if (lines.size() > 1 ? !is_measurement(lines.back()) : lines.back().is_discarded())
      throw Error(ExitCode::usage, fmt::format("{}: line {} is not a measurement: restore the file "
                                               "or delete that line, then --resume again",
                                               path.string(), lines.size()));
    good = in.tellg();
  }
  if (lines.empty())
    throw Error(ExitCode::usage, fmt::format("{} was cut off before its first line was whole: "
                                             "delete the folder and start again",
                                             path.string()));
  require_schema(lines.front(), path);
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) fail(path, errno);
  Journal journal(folder, file);
  lock(file, folder);
  if (::ftruncate(file, good) != 0) fail(path, errno);
  journal.header_ = std::move(lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) journal.remember(lines[i]["measurement"]);
  return journal;
}

void Journal::remember(const Json& measurement) {
  finished_.emplace(measurement.at("name"), measurement.value("repetition", 0));
  measurements_.push_back(measurement);
}

void Journal::append(const Json& measurement) {
  append_line(Json{{"measurement", measurement}}.dump());
  remember(measurement);
}

// One write() a line: with O_APPEND it lands whole or, on a full disk or a kill, is cut off at the
// end of the file, where resume() finds it.
void Journal::append_line(const std::string& line) {
  if (const int error = write_all(file_, line + "\n")) fail(folder_ / kFile, error);
  if (::fsync(file_) != 0) fail(folder_ / kFile, errno);
}

bool Journal::has(const std::string& name, int repetition) const {
  return finished_.contains({name, repetition});
}

std::filesystem::path Journal::write_run_file() const {
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
  const auto path = folder_ / "run.json";
  write_atomically(path, text);
  return path;
}

}  // namespace assay
