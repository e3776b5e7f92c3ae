// SPDX-License-Identifier: Apache-2.0
// 2^x of many independent elements, some on the special function unit, the others by polynomial.
#pragma once
#include <string>

#include "harness/instruction/row_probe.hpp"

namespace assay {

// Elements of a thread: fractions come in sixteenths.
inline constexpr int kMixElements = 16;
inline constexpr KernelShape kMixShape{.warps = 16, .chains = 1, .unroll = 4};
inline constexpr double kMixResults = 32.0 * kMixShape.warps * kMixShape.unroll * kMixElements;

// What happens to an element before 2^x: nothing but a sign, or the FFMA that softmax needs, which
// subtracts the scaled maximum.
enum class Argument : bool { negated, scaled };

// d.i <- 2^(-d.i), or 2^(a d.i + b), for 16 elements, `polynomials` of which, evenly spread among
// the others, by the polynomial of `degree` of exp2_polynomial.hpp, and the others by MUFU.EX2.
InstructionRow exp2_mix_row(int degree, int polynomials, Argument argument);

// "throughput_<polynomials>", unique among the rows of one degree and argument.
std::string exp2_mix_entry(int polynomials, Argument argument);

}  // namespace assay
