// SPDX-License-Identifier: Apache-2.0
// How an array is seen as a tensor of so many dimensions and cut into boxes of so many bytes.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "harness/ptx/descriptor/tensor_map.hpp"

namespace assay {

inline constexpr int kMaxDimensions = 5;

// From the number of a box to its coordinates. Powers of two, so that one thread has them in a few
// instructions.
struct BoxGrid {
  int shift[kMaxDimensions], mask[kMaxDimensions], box[kMaxDimensions];

  __host__ __device__ int coordinate(std::uint32_t tile, int dimension) const {
    return static_cast<int>((tile >> shift[dimension]) & mask[dimension]) * box[dimension];
  }
};

// What a box is to look like. All but `array_bytes` are powers of two.
struct BoxForm {
  int dimensions = 2;
  std::string type = "bf16";     // u8 bf16 f32 f64
  std::string swizzle = "none";  // none 32B 64B 128B
  std::uint32_t box_bytes = 8192;
  // 1: a box is a contiguous piece of the array. More: its rows are that many boxes' rows apart, as
  // those of a matrix are.
  std::uint32_t boxes_across = 1;
  int l2_promotion = 128;  // bytes that L2 fetches at a time: 0 (what is asked for) 64 128 256
};

struct BoxPlan {
  ptx::TensorMapShape shape;  // its base is to be set
  BoxGrid grid;
  std::uint32_t tiles;  // boxes in the tensor
  std::uint32_t element_bytes;

  // Bytes from the start of the array to element `index` of the box's row-major elements.
  std::uint64_t source_offset(std::uint32_t tile, std::uint32_t index) const;
};

// Cuts `array_bytes` into boxes. Rows are as long as the swizzle or 256 elements allow, and the
// rest is spread evenly over the other dimensions. Throws Error(usage) where no such box exists.
BoxPlan plan_boxes(const BoxForm& form, std::uint64_t array_bytes);

// Bytes of an element, and "" or why no box has this form.
std::uint32_t box_element_bytes(const std::string& type);
std::string explain_no_box(const BoxForm& form);

ptx::Swizzle box_swizzle(const std::string& name);

// Bytes between boxes in shared memory: TMA wants 128-byte alignment, a swizzle its period.
std::uint32_t box_pitch(const BoxForm& form);

}  // namespace assay
