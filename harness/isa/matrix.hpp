// SPDX-License-Identifier: Apache-2.0
// The instruction x target matrix: every form judged for every target.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "harness/callable.hpp"
#include "harness/isa/form.hpp"
#include "harness/isa/support.hpp"

namespace assay::isa {

// The columns unless others are asked for, as nvcc spells them.
const std::vector<std::string>& default_targets();

// Throws Error(usage) unless `target` is spelled like one: "sm_90a", "sm_120f".
void require_target(const std::string& target);

struct Matrix {
  std::vector<Form> forms;
  std::vector<std::string> targets;
  std::vector<std::vector<Verdict>> verdicts;  // [form][target]
  std::string assembler;                       // what judged: "nvJitLink 13.0 ..."
  std::size_t judged_now = 0;                  // pairs not found on disk
};

// Judges on all cores. Evidence is kept on disk (see harness/code/assembler.hpp for where), by
// target and by the versions of assembler and disassembler, and named by the text that was
// assembled, so that they hold until one of these changes. `progress` is told, from one thread at a
// time, how many pairs of those not on disk are done.
Matrix judge_all(std::vector<Form> forms, std::vector<std::string> targets,
                 const Callable<void(std::size_t done, std::size_t total)>& progress);

}  // namespace assay::isa
