// SPDX-License-Identifier: Apache-2.0
// How long loops really took, according to a result file.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/sass/analysis.hpp"

namespace assay {

class MeasuredLoops {
 public:
  // Throws Error(usage) if the file is no assay.run/1.
  explicit MeasuredLoops(const std::filesystem::path& run);
  ~MeasuredLoops();
  MeasuredLoops(MeasuredLoops&&) noexcept;

  // What was measured on this very loop: a measurement whose kernel has this name, whose target
  // this architecture, and whose loop held the same opcodes in the same number. The fastest, if
  // there are several; the one called `name`, if that is not empty.
  //
  // Cycles of an iteration are the samples themselves, if the case counted cycles; else they
  // follow from FLOP per clock and SM, and the matrix instructions in the loop; for the latency
  // kernel of an instruction, from its latency.
  std::optional<MeasuredLoop> find(const Function& function, const LoopAnalysis& loop,
                                   const std::string& name = {}) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace assay
