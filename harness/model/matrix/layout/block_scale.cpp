// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/block_scale.hpp"

#include <stdexcept>
#include <string>

#include "harness/model/violation.hpp"
#include "harness/ptx/descriptor/scale_layout.hpp"

namespace assay::model::matrix {
namespace {

template <class PlaceOf>
void gather(int count, const ScaleSelector& selector, std::span<const Word> registers,
            std::span<Word> scales, const PlaceOf& place_of) {
  try {
    for (std::size_t at = 0; at < scales.size(); ++at) {
      const ptx::WarpByte place =
          place_of(static_cast<ptx::ScaleVector>(count), static_cast<int>(at) / count,
                   static_cast<int>(at) % count);
      scales[at] = registers[static_cast<std::size_t>(place.lane)] >> (8 * place.byte) & 0xff;
    }
  } catch (const std::invalid_argument& error) {
    throw Violation("mma.scale_selector", "byte-id " + std::to_string(selector.byte_id) +
                                              ", thread-id " + std::to_string(selector.thread_id) +
                                              " of " + std::to_string(count) +
                                              " scales a row: " + error.what());
  }
}

}  // namespace

void gather_scales_of_a(int count, ScaleSelector selector, std::span<const Word> registers,
                        std::span<Word> scales) {
  gather(count, selector, registers, scales, [&](ptx::ScaleVector vector, int row, int index) {
    return ptx::warp_scale_a(vector, selector.byte_id, selector.thread_id, row, index);
  });
}

void gather_scales_of_b(int count, ScaleSelector selector, std::span<const Word> registers,
                        std::span<Word> scales) {
  gather(count, selector, registers, scales, [&](ptx::ScaleVector vector, int column, int index) {
    return ptx::warp_scale_b(vector, selector.byte_id, selector.thread_id, column, index);
  });
}

}  // namespace assay::model::matrix
