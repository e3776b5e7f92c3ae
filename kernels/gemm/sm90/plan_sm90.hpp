// SPDX-License-Identifier: Apache-2.0
// The bf16 matrix product on Hopper: how its kernel is launched.
#pragma once
#include "kernels/gemm/gemm.hpp"

namespace assay::kernels {

// The outputs do not depend on these: each is one sum over k in a fixed order.
struct GemmOptionsSm90 {
  int band = 8;      // Raster::band
  int max_ctas = 0;  // of the persistent grid; 0: as many as fit
};

Plan plan_gemm_sm90(const GemmProblem& problem, const GemmOperands& operands,
                    const GemmOptionsSm90& options = {});

}  // namespace assay::kernels
