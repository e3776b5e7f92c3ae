// SPDX-License-Identifier: Apache-2.0
// Every finished measurement, on disk before the next one starts.
//
// journal.jsonl: a first line {"schema", "environment", "run"}, then one {"measurement": ...} a
// line, each synced. A torn last line (the machine died while it was written) is dropped on resume.
#pragma once
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
  // Goes on with the run in `folder`. Throws Error(usage) if there is none.
  static Journal resume(const std::filesystem::path& folder);
  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;

  // Appends and syncs; throws Error(io) on a full disk. The file stays readable whatever happens.
  void append(const Json& measurement);
  const Json& header() const { return header_; }
  // Has this repetition of the case been finished (ok, failed or skipped)?
  bool has(const std::string& name, int repetition) const;
  const std::vector<Json>& measurements() const { return measurements_; }

  // Writes run.json beside the journal from what it holds, a measurement a line, and the text of
  // its loops beside that (loop_texts.hpp); returns the path of run.json.
  std::filesystem::path write_run_file() const;

 private:
  Journal(std::filesystem::path folder, int file) : folder_(std::move(folder)), file_(file) {}
  void append_line(const std::string& line);
  void remember(const Json& measurement);

  std::filesystem::path folder_;
  int file_;
  Json header_;
  std::vector<Json> measurements_;
  std::set<std::pair<std::string, int>> finished_;
};

}  // namespace assay
