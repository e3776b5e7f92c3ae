// SPDX-License-Identifier: Apache-2.0
#include "probes/tma/movers.hpp"

#include <algorithm>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "harness/ptx/cp_async.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "probes/tma/ring.cuh"

namespace assay {
namespace {

constexpr int kCopyStages = 4;  // groups of a thread's cp.async under way

__global__ void stream_bulk(const __grid_constant__ CUtensorMap, StreamWork work) {
#if __CUDA_ARCH__ >= 900
  stream_ring(work, [&](std::uint32_t tile, char* to, ptx::Mbarrier* barrier) {
    ptx::bulk_load(to, work.array + std::uint64_t{tile} * work.slot_bytes, work.slot_bytes,
                   barrier);
  });
#endif
}

template <int kDimensions>
__global__ void stream_boxes(const __grid_constant__ CUtensorMap map, StreamWork work) {
#if __CUDA_ARCH__ >= 900
  stream_ring(work, [&](std::uint32_t tile, char* to, ptx::Mbarrier* barrier) {
    int c[kDimensions];
#pragma unroll
    for (int d = 0; d < kDimensions; ++d) c[d] = work.grid.coordinate(tile, d);
    ptx::tma_load(to, &map, barrier, c);
  });
#endif
}

// Each thread copies for itself, kRows times for each group, so nobody waits for anybody else.
template <int kBytes, int kRows>
__global__ void __launch_bounds__(1024)
    stream_copies(const __grid_constant__ CUtensorMap, StreamWork work) {
  extern __shared__ __align__(1024) char slots[];
  const unsigned lane = threadIdx.x % 32;
  constexpr std::uint32_t kSlot = kRows * 32 * kBytes;
  char* mine = slots + threadIdx.x / 32 * kCopyStages * kSlot + lane * kBytes;
  Turn turn(work);
  const std::uint32_t count = turn.count();
  const auto fill = [&](int stage, bool more) {
    if (more) {
      const char* from = work.array + std::uint64_t{turn.tile()} * kSlot + lane * kBytes;
      char* to = mine + stage * kSlot;
#pragma unroll
      for (int at = 0; at < kRows * 32 * kBytes; at += 32 * kBytes)
        ptx::cp_async<kBytes>(to + at, from + at);
      turn.next();
    }
    ptx::cp_async_commit();
  };
#pragma unroll 1
  for (int stage = 0; stage < kCopyStages; ++stage)
    fill(stage, static_cast<std::uint32_t>(stage) < count);
  std::uint32_t sum = 0;
  int stage = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < count; ++i) {
    ptx::cp_async_wait<kCopyStages - 1>();
    if (work.consume) {
      const char* arrived = mine + stage * kSlot;
#pragma unroll
      for (int at = 0; at < kRows * 32 * kBytes; at += 32 * kBytes)
#pragma unroll
        for (int word = 0; word < kBytes; word += 4)
          sum += *reinterpret_cast<const std::uint32_t*>(arrived + at + word);
    }
    fill(stage, i + kCopyStages < count);
    stage = (stage + 1) % kCopyStages;
  }
  add_sum(work.sum, sum);
}

template <int kBytes, int kVectors>
__global__ void __launch_bounds__(kBytes* kVectors > 128 ? 768 : 1024)
    stream_loads(const __grid_constant__ CUtensorMap, StreamWork work) {
#if __CUDA_ARCH__ >= 1000
  constexpr bool kExists = true;
#else
  constexpr bool kExists = kBytes == 16;
#endif
  if constexpr (kExists) {
    Turn turn(work);
    const std::uint32_t count = turn.count();
    std::uint32_t sum = 0;
#pragma unroll 1
    for (std::uint32_t i = 0; i < count; ++i, turn.next()) {
      const char* from = work.array + std::uint64_t{turn.tile()} * (kVectors * 32 * kBytes) +
                         threadIdx.x % 32 * kBytes;
      std::uint32_t words[kVectors][kBytes / 4];
#pragma unroll
      for (int v = 0; v < kVectors; ++v) ptx::load_words(words[v], from + v * 32 * kBytes);
      // A zero that nobody knows before all have come: else ptxas saves registers by using the
      // first words before it asks for the last.
      std::uint32_t none = 0;
#pragma unroll
      for (const auto& vector : words) none |= vector[0];
      none &= work.zero;
#pragma unroll
      for (const auto& vector : words)
#pragma unroll
        for (const std::uint32_t word : vector) sum += word ^ none;
    }
    add_sum(work.sum, sum);
  }
}

}  // namespace

// Made when first asked for: registrations in other files ask before main() begins.
std::span<const Mover> movers() {
  static const std::vector<Mover> all = {
      {.name = "bulk",
       .opcode = "UBLKCP.S.G",
       .needs = Feature::tma,
       .variants = {{"stream_bulk", stream_bulk}}},
      {.name = "tensor_1d",
       .opcode = "UTMALDG.1D",
       .needs = Feature::tma,
       .dimensions = 1,
       .variants = {{"stream_boxes<1>", stream_boxes<1>}}},
      {.name = "tensor_2d",
       .opcode = "UTMALDG.2D",
       .needs = Feature::tma,
       .dimensions = 2,
       .variants = {{"stream_boxes<2>", stream_boxes<2>}}},
      {.name = "tensor_3d",
       .opcode = "UTMALDG.3D",
       .needs = Feature::tma,
       .dimensions = 3,
       .variants = {{"stream_boxes<3>", stream_boxes<3>}}},
      {.name = "tensor_4d",
       .opcode = "UTMALDG.4D",
       .needs = Feature::tma,
       .dimensions = 4,
       .variants = {{"stream_boxes<4>", stream_boxes<4>}}},
      {.name = "tensor_5d",
       .opcode = "UTMALDG.5D",
       .needs = Feature::tma,
       .dimensions = 5,
       .variants = {{"stream_boxes<5>", stream_boxes<5>}}},
      {.name = "cp_async_16",
       .opcode = "LDGSTS.E.BYPASS.128",
       .access_bytes = 16,
       .stages = kCopyStages,
       .variants = {{"stream_copies<16, 1>", stream_copies<16, 1>, 1},
                    {"stream_copies<16, 2>", stream_copies<16, 2>, 2},
                    {"stream_copies<16, 4>", stream_copies<16, 4>, 4}}},
      {.name = "cp_async_8",
       .opcode = "LDGSTS.E.64",
       .access_bytes = 8,
       .stages = kCopyStages,
       .variants = {{"stream_copies<8, 1>", stream_copies<8, 1>, 1},
                    {"stream_copies<8, 2>", stream_copies<8, 2>, 2},
                    {"stream_copies<8, 4>", stream_copies<8, 4>, 4},
                    {"stream_copies<8, 8>", stream_copies<8, 8>, 8}}},
      {.name = "cp_async_4",
       .opcode = "LDGSTS.E",
       .access_bytes = 4,
       .stages = kCopyStages,
       .variants = {{"stream_copies<4, 1>", stream_copies<4, 1>, 1},
                    {"stream_copies<4, 2>", stream_copies<4, 2>, 2},
                    {"stream_copies<4, 4>", stream_copies<4, 4>, 4},
                    {"stream_copies<4, 8>", stream_copies<4, 8>, 8},
                    {"stream_copies<4, 16>", stream_copies<4, 16>, 16}}},
      {.name = "ld_16",
       .opcode = "LDG.E.128",
       .access_bytes = 16,
       .variants = {{"stream_loads<16, 4>", stream_loads<16, 4>, 4},
                    {"stream_loads<16, 8>", stream_loads<16, 8>, 8},
                    {"stream_loads<16, 16>", stream_loads<16, 16>, 16}}},
      {.name = "ld_32",
       .opcode = "LDG.E",
       .needs = Feature::wide_loads,
       .access_bytes = 32,
       .variants = {{"stream_loads<32, 2>", stream_loads<32, 2>, 2},
                    {"stream_loads<32, 4>", stream_loads<32, 4>, 4},
                    {"stream_loads<32, 8>", stream_loads<32, 8>, 8}}}};
  return all;
}

const Mover& mover(const std::string& name) {
  const auto found = std::ranges::find_if(movers(), [&](const Mover& m) { return m.name == name; });
  if (found == movers().end())
    throw Error(ExitCode::usage, "no way to move data is called '" + name + "'");
  return *found;
}

// The sum of all 32-bit words by plain loads.
__global__ void sum_words(const std::uint32_t* words, std::size_t count, std::uint32_t* sum) {
  std::uint32_t mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += words[i];
  add_sum(sum, mine);
}

void sum_array(const void* array, std::uint64_t bytes, std::uint32_t* sum, cudaStream_t stream) {
  sum_words<<<1024, 256, 0, stream>>>(static_cast<const std::uint32_t*>(array), bytes / 4, sum);
  check(cudaGetLastError());
}

// One tile, brought as the streams bring it, as shared memory then holds it.
template <int kDimensions>
__global__ void fetch(const __grid_constant__ CUtensorMap map, BoxGrid grid, std::uint32_t tile,
                      std::uint32_t bytes, std::uint32_t* out) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char slots[];
  __shared__ ptx::Mbarrier full;
  if (ptx::elect_one()) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&full, bytes);
    int c[kDimensions];
#pragma unroll
    for (int d = 0; d < kDimensions; ++d) c[d] = grid.coordinate(tile, d);
    ptx::tma_load(slots, &map, &full, c);
  }
  __syncwarp();
  ptx::mbarrier_wait_parity(&full, 0);
  for (std::uint32_t at = threadIdx.x * 4; at < bytes; at += 128)
    out[at / 4] = *reinterpret_cast<const std::uint32_t*>(slots + at);
#endif
}

void fetch_box(int dimensions, const CUtensorMap& map, const BoxGrid& grid, std::uint32_t tile,
               std::uint32_t bytes, std::uint32_t* out, cudaStream_t stream) {
  constexpr decltype(&fetch<1>) kKernels[] = {fetch<1>, fetch<2>, fetch<3>, fetch<4>, fetch<5>};
  const auto kernel = kKernels[dimensions - 1];
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)));
  kernel<<<1, 32, bytes, stream>>>(map, grid, tile, bytes, out);
  check(cudaGetLastError());
}

}  // namespace assay
