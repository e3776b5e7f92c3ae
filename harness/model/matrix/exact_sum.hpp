// SPDX-License-Identifier: Apache-2.0
// Many dot products at once of products that are exact, rounded once: what is computed where no
// chip could be asked.
#pragma once
#include <span>

#include "harness/model/matrix/aligned_sum.hpp"

namespace assay::model::matrix {

// sums = A B + C with A [m][k], B [n][k], C and sums [m][n]; an empty C is 0. Products of at most
// eleven bits each, and scales of four, are exact in a double, and a sum of them is nearer to the
// true one than an f32 can tell.
void exact_sums(Extent extent, std::span<const double> a, std::span<const double> b,
                std::span<const double> c, std::span<double> sums);

}  // namespace assay::model::matrix
