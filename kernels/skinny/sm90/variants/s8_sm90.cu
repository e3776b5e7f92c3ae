// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/sm90/variant_table_sm90.cuh"

namespace assay::kernels {

std::span<const SkinnyVariantSm90> skinny_s8_sm90() { return skinny_forms_sm90<S8>(); }

}  // namespace assay::kernels
