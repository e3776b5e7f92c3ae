// SPDX-License-Identifier: Apache-2.0
// What the plain kernel is given.
#pragma once
#include <cstdint>

namespace assay::kernels {

// Element types as numbers, which the names of kernels spell alike everywhere.
inline constexpr int kMmaBf16 = 0, kMmaF16 = 1, kMmaE4m3 = 2, kMmaE5m2 = 3;

// A stored operand.
struct MmaSyncOperand {
  const std::uint8_t* data;
  std::int64_t row_bytes;  // from one stored row to the next
  int rows, bytes;         // stored rows, and bytes of one that belong to the matrix
};

// Plain numbers, so that the host model can be given them too.
struct MmaSyncFinish {
  void* d;
  const void* c;         // null: none
  const void* bias;      // null: none
  const float* scale_a;  // null: none
  const float* scale_b;
  float alpha, beta;
  int scale_step;  // 0: one factor for all rows, 1: one for each
  int type_d;      // 0 bf16, 1 f16, 2 f32: of C, D and the bias
  int activation;  // as Activation counts
};

// The sum over k in parts, one for each CTA along y: `each` stages of the ring, the last one fewer.
// partial: [part][m][n], in f32; null: there is one part, and the kernel itself finishes.
struct MmaSyncSplit {
  float* partial;
  int each;
};

}  // namespace assay::kernels
