// SPDX-License-Identifier: Apache-2.0
// What the hardware can do at most: the limits that figures are compared with, and above which they
// are refused. Light on purpose: .cu files include it.
#pragma once
#include <string>
#include <string_view>

#include "harness/target.hpp"

namespace assay {

struct Limit {
  double value = 0;         // 0: none is known
  std::string source = {};  // where it is from, shown beside it; or why none is known
  // CUPTI's metric of such operations, if it has one: where counters are read (--counters), its
  // .avg.peak_sustained, what the chip says of itself, takes the place of the value.
  std::string counter = {};
};

namespace limits {

// For a rate that nothing documented bounds; `why` in a few words.
Limit unknown(std::string_view why);

// Bytes that one SM can get from or put into its L1 and shared memory in a clock: 128, on every
// target.
Limit l1_path();

// Bytes that one SM can receive from L2 in a clock, through its port to the crossbar.
Limit l2_port();

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

}  // namespace limits
}  // namespace assay
