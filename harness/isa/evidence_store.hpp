// SPDX-License-Identifier: Apache-2.0
// Evidence kept on disk.
#pragma once
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/isa/support.hpp"

namespace assay::isa {

// A file of JSON lines, one form each. New ones are appended in one write, so that several
// processes can share it; a line that is not whole counts as absent. Without a file, or if it
// cannot be written, nothing is kept. Thread-safe.
class EvidenceStore {
 public:
  explicit EvidenceStore(std::filesystem::path file);

  const Evidence* find(const std::string& key) const;
  void append(const std::vector<std::pair<std::string, Evidence>>& fresh);

 private:
  std::filesystem::path file_;
  std::map<std::string, Evidence> known_;  // as on opening
  std::mutex mutex_;
};

}  // namespace assay::isa
