// SPDX-License-Identifier: Apache-2.0
// Bugs that were found in published kernels, made again as small kernels: tensor memory. Each is
// there as it was reported and mended. The line that the model must name is marked with the rule it
// must name it by. Model, not silicon.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/tcgen05.cuh"
#include "harness/ptx/tma.cuh"

namespace {

using namespace assay::ptx;

constexpr int kColumns = 32;
constexpr std::uint32_t kOperand = 128 * 128;  // bytes of 128 rows of 64 bf16
constexpr std::uint32_t kProduct =             // 128 x 32
    tcgen05::instruction_descriptor({.kind = tcgen05::Kind::f16,
                                     .a = tcgen05::Element::bf16,
                                     .b = tcgen05::Element::bf16,
                                     .m = 128,
                                     .n = kColumns});

// All threads of the block call. The first warp gives the columns back, the others being done.
__device__ std::uint32_t allocated(std::uint32_t* address) {
  if (threadIdx.x < 32) tcgen05_alloc<1>(address, kColumns);
  tcgen05_fence_before_thread_sync();
  __syncthreads();
  tcgen05_fence_after_thread_sync();
  return *address;
}
__device__ void give_back(std::uint32_t address) {
  tcgen05_fence_before_thread_sync();
  __syncthreads();
  tcgen05_fence_after_thread_sync();
  if (threadIdx.x < 32) tcgen05_dealloc<1>(address, kColumns);
}

// The lanes of this thread's warp.
__device__ std::uint32_t mine(std::uint32_t address) {
  return address + (threadIdx.x / 32 % 4 * 32 << 16);
}

// https://github.com/vllm-project/flash-attention/pull/182: a slot of tensor memory is handed back
// when the registers of the load have their values, but nothing has waited for the load.
template <bool kMended>
__global__ void flash_attention_182(float* out) {
  __shared__ std::uint32_t columns;
  __shared__ Mbarrier full, empty;
  init_barriers(&full, 1, kThreads);
  init_barriers(&empty, 1, kThreads);
  const std::uint32_t slot = mine(allocated(&columns));
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (threadIdx.x >= kThreads) {  // the producers
      mbarrier_wait_parity(&empty, i & 1 ^ 1);
      tcgen05_fence_after_thread_sync();
      const std::uint32_t value[1] = {i};
      tcgen05_store_x1(slot, value);  // <- tensor_memory.overwritten_while_read
      tcgen05_wait_store();
      tcgen05_fence_before_thread_sync();
      mbarrier_arrive(&full);
    } else {
      mbarrier_wait_parity(&full, i & 1);
      tcgen05_fence_after_thread_sync();
      std::uint32_t value[1];
      tcgen05_load_x1(value, slot);
      if (kMended) tcgen05_wait_load();
      tcgen05_fence_before_thread_sync();
      mbarrier_arrive(&empty);
      tcgen05_wait_load();
      tcgen05_pin(value);
      out[i * kThreads + threadIdx.x] = static_cast<float>(value[0]);
    }
  }
  give_back(columns);
}

// https://github.com/mlc-ai/TIRx-kernels/pull/19: a warp gives the columns back when it has itself
// read them, and the other warps of its group may not have.
template <bool kMended>
__global__ void tirx_19(float* out) {
  __shared__ std::uint32_t columns;
  const std::uint32_t slot = mine(allocated(&columns)), address = columns;
  std::uint32_t value[1] = {threadIdx.x};
  tcgen05_store_x1(slot, value);
  tcgen05_wait_store();
  tcgen05_load_x1(value, slot);
  tcgen05_wait_load();
  tcgen05_pin(value);
  out[threadIdx.x] = static_cast<float>(value[0]);
  if (kMended) {
    tcgen05_fence_before_thread_sync();
    named_barrier_sync(1, kThreads);
    tcgen05_fence_after_thread_sync();
  }
  if (threadIdx.x < 32) tcgen05_dealloc<1>(address, kColumns);  // <- tensor_memory.race
}

// https://github.com/mlc-ai/TIRx-kernels/pull/7: the address that tcgen05.alloc leaves in shared
// memory is read by another warp, with the barrier before the allocation in place of after it.
template <bool kMended>
__global__ void tirx_7(float* out) {
  __shared__ std::uint32_t columns;
  if (threadIdx.x == 0) columns = 0;
  __syncthreads();
  if (threadIdx.x < 32) tcgen05_alloc<1>(&columns, kColumns);
  if (kMended) __syncthreads();
  out[threadIdx.x] = static_cast<float>(columns);  // <- race.shared
  __syncthreads();
  if (threadIdx.x < 32) tcgen05_dealloc<1>(columns, kColumns);
}

// https://github.com/tile-ai/tilelang/pull/3087: one barrier tells that the products of a step are
// done, and the wait takes the parity of the ring of operands. It falls through, and the next step
// fills a stage that a product still reads.
template <bool kMended>
__global__ void tilelang_3087(const std::uint8_t* in, float* out, int steps) {
  constexpr int kStages = 3;
  extern __shared__ __align__(1024) std::uint8_t stages[];
  __shared__ std::uint32_t columns;
  __shared__ Mbarrier full[kStages], done;
  init_barriers(full, kStages, 1);
  init_barriers(&done, 1, 1);
  const std::uint32_t d = allocated(&columns);
  if (threadIdx.x == 0) {
    const auto fill = [&](int k) {
      Mbarrier* barrier = &full[k % kStages];
      mbarrier_arrive_expect_tx(barrier, kOperand);
      bulk_load(stages + k % kStages * kOperand, in, kOperand, barrier);
    };
    for (int k = 0; k < kStages - 1; ++k) fill(k);
    for (int k = 0; k < steps; ++k) {
      if (k + kStages - 1 < steps) fill(k + kStages - 1);
      mbarrier_wait_parity(&full[k % kStages], k / kStages & 1);
      const std::uint64_t operand =
          tcgen05::k_major_128b(shared_address(stages + k % kStages * kOperand));
      tcgen05_mma_f16<1>(d, operand, operand, kProduct, k > 0);  // <- async.overwritten_while_read
      tcgen05_commit(&done);
      mbarrier_wait_parity(&done, (kMended ? k : k / kStages) & 1);
    }
    if (!kMended) mbarrier_wait_parity(&done, (steps - 1) & 1);
  }
  __syncthreads();
  tcgen05_fence_after_thread_sync();
  std::uint32_t value[1];
  tcgen05_load_x1(value, mine(d));
  tcgen05_wait_load();
  tcgen05_pin(value);
  out[threadIdx.x] = __uint_as_float(value[0]);
  give_back(columns);
}

// Each exists twice.
template __global__ void flash_attention_182<false>(float*);
template __global__ void flash_attention_182<true>(float*);
template __global__ void tirx_19<false>(float*);
template __global__ void tirx_19<true>(float*);
template __global__ void tirx_7<false>(float*);
template __global__ void tirx_7<true>(float*);
template __global__ void tilelang_3087<false>(const std::uint8_t*, float*, int);
template __global__ void tilelang_3087<true>(const std::uint8_t*, float*, int);

}  // namespace
