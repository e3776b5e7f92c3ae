// SPDX-License-Identifier: Apache-2.0
// Know what runs: the machine code behind a case, checked against what its probe expects.
//
// Needs no GPU, so the same check runs for every target where the suite is built and, on the very
// same cubins, before anything is measured.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/code/disassembly.hpp"
#include "harness/measurement.hpp"
#include "harness/probe.hpp"

namespace assay {

// A kernel's machine code, for a closer look.
struct KernelCode {
  std::shared_ptr<const Function> function;  // none if it could not be disassembled
  std::optional<std::size_t> loop;           // header of the measured loop
};

struct Verification {
  std::string name;  // the case's
  Target target;
  std::vector<SassRecord> kernels = {};    // as KernelUse lists them
  std::vector<KernelCode> code = {};       // of the same kernels
  std::vector<std::string> problems = {};  // empty: all is as expected
};

// SHA-256 of the instructions of all these kernels, as they are encoded: unlike that of an image it
// changes neither with lines of the source nor with other kernels of the file. The encoding, for it
// holds the waits between instructions, which the text does not. Empty where one is not known.
std::string code_sha256(const std::vector<KernelCode>& kernels);

// The kernels of cases on targets, on every core. Written kernels are read out of this program's
// own executable, generated ones assembled. Never throws: what goes wrong is a problem.
std::vector<Verification> verify_all(const std::vector<std::pair<Selected, Target>>& wanted);

}  // namespace assay
