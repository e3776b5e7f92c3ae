// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/mma_sync/forms.cuh"

namespace assay::kernels {

void add_mma_sync_bf16(std::vector<FormMmaSync>& forms) {
  add_mma_sync_forms<kMmaBf16, kMmaBf16, 1, 1>(forms);
  add_mma_sync_forms<kMmaBf16, kMmaBf16, 1, 0>(forms);
  add_mma_sync_forms<kMmaBf16, kMmaBf16, 0, 1>(forms);
  add_mma_sync_forms<kMmaBf16, kMmaBf16, 0, 0>(forms);
}

}  // namespace assay::kernels
