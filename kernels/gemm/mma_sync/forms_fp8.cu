// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/mma_sync/forms.cuh"

namespace assay::kernels {

void add_mma_sync_fp8(std::vector<FormMmaSync>& forms) {
  add_mma_sync_forms<kMmaE4m3, kMmaE4m3, 1, 1>(forms);
  add_mma_sync_forms<kMmaE4m3, kMmaE5m2, 1, 1>(forms);
  add_mma_sync_forms<kMmaE5m2, kMmaE4m3, 1, 1>(forms);
  add_mma_sync_forms<kMmaE5m2, kMmaE5m2, 1, 1>(forms);
}

}  // namespace assay::kernels
