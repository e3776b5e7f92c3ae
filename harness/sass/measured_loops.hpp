// SPDX-License-Identifier: Apache-2.0
// How long loops really took, according to a result file.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

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

  // The same where the case behind a kernel is known, whatever the kernel was called then: its
  // first kernel is what a case measures, or the one that the result names. For the kernel
  // "latency" of an instruction's row, the instruction's latency times their number.
  std::optional<MeasuredLoop> find(const Function& function, const LoopAnalysis& loop,
                                   const std::string& case_name, bool first_kernel) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace assay::sass
