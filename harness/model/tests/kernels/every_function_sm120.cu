// SPDX-License-Identifier: Apache-2.0
// Every function of harness/ptx/ that only sm_120 has: the model must have a meaning for each
// instruction. Not to be run.
#include "harness/ptx/matrix.cuh"

using namespace assay::ptx;

extern "C" __global__ void functions_of_sm120(std::uint32_t* words, float* sums) {
  const std::uint32_t a[4] = {words[0], words[1], words[2], words[3]};
  const std::uint32_t b[2] = {words[4], words[5]};
  float d[4] = {sums[0], sums[1], sums[2], sums[3]};
  mma_mxf8_e4m3<3, 1, 2>(d, a, b, words[6], words[7]);
  for (int i = 0; i < 4; ++i) sums[i] = d[i];
}
