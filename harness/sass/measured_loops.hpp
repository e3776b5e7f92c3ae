// SPDX-License-Identifier: Apache-2.0
// How long loops really took, according to a result file.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/measurement.hpp"
#include "harness/sass/analysis.hpp"

namespace assay::sass {

class MeasuredLoops {
 public:
  // Throws Error(usage) if the file is no assay.run/1.
  explicit MeasuredLoops(const std::filesystem::path& run);
  ~MeasuredLoops();
  MeasuredLoops(MeasuredLoops&&) noexcept;

  // What was measured on this very loop: a measurement for this architecture, of a kernel of this
  // name, whose loop held the same opcodes in the same number; the fastest, if there are several.
  // Cycles of an iteration are the samples themselves, if the case counted cycles; else they follow
  // from FLOP per clock and SM, and the matrix instructions in the loop.
  std::optional<MeasuredLoop> find(const Function& function, const LoopAnalysis& loop) const;

  // The same where the case is known and `kernel` is one of its own, whatever that was called then:
  // its first kernel is what a case measures, or the one that the result names. Of a kernel whose
  // role is latency, the case's latency times its instructions.
  std::optional<MeasuredLoop> find(const Function& function, const LoopAnalysis& loop,
                                   const std::string& case_name, const SassRecord& kernel,
                                   bool first_kernel) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace assay::sass
