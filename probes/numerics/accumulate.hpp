// SPDX-License-Identifier: Apache-2.0
// Numerics of the MMAs whose sums need no alignment: f64 and integers.
#pragma once
#include "probes/numerics/mma_runner.hpp"

namespace assay::numerics {

// A chain of multiply-adds: in which order along K, fused or not, how rounded.
void measure_f64(State& s, const MmaInstruction& instruction, const MmaRunner& runner);

// Sums of products of s8 are exact; past 32 bits they wrap round or saturate.
void measure_s8(State& s, const MmaInstruction& instruction, const MmaRunner& runner);

// Does a small addend at one place along K survive great ones at another that cancel? Series
// `survival`; `values` as Findings::survival has them.
Series survival_series(int k, std::vector<double> values);

}  // namespace assay::numerics
