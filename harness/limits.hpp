// SPDX-License-Identifier: Apache-2.0
// What one SM can do per clock, by target: the limits that figures are compared with.
#pragma once
#include <string_view>

#include "harness/state.hpp"

namespace assay::limits {

// Dense FLOP (or integer operations) per clock and SM of the tensor cores, for elements "f64 tf32
// f16 bf16 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 b1", block-scaled ones "mxf8 mxf6 mxf4 nvf4". Value 0
// where none is known. Accumulators have 32 bits (64 for f64); 16-bit ones have the same limit.
Limit tensor(Target target, std::string_view element);

// The same for A with two of four elements zero, in FLOP of the dense product it stands for.
Limit sparse_tensor(Target target, std::string_view element);

// FP32 fused multiply-adds count two: 128 lanes on every target.
Limit ffma();

// Results of the special function unit per clock and SM: 16, but for ex2 on some targets.
Limit special_function(Target target, std::string_view function);

}  // namespace assay::limits
