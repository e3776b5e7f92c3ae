// SPDX-License-Identifier: Apache-2.0
// Every function of harness/ptx/ that sm_90a has, once in each of its forms: the model must have a
// meaning for each instruction. Not to be run.
#include "harness/ptx/arithmetic.cuh"
#include "harness/ptx/cache_policy.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/cp_async.cuh"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/ptx/stopwatch.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "harness/ptx/wgmma.cuh"

using namespace assay::ptx;

extern "C" __global__ void memory_functions(uint4* v4, std::uint32_t* words, std::uint64_t* longs,
                                            uint2* v2, uint4** pointers) {
  __shared__ std::uint32_t word;
  std::uint64_t policy = create_policy<Eviction::normal>() + create_policy<Eviction::first>() +
                         create_policy<Eviction::last>();
  store_v4_hinted(v4, load_v4_hinted(v4 + 1, policy), policy);
  store_v4(v4, load_v4(v4 + 1));
  store_v4_once(v4, load_v4_once(v4 + 1));
  store_v4(v4, load_v4_l2(v4 + 1));
  store_v4(v4, load_v4_not_to_l1(v4 + 1));
  store_v4(v4, load_v4_constant_not_to_l1(v4 + 1));
  *v2 = load_v2_l2(v2 + 1);
  store_v4(load_pointer(pointers), load_v4(load_pointer_l2(pointers)));
  words[0] = load_u32(words) + load_u32_l1(words + 1) + load_u32_l2(words + 2) +
             load_u32_volatile(words + 3) + load_u32_prefetching<64>(words + 4) +
             load_u32_prefetching<128>(words + 5) + load_u32_prefetching<256>(words + 6);
  std::uint32_t one[1], two[2], four[4];
  load_words(one, words);
  load_words(two, words);
  load_words(four, words);
  store_words(words + 4, one);
  store_words(words + 4, two);
  store_words(words + 4, four);
  store_words(words, one);
  store_words(words + 2, two);
  store_v4(v4, load_shared_v4(load_shared_u32(shared_address(&word))));
  words[1] = load_relaxed(words) + load_acquire(words) + fetch_add(words, 1);
  store_relaxed(words, 0);
  increment_release(words);
  increment_release_shared(&word);
  words[2] = load_acquire_shared(&word);
  reduce_or(longs, load_relaxed_sys(longs));
  reduce_max(longs, fetch_or(longs, 1) + fetch_add_sys(longs, 2));
  longs[1] = assay::ptx::clock64() + clock32() + globaltimer() + smid();
  words[5] = and_or(words[6], 1, 2) + and_xor(words[7], 3, 4) + lop3<0x96>(words[8], 5, 6) +
             permute_bytes(words[9], words[10], 0x8140);
  prefetch_l2(words);
  words[3] = ex2_approx_f16x2(__float_as_uint(ex2_approx_ftz(__uint_as_float(words[4]))));
  words[11] = __float_as_uint(rcp_approx_ftz(__uint_as_float(words[12])));
}

extern "C" __global__ void cluster_functions(std::uint32_t* words, uint4* v4) {
  __shared__ alignas(16) std::uint32_t mine[8];
  __shared__ Mbarrier barrier;
  words[0] =
      cluster_cta_rank() + cluster_cta_count() + cluster_id_x() + cluster_count_x() + cta_index_x();
  cluster_arrive();
  cluster_wait();
  cluster_arrive_relaxed();
  cluster_sync();
  const std::uint32_t at = map_shared_address(shared_address(mine), 1);
  const std::uint32_t remote = map_shared_address(shared_address(&barrier), 1);
  words[1] = cluster_load_u32(at) + cluster_load_weak_u32(at);
  *v4 = cluster_load_v4(at);
  cluster_store_v4(at, *v4);
  cluster_store_u32(at, words[0]);
  cluster_store_async_v2(at, {words[0], words[1]}, remote);
  cluster_store_async_v4(at, *v4, remote);
  cluster_copy_bulk(at, shared_address(mine), 16, remote);
  words[2] = cluster_fetch_or(at, 1) + cluster_fetch_add(at, 1) + cluster_fetch_min(at, 1) +
             cluster_fetch_max(at, 1) + cluster_compare_and_swap(at, 1, 2);
}

extern "C" __global__ void synchronization_functions(std::uint32_t* words) {
  __shared__ alignas(16) std::uint32_t mine[64];
  __shared__ Mbarrier barrier;
  fence_acq_rel<FenceScope::cta>();
  fence_acq_rel<FenceScope::cluster>();
  fence_acq_rel<FenceScope::gpu>();
  fence_acq_rel<FenceScope::sys>();
  fence_sc<FenceScope::cta>();
  fence_sc<FenceScope::cluster>();
  fence_sc<FenceScope::gpu>();
  fence_sc<FenceScope::sys>();
  mbarrier_init(&barrier, 1);
  fence_mbarrier_init();
  fence_proxy_async_shared();
  fence_proxy_async_global();
  fence_proxy_async();
  mbarrier_arrive(&barrier);
  mbarrier_arrive_remote(&barrier, 1);
  mbarrier_arrive_remote_release(&barrier, 1);
  mbarrier_arrive_expect_tx(&barrier, 16);
  mbarrier_expect_tx(&barrier, 16);
  mbarrier_complete_tx(&barrier, 16);
  words[0] = mbarrier_try_wait_parity(&barrier, 0) + mbarrier_test_wait_parity(&barrier, 0) +
             mbarrier_try_wait_parity_cluster(&barrier, 0) + elect_one();
  mbarrier_wait_parity(&barrier, 0);
  mbarrier_invalidate(&barrier);
  named_barrier_arrive(1, 64);
  named_barrier_sync(1, 64);
  launch_dependents();
  wait_for_dependencies();
  std::uint32_t r[4];
  ldmatrix_x4(r, shared_address(mine));
  stmatrix_x4(shared_address(mine), r);
  stmatrix_x4_transposed(shared_address(mine), r);
  std::uint32_t b[2];
  float d[4] = {};
  ldmatrix_x2(b, shared_address(mine));
  ldmatrix_x4_trans(r, shared_address(mine));
  mma_m16n8k16_bf16(d, r, b);
  mma_m16n8k16_f16(d, r, b);
  mma_m16n8k32_e4m3(d, r, b);
  mma_m16n8k32_e5m2(d, r, b);
  mma_m16n8k32_e4m3_e5m2(d, r, b);
  mma_m16n8k32_e5m2_e4m3(d, r, b);
  words[1] = __float_as_uint(d[0]);
  setmaxnreg_decrease<24>();
  setmaxnreg_increase<240>();
}

extern "C" __global__ void copy_functions(const __grid_constant__ CUtensorMap map, uint4* out) {
  __shared__ alignas(128) uint4 box[64];
  __shared__ Mbarrier barrier;
  cp_async<4>(box, out);
  cp_async<8>(box, out);
  cp_async<16>(box, out);
  cp_async_filled<4>(box, out, 3);
  cp_async_filled<8>(box, out, 0);
  cp_async_filled<16>(box, out, 16);
  cp_async_commit();
  cp_async_wait<1>();
  tma_prefetch_map(&map);
  const int one[1] = {}, two[2] = {}, three[3] = {}, four[4] = {}, five[5] = {};
  tma_load(box, &map, &barrier, one);  // tma_load_1d() and its kin
  tma_load(box, &map, &barrier, two);
  tma_load(box, &map, &barrier, three);
  tma_load(box, &map, &barrier, four);
  tma_load(box, &map, &barrier, five);
  tma_load_1d(box, &map, &barrier, 0);
  tma_load_2d(box, &map, &barrier, 0, 0);
  tma_load_2d_hinted(box, &map, &barrier, 0, 0, create_policy<Eviction::first>());
  tma_load_2d_multicast_hinted(box, &map, &barrier, 1, 0, 0, create_policy<Eviction::first>());
  tma_load_3d(box, &map, &barrier, 0, 0, 0);
  tma_load_4d(box, &map, &barrier, 0, 0, 0, 0);
  tma_load_5d(box, &map, &barrier, 0, 0, 0, 0, 0);
  tma_load_2d_multicast(box, &map, &barrier, 1, 0, 0);
  tma_load_im2col_4d(box, &map, &barrier, 0, 0, 0, 0, 0, 0);
  tma_store_1d(&map, box, 0);
  tma_store_2d(&map, box, 0, 0);
  tma_store_3d(&map, box, 0, 0, 0);
  tma_store_4d(&map, box, 0, 0, 0, 0);
  tma_store_5d(&map, box, 0, 0, 0, 0, 0);
  tma_add_2d(&map, box, 0, 0);
  fence_tensor_map(&map);
  bulk_load(box, out, 16, &barrier);
  bulk_load_multicast(box, out, 16, &barrier, 1);
  bulk_store(out, box, 16);
  bulk_add<BulkType::u32>(out, box, 16);
  bulk_add<BulkType::u64>(out, box, 16);
  bulk_add<BulkType::f32>(out, box, 16);
  bulk_add<BulkType::f64>(out, box, 16);
  bulk_add<BulkType::f16>(out, box, 16);
  bulk_add<BulkType::bf16>(out, box, 16);
  bulk_commit();
  bulk_wait_read<1>();
  bulk_wait<0>();
}

extern "C" __global__ void matrix_functions(float* out, std::uint64_t a, std::uint64_t b) {
  float d8[4], d64[32], d128[64], d256[128];
  wgmma_fence();
  wgmma<WgmmaTypes::bf16>(d8, a, b, false);
  wgmma<WgmmaTypes::f16>(d64, a, b, false);
  wgmma<WgmmaTypes::bf16, 1, 1>(d128, a, b, false);
  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < 4; ++i) out[i] = d8[i] + d64[i] + d128[i];
  wgmma<WgmmaTypes::e4m3>(d256, a, b, false);
  wgmma<WgmmaTypes::e4m3_e5m2>(d256, a, b, true);
  wgmma<WgmmaTypes::e5m2_e4m3>(d256, a, b, true);
  wgmma<WgmmaTypes::e5m2>(d256, a, b, true);
  wgmma_commit();
  wgmma_wait<0>();
  wgmma_pin(d256);
  std::uint32_t registers[1][4] = {{1, 2, 3, 4}};
  wgmma_fence(registers);
  wgmma_a_in_registers(d8, registers[0], b, true);
  wgmma_a_in_registers(d64, registers[0], b, false);
  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < 128; ++i) out[i] = d256[i];
}
