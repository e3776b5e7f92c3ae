// SPDX-License-Identifier: Apache-2.0
// The scales of a block-scaled mma.sync, out of a warp's registers.
//
// The instruction names, for A and for B, a register of each lane and which of it is meant: the
// byte-id, the first byte of a row's scales, and the thread-id, which lanes of a quad hold them.
// Where exactly is in harness/ptx/descriptor/scale_layout.hpp.
#pragma once
#include <span>

#include "harness/model/matrix/element_type.hpp"

namespace assay::model::matrix {

// A [16][count] and B [8][count] from [lane]: `count` is Arithmetic::scales(), 1, 2 or 4. Throws
// Violation("mma.scale_selector") for a byte-id or thread-id that the manual does not allow.
struct ScaleSelector {
  int byte_id, thread_id;
};
void gather_scales_of_a(int count, ScaleSelector selector, std::span<const Word> registers,
                        std::span<Word> scales);
void gather_scales_of_b(int count, ScaleSelector selector, std::span<const Word> registers,
                        std::span<Word> scales);

}  // namespace assay::model::matrix
