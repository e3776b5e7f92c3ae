// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/mma_sync/variant.hpp"

#include "kernels/gemm/mma_sync/forms.cuh"

namespace assay::kernels {

const GemmVariantMmaSync& gemm_mma_sync_variant(const std::string& type_a,
                                                const std::string& type_b,
                                                const std::string& layout, bool small) {
  static const MmaSyncForms forms = [] {
    MmaSyncForms all;
    add_mma_sync_bf16(all);
    add_mma_sync_f16(all);
    add_mma_sync_fp8(all);
    return all;
  }();
  static const std::map<std::string, int> numbers = {
      {"bf16", kMmaBf16}, {"f16", kMmaF16}, {"e4m3", kMmaE4m3}, {"e5m2", kMmaE5m2}};
  return forms.at({numbers.at(type_a), numbers.at(type_b), layout.at(0) == 'n', layout.at(1) == 't',
                   small ? 64 : 128});
}

}  // namespace assay::kernels
