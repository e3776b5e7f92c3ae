// SPDX-License-Identifier: Apache-2.0
// Every function of harness/ptx/ that came with sm_100: the model must have a meaning for each
// instruction. Not to be run.
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/tma_modes.cuh"

using namespace assay::ptx;

extern "C" __global__ void functions_of_sm100(const __grid_constant__ CUtensorMap map,
                                              std::uint32_t* words) {
  __shared__ alignas(128) uint4 box[64];
  __shared__ Mbarrier barrier;
  try_cancel_launch(box, &barrier);
  words[8] = cancelled_cta(box, words[0]);
  tma_gather4(box, &map, &barrier, 0, 0, 1, 2, 3);
  tma_scatter4(&map, box, 0, 0, 1, 2, 3);
  std::uint32_t eight[8];
  load_words(eight, words);
  store_words(words + 8, eight);
}
