// SPDX-License-Identifier: Apache-2.0
// What every generated kernel has in common, as PTX text.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "harness/probe.hpp"

namespace assay {

// .entry (u64 records, u64 in, u64 out, u32 iterations, u32 zero), one StopwatchRecord per CTA.
// Registers at hand in every part: %in and %out (b64), %thread, %cta, %zero (b32; zero is 0, which
// the assembler cannot know), predicates %lead (thread 0) and %first (CTA 0).
struct PtxKernel {
  Target target;
  std::string entry;
  int threads;
  std::string declarations = {};  // registers and shared memory
  std::string setup = {};         // before the clock starts
  std::string loop = {};          // executed `iterations` times
  std::string finish = {};        // after the clock has stopped
};
std::string ptx_text(const PtxKernel& kernel);

// Every occurrence of `from` replaced.
std::string replace_all(std::string text, const std::string& from, const std::string& to);

}  // namespace assay
