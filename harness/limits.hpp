// SPDX-License-Identifier: Apache-2.0
// What one SM can do per clock, by target: the limits that figures are compared with.
#pragma once
#include <string_view>

#include "harness/state.hpp"

namespace assay::limits {

// Dense FLOP (or integer operations) per clock and SM of the tensor cores with 32-bit accumulation
// (64-bit for f64), for elements "f64 tf32 f16 bf16 e4m3 s8 mxf4". Value 0 where none is known.
Limit tensor(Target target, std::string_view element);

// FP32 fused multiply-adds count two: 128 lanes on every target.
Limit ffma();

// Results of the special function unit per clock and SM: 16; ex2 on sm_103a 32.
Limit special_function(Target target, std::string_view function);

}  // namespace assay::limits
