// SPDX-License-Identifier: Apache-2.0
// Forms that the assembler does not survive.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "harness/callable.hpp"
#include "harness/isa/form.hpp"

namespace assay::isa {

// Judges the forms in a process of its own, and gives a problem to those on which it dies: ptxas of
// CUDA 13.0 crashes on `ld.cg.local.v8.u16`, and so does nvJitLink. What was judged lies in the
// cache, where there is one. Call it before there are threads.
void mark_crashes(std::vector<Form>& forms, const std::vector<std::string>& targets,
                  const Callable<void(std::size_t, std::size_t)>& progress);

}  // namespace assay::isa
