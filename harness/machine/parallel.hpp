// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on every core of the CPU.
#pragma once
#include <cstddef>

#include "harness/callable.hpp"

namespace assay {

// Calls work(0) ... work(count - 1), each once, from as many threads as there are cores; returns
// when all are done. After an exception no further piece is begun; the first one is thrown again.
void on_every_core(std::size_t count, const Callable<void(std::size_t)>& work);

}  // namespace assay
