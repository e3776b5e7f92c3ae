// SPDX-License-Identifier: Apache-2.0
// The checker's look at an operand of wgmma or tcgen05.mma in shared memory. Beside its accesses:
// whether the matrix descriptor reads it in the swizzle in which a tensor copy laid it. No access
// is wrong where the two differ, but the operand is.
#pragma once
#include <cstddef>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model/machine/run.hpp"
#include "harness/model/matrix/layout/shared_operand.hpp"

namespace assay::model {

// `writer` lays these bytes of shared memory.
void note_swizzle(const Where& where, std::size_t bytes, MapSwizzle swizzle, const Actor& writer);

// Every chunk that `reader` will read of the operand in `cta`, whose cluster is that of `from`.
void check_operand(Run& run, Cta& from, const Cta& cta, const matrix::SharedOperand& operand,
                   const matrix::OperandShape& shape, const Actor& reader);

}  // namespace assay::model
