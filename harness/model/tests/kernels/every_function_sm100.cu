// SPDX-License-Identifier: Apache-2.0
// Every function of harness/ptx/ that came with sm_100: the model must have a meaning for each
// instruction. Not to be run.
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/tcgen05.cuh"
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

template <int kCtas>
__device__ void tensor_memory(std::uint32_t* address, std::uint64_t operand, std::uint32_t* words) {
  tcgen05_alloc<kCtas>(address, 64);
  tcgen05_relinquish_alloc_permit<kCtas>();
  tcgen05_mma_f16<kCtas>(*address, operand, operand, words[0], words[1] != 0);
  tcgen05_dealloc<kCtas>(*address, 64);
}

extern "C" __global__ void tcgen05_of_sm100(const __grid_constant__ CUtensorMap map,
                                            std::uint64_t operand, std::uint32_t* words) {
  __shared__ alignas(128) uint4 box[64];
  __shared__ Mbarrier barrier;
  __shared__ std::uint32_t address;
  tensor_memory<1>(&address, operand, words);
  tensor_memory<2>(&address, operand, words);
  tcgen05_commit(&barrier);
  tcgen05_commit_multicast(&barrier, 3);
  tcgen05_fence_before_thread_sync();
  tcgen05_fence_after_thread_sync();
  std::uint32_t one[1], eight[8], sixteen[16], many[32];
  tcgen05_load_x1(one, address);
  tcgen05_load_x8(eight, address);
  tcgen05_load_x16(sixteen, address);
  tcgen05_load_x32(many, address);
  tcgen05_wait_load();
  tcgen05_pin(many);
  tcgen05_store_x1(address, one);
  tcgen05_store_x8(address, eight);
  tcgen05_store_x16(address, sixteen);
  tcgen05_store_x32(address, many);
  tcgen05_wait_store();
  tma_load_2d_pair(box, &map, &barrier, 0, 0, 0);
}
