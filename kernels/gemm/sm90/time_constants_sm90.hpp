// SPDX-License-Identifier: Apache-2.0
// What scripts/fit_gemm_sm90.py found for the Hopper product's model of time, on sweeps of an H200
// (results/h200/2026-11-23-gemm-rows): for 16-bit and for 8-bit operands. Of 16-bit ones that are
// not both k-major ("nn", "tn", "tt") the forms have factors of their own, on
// 2026-11-24-gemm-layouts.
#pragma once
#include "kernels/gemm/sm90/plan_sm90.hpp"

namespace assay::kernels {

inline constexpr TimeModelSm90::FormFactor kWideFactorsSm90[] = {
    {"128x192_c2x1_s4", 1.03},
    {"128x224_c2x1_s4", 1.03},
    {"256x112_c1x2_s4", 1.03},
    {"pingpong_128x128_c1x2_s6", 1.03},
    {"pingpong_128x128_c2x1_s6", 0.9704},
    {"pingpong_128x144_c2x1_s5", 1.062},
    {"pingpong_128x176_c2x1_s5", 0.9704},
    {"pingpong_64x128_c2x1_s8", 1.062},
    {"pingpong_64x136_c2x4_s7", 1.062},
    {"pingpong_64x32_c1x4_s10", 1.094},
    {"pingpong_64x80_c2x1_s10", 1.03},
    {"swapped_128x160_c1x1_s5", 1.03},
    {"swapped_128x160_c1x2_s5", 1.03},
    {"swapped_128x192_c2x1_s4", 0.9704},
    {"swapped_128x200_c1x1_s4", 1.03},
    {"swapped_128x80_c1x1_s7", 0.9704},
    {"swapped_pingpong_128x104_c4x1_s6", 1.062},
    {"swapped_pingpong_128x112_c2x1_s6", 1.03},
    {"swapped_pingpong_128x160_c2x2_s5", 1.03},
    {"swapped_pingpong_128x32_c4x1_s9", 1.062},
    {"swapped_pingpong_128x64_c1x2_s8", 0.9704},
    {"swapped_pingpong_128x80_c1x2_s7", 0.9418},
    {"swapped_pingpong_128x96_c2x2_s6", 1.03},
    {"swapped_pingpong_128x96_c4x1_s6", 1.03},
    {"swapped_pingpong_64x128_c1x2_s8", 0.9704},
    {"swapped_pingpong_64x136_c2x4_s7", 1.03},
    {"swapped_pingpong_64x144_c2x1_s7", 1.094},
    {"swapped_pingpong_64x16_c2x1_s10", 1.03},
    {"swapped_pingpong_64x176_c4x1_s6", 1.03},
    {"swapped_pingpong_64x32_c1x2_s10", 0.9704},
    {"swapped_pingpong_64x32_c4x1_s10", 1.03},
    {"swapped_pingpong_64x64_c2x1_s10", 1.03},
    {"swapped_pingpong_64x88_c1x4_s10", 0.9418},
    {"swapped_pingpong_64x96_c4x1_s9", 1.03},
};

inline constexpr TimeModelSm90 kWideTimesSm90 = {
    .start = 1680,
    .mma_stretch = 1.293,
    .mma_least = 25.8,
    .step_more = 45.05,
    .l2 = 41.55,
    .l2_alone = 0.6686,
    .delivered = 89.25,
    .cluster = 2.012,
    .misaligned = 1.319,
    .tile_together = 4934,
    .tile_pingpong = 1100,
    .out = 0.2954,
    .join = 1738,
    .leave = 0.2592,
    .add = 0.1924,
    .uneven = 1.046,
    .reread = 1.833,
    .dram = 2846,
    .dram_busy = 0.9811,
    .dram_out = 0.3421,
    .reduce = 3459,
    .reduce_l2 = 681.6,
    .factors = kWideFactorsSm90,
};

inline constexpr TimeModelSm90::FormFactor kOtherLayoutFactorsSm90[] = {
    {"128x192_c2x1_s4", 1.062},
    {"128x256_c2x1_s4", 1.062},
    {"pingpong_128x112_c2x1_s6", 0.9704},
    {"pingpong_128x128_c1x2_s6", 1.03},
    {"pingpong_128x144_c2x1_s5", 1.03},
    {"pingpong_128x192_c2x1_s4", 0.9418},
    {"pingpong_128x80_c4x1_s7", 1.062},
    {"pingpong_64x128_c2x1_s8", 0.9139},
    {"pingpong_64x136_c2x1_s7", 1.162},
    {"pingpong_64x64_c1x4_s10", 0.9418},
    {"pingpong_64x64_c2x1_s10", 1.03},
    {"swapped_128x192_c2x1_s4", 1.03},
    {"swapped_128x64_c1x1_s8", 1.03},
    {"swapped_pingpong_128x104_c4x1_s6", 1.062},
    {"swapped_pingpong_128x112_c2x1_s6", 1.062},
    {"swapped_pingpong_128x128_c2x1_s6", 1.094},
    {"swapped_pingpong_128x160_c2x1_s4", 1.03},
    {"swapped_pingpong_128x176_c2x1_s4", 1.03},
    {"swapped_pingpong_128x32_c4x1_s9", 1.062},
    {"swapped_pingpong_128x80_c1x2_s7", 0.9704},
    {"swapped_pingpong_192x104_c1x2_s5", 1.03},
    {"swapped_pingpong_64x128_c4x1_s8", 1.03},
    {"swapped_pingpong_64x136_c2x1_s7", 1.03},
    {"swapped_pingpong_64x16_c2x1_s10", 1.197},
    {"swapped_pingpong_64x64_c1x2_s10", 0.9704},
    {"swapped_pingpong_64x64_c4x1_s10", 1.03},
    {"swapped_pingpong_64x80_c4x1_s10", 1.094},
};

inline constexpr TimeModelSm90 kOtherLayoutTimesSm90 = [] {
  TimeModelSm90 times = kWideTimesSm90;
  times.factors = kOtherLayoutFactorsSm90;
  return times;
}();

inline constexpr TimeModelSm90::FormFactor kNarrowFactorsSm90[] = {
    {"128x256_c2x1_s4", 0.9704},
    {"256x112_c1x2_s4", 0.9704},
    {"pingpong_128x168_c2x1_s5", 1.03},
    {"pingpong_128x176_c2x1_s5", 0.9704},
    {"pingpong_192x128_c1x2_s4", 0.9704},
    {"pingpong_192x96_c1x2_s5", 1.03},
    {"pingpong_64x128_c2x1_s8", 1.062},
    {"pingpong_64x64_c2x1_s10", 0.9704},
    {"swapped_128x192_c2x1_s4", 0.9704},
    {"swapped_128x88_c1x1_s7", 1.03},
    {"swapped_pingpong_128x32_c4x1_s9", 1.03},
    {"swapped_pingpong_128x64_c1x2_s8", 0.9139},
    {"swapped_pingpong_128x96_c4x1_s6", 1.03},
    {"swapped_pingpong_192x80_c1x2_s5", 1.03},
    {"swapped_pingpong_64x128_c4x1_s8", 0.9704},
    {"swapped_pingpong_64x16_c4x1_s10", 0.9418},
    {"swapped_pingpong_64x32_c1x2_s10", 0.9704},
    {"swapped_pingpong_64x48_c1x2_s10", 0.9704},
    {"swapped_pingpong_64x64_c4x1_s10", 0.9704},
    {"swapped_pingpong_64x96_c1x2_s9", 0.9704},
    {"swapped_pingpong_64x96_c4x1_s9", 1.03},
};

inline constexpr TimeModelSm90 kNarrowTimesSm90 = {
    .start = 1580,
    .mma_stretch = 1.394,
    .mma_least = 25.3,
    .step_more = 12.7,
    .l2 = 39.82,
    .l2_alone = 0.83,
    .delivered = 128.7,
    .cluster = 11.97,
    .misaligned = 1.335,
    .tile_together = 4427,
    .tile_pingpong = 263.5,
    .out = 0.152,
    .join = 1904,
    .leave = 0.2729,
    .add = 0.1752,
    .uneven = 1.099,
    .reread = 1.662,
    .dram = 3058,
    .dram_busy = 0.8523,
    .dram_out = 0.107,
    .reduce = 5477,
    .reduce_l2 = 1766,
    .factors = kNarrowFactorsSm90,
};

}  // namespace assay::kernels
