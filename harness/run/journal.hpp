// SPDX-License-Identifier: Apache-2.0
// Every finished measurement, on disk before the next one starts.
//
// journal.jsonl: a first line {"schema", "environment", "run"}, then one {"measurement": ...} a
// line, each synced. A torn last line (the machine died while it was written) is dropped on resume.
#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/json_io.hpp"

namespace assay {

class Journal {
 public:
  // Starts a run in `folder`, which is made if need be. Throws Error(usage) if a run is there
  // already, Error(io) if it cannot be written.
  static Journal create(const std::filesystem::path& folder, const Json& header);
  // Goes on with the run in `folder`. Throws Error(usage) if there is none, or if it was changed:
  // the message names the line and the field.
  static Journal resume(const std::filesystem::path& folder);
  // Throws Error(usage) if a run is in `folder`: nothing is written over one.
  static void require_none_in(const std::filesystem::path& folder);
  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;

  // Appends and syncs; throws Error(io) on a full disk. The file stays readable whatever happens.
  // If the folder was deleted meanwhile, it is made again with all that was measured, and this is
  // said on stderr.
  void append(const Json& measurement);
  const Json& header() const { return header_; }
  JsonSource source() const;                            // of the header, for messages
  JsonSource source_of(std::size_t measurement) const;  // of one of those that were resumed
  // Why measurements made in `environment` do not belong into this run: "another build of assay
  // (...)", another host, another GPU. Empty if they do.
  std::string difference_from(const Json& environment) const;
  // Has this repetition of the case been finished (ok, failed or skipped)?
  bool has(const std::string& name, int repetition) const;
  const std::vector<Json>& measurements() const { return measurements_; }

  // Writes run.json beside the journal from what it holds, a measurement a line, and the text of
  // its loops beside that (loop_texts.hpp); returns the path of run.json.
  std::filesystem::path write_run_file();

  // Name and repetition.
  using Key = std::pair<std::string, int>;

 private:
  explicit Journal(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void open_new();
  void hold(int file);
  bool is_in_place() const;
  void restore();
  void append_line(const std::string& line);
  void remember(const Json& measurement);

  std::filesystem::path folder_;
  int file_ = -1;
  std::pair<std::uint64_t, std::uint64_t> place_;  // device and number of the open file
  Json header_;
  std::vector<Json> measurements_;
  std::set<Key> finished_;
};

}  // namespace assay
