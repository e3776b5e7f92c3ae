// SPDX-License-Identifier: Apache-2.0
// How the scales of a block-scaled product lie in memory: as cuBLASLt's VEC128_32F and
// BLK128x128_32F have them (CUDA 13.0, cuBLAS, "Scaling factors layouts"), and as TMA can read
// them, for every row begins on 16 bytes.
#pragma once

namespace assay::kernels {

constexpr int kScaleBlock = 128;

constexpr int blocks_of_scales(int length) { return (length + kScaleBlock - 1) / kScaleBlock; }
constexpr int pad_to_4(int count) { return (count + 3) / 4 * 4; }

// scale_a of A [m, k]: blocks_of_scales(k) rows, each of pad_to_4(m) floats. scale_a[kb][m].
constexpr int scale_a_stride(int m) { return pad_to_4(m); }
// scale_b of B [n, k]: blocks_of_scales(n) rows, each of pad_to_4(blocks_of_scales(k)) floats.
// scale_b[nb][kb].
constexpr int scale_b_stride(int k) { return pad_to_4(blocks_of_scales(k)); }

}  // namespace assay::kernels
