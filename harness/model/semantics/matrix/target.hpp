// SPDX-License-Identifier: Apache-2.0
// The chip that a module is for, as matrix instructions see it.
#pragma once
#include "harness/model/machine/decode.hpp"
#include "harness/model/matrix/arithmetic.hpp"
#include "harness/target_table.hpp"

namespace assay::model {

// The features of what a module's `.target` names. Of chips that the table of targets leaves out,
// older ones have those of its oldest, newer ones of its newest.
FeatureSet features_of(Decoder& d);

// Hopper's sums where the warpgroup's MMA is, the exact ones for what no chip was at hand for.
matrix::Machine machine_of(Decoder& d);

}  // namespace assay::model
