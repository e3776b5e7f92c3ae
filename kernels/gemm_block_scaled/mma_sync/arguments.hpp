// SPDX-License-Identifier: Apache-2.0
// What the plain kernel is told.
#pragma once

namespace assay::kernels {

struct BlockScaledPlainArguments {
  void* d;  // bf16 [m, n]
  const void* a;
  const void* b;
  const float* scale_a;
  const float* scale_b;
  int m, n, k;
  int scale_a_stride, scale_b_stride;
};

constexpr int kBlockScaledPlainTile = 64;  // rows and columns of a CTA
constexpr int kBlockScaledPlainThreads = 128;

const void* block_scaled_plain_kernel();

}  // namespace assay::kernels
