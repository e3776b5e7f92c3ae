// SPDX-License-Identifier: Apache-2.0
// Many dot products at once, as numerics::multiply_add() computes one: for models that cut addends
// towards zero and add all products in one sum, as Hopper's do.
//
// Each operand is taken apart once. A sum is then integer arithmetic: the greatest exponent among
// the addends, a shift of each to it, an addition. No lane waits for another, so that the compiler
// makes vectors of eight columns.
#pragma once
#include <cstdint>
#include <span>

#include "harness/model/matrix/element_type.hpp"
#include "harness/numerics/mma_model.hpp"

namespace assay::model::matrix {

// Whether sums of `k` products of this model can be computed here: they fit in 31 bits, and nothing
// is asked for that no Hopper does.
bool has_aligned_sums(const numerics::MmaModel& model, int k);

// D = A B + C with A [m][k], B [n][k], C and D [m][n], n a multiple of 8. An empty C is 0.
struct Extent {
  int m, n, k;
};
// The results are the same with any vectors.
enum class Vectors : std::uint8_t { best, baseline };
void aligned_sums(const numerics::MmaModel& model, Extent extent, std::span<const Word> a,
                  std::span<const Word> b, std::span<const Word> c, std::span<Word> d,
                  Vectors vectors = Vectors::best);

}  // namespace assay::model::matrix
