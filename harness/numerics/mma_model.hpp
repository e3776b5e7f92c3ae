// SPDX-License-Identifier: Apache-2.0
// What one element of an MMA's result is, bit for bit, in integer arithmetic on the CPU.
//
// The model has parameters because no document states them. Its shape, products aligned to the
// greatest exponent among them, cut to so many bits and added as integers, is what others found on
// real chips:
//   Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer
//     Science 7:e330, 2021: V100, T4, A100;
//   Li et al., "FTTN: Feature-Targeted Testing for Numerical Properties of NVIDIA & AMD Matrix
//     Accelerators", 2024;
//   Xie et al., "MMA-Sim", arXiv:2511.10909: ten architectures, the 13 bits of Ada's and Hopper's
//     fp8 among them;
//   DeepSeek-AI, "DeepSeek-V3 Technical Report", arXiv:2412.19437, section 3.3.2: about 14 bits.
#pragma once
#include <span>
#include <vector>

#include "harness/callable.hpp"
#include "harness/numerics/float_format.hpp"

namespace assay::numerics {

// One dot product with what it is added to: c + sum over k of a[k] * b[k].
struct Dot {
  std::vector<Bits> a, b;
  Bits c = 0;
};
// Computes dot products, on a GPU or by a model: one result each, in the same order.
using Evaluator = Callable<std::vector<Bits>(const std::vector<Dot>&)>;

struct MmaModel {
  FloatFormat a, b, accumulator;  // C and D are of the accumulator's
  // Along k: products of one stage are added at once, to the result of the stage before.
  std::vector<int> stage;
  bool adds_c_last = false;  // C is no addend of stage 0 but added in the end, rounded to nearest

  // A stage's addends are cut to fraction_bits below the unit of the greatest exponent among them.
  int fraction_bits = 0;
  Rounding addend = Rounding::toward_zero;
  bool normalizes_products = false;    // 1.5 * 1.5 counts as exponent 1, not 0
  bool normalizes_subnormals = false;  // 2^-1074 counts as exponent -1074, not -1022
  bool zeros_count = false;            // a zero's exponent takes part
  int least_exponent = 0;              // the greatest exponent is at least this
  Result result = {0};                 // of each stage

  bool keeps_subnormal_inputs = true;
  bool keeps_negative_zero = false;  // a sum of negative zeros alone
  Bits nan = 0;                      // the one pattern of every result that is no number
};

// With the parameters that need no experiment: all products at once, results of full precision.
MmaModel plain_model(const FloatFormat& operand, const FloatFormat& accumulator, int k);

// As many products as stage[] has places, at most kMostProducts.
inline constexpr int kMostProducts = 128;
Bits multiply_add(const MmaModel& model, std::span<const Bits> a, std::span<const Bits> b, Bits c);
Bits multiply_add(const MmaModel& model, const Dot& dot);

// The sum of two accumulators rounded to nearest, ties to even: how C is added last.
Bits add(const MmaModel& model, Bits x, Bits y);

// The share of dots of which the model predicts all bits.
double agreement(const MmaModel& model, const std::vector<Dot>& dots,
                 const std::vector<Bits>& found);

}  // namespace assay::numerics
