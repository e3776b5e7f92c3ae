// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/probe.hpp"

namespace assay {

// Whether a case's figure is one of a load's steady state, at the power limit if it comes to that:
// its parameter "state" is "sustained".
bool is_sustained(const Case& which);

}  // namespace assay
