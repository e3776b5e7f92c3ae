// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "harness/ptx/descriptor/tensor_map.hpp"

namespace assay::kernels {

// What encode_tensor_map() asks the driver for, of a shape whose base is an address in the model.
// 16-bit floats, f32 and bytes.
CUtensorMap model_map(const ptx::TensorMapShape& shape);

}  // namespace assay::kernels
