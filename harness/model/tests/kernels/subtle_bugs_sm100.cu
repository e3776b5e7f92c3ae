// SPDX-License-Identifier: Apache-2.0
// More bugs as they are made, each with its mend: tensor memory. The line that the model must name
// is marked with the rule it must name it by. Model, not silicon.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"
#include "harness/ptx/mbarrier.cuh"
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

__device__ void meet() {
  tcgen05_fence_before_thread_sync();
  __syncthreads();
  tcgen05_fence_after_thread_sync();
}

// All threads of the block call these.
__device__ std::uint32_t allocated(std::uint32_t* address) {
  if (threadIdx.x < 32) tcgen05_alloc<1>(address, kColumns);
  meet();
  return *address;
}
__device__ void give_back(std::uint32_t address) {
  meet();
  if (threadIdx.x < 32) tcgen05_dealloc<1>(address, kColumns);
}

// The lanes of this thread's warp.
__device__ std::uint32_t mine(std::uint32_t address) {
  return address + (threadIdx.x / 32 % 4 * 32 << 16);
}

__device__ void load_operand(void* to, const CUtensorMap* map, Mbarrier* full) {
  mbarrier_arrive_expect_tx(full, kOperand);
  tma_load_2d(to, map, full, 0, 0);
}

// All 64 of K of an operand with itself.
__device__ void multiply(std::uint32_t d, const std::uint8_t* operand, bool accumulate) {
  const std::uint64_t descriptor = tcgen05::k_major_128b(shared_address(operand));
  for (std::uint32_t k = 0; k < 4; ++k)
    tcgen05_mma_f16<1>(d, advance(descriptor, 32 * k), advance(descriptor, 32 * k), kProduct,
                       accumulate || k > 0);
}

__device__ void leave_first(std::uint32_t d, float* out) {
  std::uint32_t value[1];
  tcgen05_load_x1(value, mine(d));
  tcgen05_wait_load();
  tcgen05_pin(value);
  out[threadIdx.x] = __uint_as_float(value[0]);
}

// Two loads, and the wait stands between them: the second one's registers go out unwaited for.
template <bool kMended>
__global__ void second_load(float* out) {
  __shared__ std::uint32_t columns;
  const std::uint32_t slot = mine(allocated(&columns));
  const std::uint32_t written[1] = {threadIdx.x};
  tcgen05_store_x1(slot, written);
  tcgen05_store_x1(slot + 1, written);
  tcgen05_wait_store();
  std::uint32_t first[1], second[1];
  tcgen05_load_x1(first, slot);
  if (!kMended) tcgen05_wait_load();
  tcgen05_load_x1(second, slot + 1);
  if (kMended) tcgen05_wait_load();
  tcgen05_pin(first);
  tcgen05_pin(second);
  out[threadIdx.x] = __uint_as_float(first[0] + second[0]);  // <- tensor_memory.register_in_flight
  tcgen05_wait_load();
  give_back(columns);
}

// The sums begin with what threads store, and nothing waits for the stores.
template <bool kMended>
__global__ void begun_by_stores(const std::uint16_t*, float* out,
                                const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) std::uint8_t operand[];
  __shared__ std::uint32_t columns;
  __shared__ Mbarrier full, done;
  init_barriers(&full, 1, 1);
  init_barriers(&done, 1, 1);
  const std::uint32_t d = allocated(&columns);
  std::uint32_t bias[32];
  for (std::uint32_t& b : bias) b = __float_as_uint(1.0f);
  tcgen05_store_x32(mine(d), bias);
  if (kMended) tcgen05_wait_store();
  meet();
  if (threadIdx.x == 0) {
    load_operand(operand, &map, &full);
    mbarrier_wait_parity(&full, 0);
    multiply(d, operand, true);  // <- tensor_memory.read_before_complete
    tcgen05_commit(&done);
  }
  mbarrier_wait_parity(&done, 0);
  tcgen05_fence_after_thread_sync();
  tcgen05_wait_store();
  leave_first(d, out);
  give_back(d);
}

// The commit stands before the last products.
template <bool kMended>
__global__ void committed_early(const std::uint16_t*, float* out,
                                const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) std::uint8_t operand[];
  __shared__ std::uint32_t columns;
  __shared__ Mbarrier full, done;
  init_barriers(&full, 1, 1);
  init_barriers(&done, 1, 1);
  const std::uint32_t d = allocated(&columns);
  if (threadIdx.x == 0) {
    load_operand(operand, &map, &full);
    mbarrier_wait_parity(&full, 0);
    multiply(d, operand, false);
    if (!kMended) tcgen05_commit(&done);
    multiply(d, operand, true);  // <- tensor_memory.read_before_complete
    if (kMended) tcgen05_commit(&done);
  }
  mbarrier_wait_parity(&done, 0);
  tcgen05_fence_after_thread_sync();
  leave_first(d, out);
  give_back(d);
}

// Nobody reads the sums of the last tile, and so nobody waits: the columns are freed under way.
template <bool kMended>
__global__ void freed_under_way(const std::uint16_t*, float* out,
                                const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) std::uint8_t operand[];
  __shared__ std::uint32_t columns;
  __shared__ Mbarrier full, done;
  init_barriers(&full, 1, 1);
  init_barriers(&done, 1, 1);
  const std::uint32_t d = allocated(&columns);
  if (threadIdx.x == 0) {
    load_operand(operand, &map, &full);
    mbarrier_wait_parity(&full, 0);
    multiply(d, operand, false);
    tcgen05_commit(&done);
  }
  if (kMended) mbarrier_wait_parity(&done, 0);
  meet();
  if (threadIdx.x < 32) tcgen05_dealloc<1>(d, kColumns);  // <- tensor_memory.race
  mbarrier_wait_parity(&done, 0);
  out[threadIdx.x] = 0;
}

// The map lays the operand in another swizzle than the descriptor says.
template <bool kMended>
__global__ void operand_swizzle(const std::uint16_t*, float* out,
                                const __grid_constant__ CUtensorMap of_64_bytes,
                                const __grid_constant__ CUtensorMap of_128_bytes) {
  extern __shared__ __align__(1024) std::uint8_t operand[];
  __shared__ std::uint32_t columns;
  __shared__ Mbarrier full, done;
  init_barriers(&full, 1, 1);
  init_barriers(&done, 1, 1);
  const std::uint32_t d = allocated(&columns);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kOperand);
    if (kMended) {
      tma_load_2d(operand, &of_128_bytes, &full, 0, 0);
    } else {
      tma_load_2d(operand, &of_64_bytes, &full, 0, 0);
      tma_load_2d(operand + kOperand / 2, &of_64_bytes, &full, 32, 0);
    }
    mbarrier_wait_parity(&full, 0);
    multiply(d, operand, false);  // <- matrix.swizzle
    tcgen05_commit(&done);
  }
  mbarrier_wait_parity(&done, 0);
  tcgen05_fence_after_thread_sync();
  leave_first(d, out);
  give_back(d);
}

// Each exists twice.
template __global__ void second_load<false>(float*);
template __global__ void second_load<true>(float*);
template __global__ void begun_by_stores<false>(const std::uint16_t*, float*,
                                                const __grid_constant__ CUtensorMap);
template __global__ void begun_by_stores<true>(const std::uint16_t*, float*,
                                               const __grid_constant__ CUtensorMap);
template __global__ void committed_early<false>(const std::uint16_t*, float*,
                                                const __grid_constant__ CUtensorMap);
template __global__ void committed_early<true>(const std::uint16_t*, float*,
                                               const __grid_constant__ CUtensorMap);
template __global__ void freed_under_way<false>(const std::uint16_t*, float*,
                                                const __grid_constant__ CUtensorMap);
template __global__ void freed_under_way<true>(const std::uint16_t*, float*,
                                               const __grid_constant__ CUtensorMap);
template __global__ void operand_swizzle<false>(const std::uint16_t*, float*,
                                                const __grid_constant__ CUtensorMap,
                                                const __grid_constant__ CUtensorMap);
template __global__ void operand_swizzle<true>(const std::uint16_t*, float*,
                                               const __grid_constant__ CUtensorMap,
                                               const __grid_constant__ CUtensorMap);

}  // namespace
