// SPDX-License-Identifier: Apache-2.0
// What a person watching a run sees, on stderr.
#pragma once
#include <chrono>
#include <string>

#include "harness/run/json_io.hpp"

namespace assay {

class Progress {
 public:
  explicit Progress(std::size_t total);
  void begin(const std::string& name);
  void end(const Json& measurement);
  // "118 measured, 1 failed, 2 skipped in 41 s"
  std::string summary() const;
  int failed() const { return failed_; }

 private:
  std::string eta() const;

  bool terminal_;
  std::size_t total_, done_ = 0;
  int ok_ = 0, failed_ = 0, skipped_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// "4089.1 FLOP/clk/SM +-0.02% (99.8% of limit)": the primary figure of a measurement in one line.
std::string headline(const Json& measurement);

}  // namespace assay
