// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/exact_sum.hpp"

#include <vector>

namespace assay::model::matrix {

void exact_sums(Extent e, std::span<const double> a, std::span<const double> b,
                std::span<const double> c, std::span<double> sums) {
  const auto m = static_cast<std::size_t>(e.m), n = static_cast<std::size_t>(e.n);
  const auto k = static_cast<std::size_t>(e.k);
  std::vector<double> by_k(k * n);  // B [k][n], so that columns are neighbours
  for (std::size_t column = 0; column < n; ++column)
    for (std::size_t at = 0; at < k; ++at) by_k[at * n + column] = b[column * k + at];
  for (std::size_t row = 0; row < m; ++row) {
    double* to = &sums[row * n];
    for (std::size_t column = 0; column < n; ++column)
      to[column] = c.empty() ? 0 : c[row * n + column];
    for (std::size_t at = 0; at < k; ++at) {
      const double factor = a[row * k + at];
      const double* from = &by_k[at * n];
      for (std::size_t column = 0; column < n; ++column) to[column] += factor * from[column];
    }
  }
}

}  // namespace assay::model::matrix
