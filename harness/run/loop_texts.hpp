// SPDX-License-Identifier: Apache-2.0
// The disassembly of measured loops, each once, in a file beside run.json.
//
// loops.txt.gz: for each loop a line "== " and the SHA-256 of its text, then the text, an
// instruction a line: "0130  FRND.F64 R12, -R12". A line that stands 16 bytes after the one before
// leaves its address out, which halves the file. Many cases measure the same loop, and text is most
// of what a run writes down.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "harness/run/json_document.hpp"

namespace assay {

inline constexpr const char* kLoopsFile = "loops.txt.gz";

// The text without addresses that follow from the line before; whole if a line has none.
std::string shortened_loop(const std::string& text);

class LoopTexts {
 public:
  // In a measurement, puts the hash of the loop's text ("loop_sha256") where the text was.
  void take_from(Json& measurement);
  // Writes the file into a run's folder; without a loop there is none.
  // Throws Error(io) as write_atomically() does.
  void write(const std::filesystem::path& folder) const;

 private:
  // Text to hash: in the file, too, texts that begin alike follow each other, which packs better.
  std::map<std::string, std::string> hashes_;
};

}  // namespace assay
