// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/grouped.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/c_api/boundary.hpp"

namespace {

using assay::kernels::Grouping;

Grouping grouping(int masked) { return masked != 0 ? Grouping::masked : Grouping::contiguous; }

}  // namespace

int assay_grouped_bf16_nt(void* d, const void* a, const void* b, const int* sizes, int masked,
                          int groups, int rows, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    plan_grouped({grouping(masked), "bf16", groups, rows, n, k}, {d, a, b, sizes})
        .run(static_cast<cudaStream_t>(stream));
  });
}

int assay_grouped_e4m3_block128_nt(void* d, const void* a, const void* b, const float* scale_a,
                                   const float* scale_b, const int* sizes, int masked, int groups,
                                   int rows, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    plan_grouped({grouping(masked), "e4m3_block128", groups, rows, n, k},
                 {d, a, b, sizes, scale_a, scale_b})
        .run(static_cast<cudaStream_t>(stream));
  });
}

int assay_grouped_gradient_bf16(void* d, const void* a, const void* b, const int* sizes, int groups,
                                int rows, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    plan_grouped({Grouping::gradient, "bf16", groups, rows, n, k}, {d, a, b, sizes})
        .run(static_cast<cudaStream_t>(stream));
  });
}
