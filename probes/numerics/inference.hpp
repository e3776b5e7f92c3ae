// SPDX-License-Identifier: Apache-2.0
// From a black box that computes dot products to the model that explains it: small experiments,
// each of which decides one parameter, then random vectors.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/numerics/mma_model.hpp"

namespace assay::numerics {

// What the experiments found. `words` are for people: "subnormal_inputs" -> "kept".
struct Findings {
  MmaModel model;
  bool products_exact = false;
  bool ordered = false;     // the stages explain which small addends survive beside great ones
  int c_fraction_bits = 0;  // of C beside greater products
  // [place of the great addends][place of the small one]: does the small one survive? NaN where the
  // places coincide.
  std::vector<double> survival;
  std::map<std::string, std::string> words;
};

// Runs the experiments on dot products of length `k`.
Findings experiment(const FloatFormat& operand, const FloatFormat& accumulator, int k,
                    const Evaluator& run);

// Random dot products of these kinds: values of similar size; exponents spread over the whole
// range; sums that cancel; results near the least and near the greatest number of the accumulator;
// with infinities and NaNs.
enum class Data : std::uint8_t { similar, spread, cancelling, tiny, huge, special };
inline constexpr Data kAllData[] = {Data::similar, Data::spread, Data::cancelling,
                                    Data::tiny,    Data::huge,   Data::special};
const char* name(Data data);
std::vector<Dot> random_dots(const FloatFormat& operand, const FloatFormat& accumulator, int k,
                             Data data, std::size_t count, std::uint64_t seed);

// The model near `start` that explains the results best: parameters are changed one by one as long
// as that helps.
MmaModel fitted(const MmaModel& start, const std::vector<Dot>& dots,
                const std::vector<Bits>& found);

// "sums of 32 products and C at once, 13 fraction bits, truncated; results keep 13, truncated".
std::string describe(const MmaModel& model);

}  // namespace assay::numerics
