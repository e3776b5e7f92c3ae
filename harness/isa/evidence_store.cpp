// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/evidence_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "harness/machine/files.hpp"
#include "harness/run/json_document.hpp"

namespace assay::isa {
namespace {

Json to_json(const std::string& key, const Evidence& evidence) {
  return {
      key, evidence.accepted, evidence.opcodes, evidence.calls, evidence.words, evidence.readable};
}

}  // namespace

EvidenceStore::EvidenceStore(std::filesystem::path file) : file_(std::move(file)) {
  std::ifstream stream(file_);
  for (std::string line; std::getline(stream, line);) {
    try {
      const Json json = parse_json(line, {file_.string()});
      known_[json.at(0)] = {.accepted = json.at(1),
                            .opcodes = json.at(2),
                            .calls = json.at(3),
                            .words = json.at(4),
                            .readable = json.at(5)};
    } catch (const std::exception&) {
      continue;  // cut short, or not ours
    }
  }
}

const Evidence* EvidenceStore::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

void EvidenceStore::append(const std::vector<std::pair<std::string, Evidence>>& fresh) {
  if (file_.empty()) return;
  std::string text;
  for (const auto& [key, evidence] : fresh)
    text += to_json(key, evidence).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::lock_guard lock(mutex_);
  std::error_code ignored;
  std::filesystem::create_directories(file_.parent_path(), ignored);
  const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  // Not checked: a short write leaves a line that is not whole.
  [[maybe_unused]] const int error = write_all(file, text);
  ::close(file);
}

}  // namespace assay::isa
