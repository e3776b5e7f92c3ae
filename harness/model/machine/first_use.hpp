// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "harness/model/machine/machine.hpp"

namespace assay::model {

// Slots of a decoded program that a thread may read before it has written them, in order: all but
// those of which the code tells that none does.
std::vector<int> maybe_unwritten(const Program& program);

}  // namespace assay::model
