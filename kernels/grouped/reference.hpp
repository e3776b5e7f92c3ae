// SPDX-License-Identifier: Apache-2.0
// The check of a grouped product: each group's own product, in float64.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/grouped/grouped.hpp"

namespace assay::kernels {

// What is wrong, empty if nothing is. rows: of each group, as the host knows them. Of each group
// `limit` outputs are compared, chosen by a hash of `seed`. Blocks.
std::string check_grouped(const GroupedProblem& problem, const GroupedOperands& operands,
                          const std::vector<int>& rows, std::uint64_t limit, std::uint64_t seed,
                          cudaStream_t stream);

}  // namespace assay::kernels
