// SPDX-License-Identifier: Apache-2.0
#include "kernels/c_api/assay_kernels.h"
#include "kernels/c_api/boundary.hpp"
#include "kernels/gemm/gemm.hpp"

int assay_gemm_bf16_nt(void* d, const void* a, const void* b, int m, int n, int k, void* stream) {
  return assay::kernels::guarded(
      [&] { assay::kernels::gemm_bf16_nt(d, a, b, m, n, k, static_cast<cudaStream_t>(stream)); });
}
