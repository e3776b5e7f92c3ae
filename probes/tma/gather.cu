// SPDX-License-Identifier: Apache-2.0
// TMA's gather4 and scatter4: four rows of a matrix that lie anywhere, by one copy, as a lookup of
// embeddings, a paged cache or the experts of a mixture ask for them. sm_100 and newer; scatter4
// only in the data-centre chips.
#include <algorithm>
#include <bit>

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "harness/ptx/tma_modes.cuh"
#include "harness/state.hpp"
#include "probes/memory/ring.hpp"
#include "probes/tma/ring.cuh"

// Own PTX: nvcc takes scatter4 for one architecture or family alone.

namespace {

using namespace assay;

constexpr int kWarps = 8, kStages = 16;
constexpr std::uint32_t kColumns = 64;             // bf16: rows of 128 bytes
constexpr std::uint32_t kSlot = 4 * kColumns * 2;  // bytes of a copy: four rows
constexpr std::uint64_t kBytes = std::uint64_t{1} << 30;
constexpr std::uint32_t kShared = kWarps * kStages * kSlot;

// Row `index` of those that are asked for, each once and in no order.
__device__ inline int row_of(std::uint32_t index, int bits) {
  return static_cast<int>(shuffle(index, bits));
}

__global__ void gather_rows(const __grid_constant__ CUtensorMap map, int bits, StreamWork work) {
#if __CUDA_ARCH__ >= 1000
  stream_ring(work, [&](std::uint32_t tile, char* to, ptx::Mbarrier* barrier) {
    ptx::tma_gather4(to, &map, barrier, 0, row_of(tile * 4, bits), row_of(tile * 4 + 1, bits),
                     row_of(tile * 4 + 2, bits), row_of(tile * 4 + 3, bits));
  });
#endif
}

// Row r of what is scattered holds r in all its words.
__global__ void scatter_rows(const __grid_constant__ CUtensorMap map, int bits, StreamWork work) {
#if __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200
  extern __shared__ __align__(1024) char slots[];
  std::uint32_t* mine = reinterpret_cast<std::uint32_t*>(slots + threadIdx.x / 32 * kSlot);
  Turn turn(work);
  const std::uint32_t count = turn.count();
#pragma unroll 1
  for (std::uint32_t i = 0; i < count; ++i, turn.next()) {
    int rows[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      rows[r] = row_of(turn.tile() * 4 + r, bits);
      mine[r * 32 + threadIdx.x % 32] = rows[r];
    }
    ptx::fence_proxy_async_shared();
    __syncwarp();
    if (ptx::elect_one()) {
      ptx::tma_scatter4(&map, mine, 0, rows[0], rows[1], rows[2], rows[3]);
      ptx::bulk_commit();
      ptx::bulk_wait_read<0>();
    }
    __syncwarp();
  }
  if (ptx::elect_one()) ptx::bulk_wait<0>();
#endif
}

// Counts the words that are not their row's number, but of rows that nobody was to write.
__global__ void count_wrong_rows(const std::uint32_t* words, int bits, std::uint32_t rows,
                                 std::uint32_t* wrong) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * 32;
       i += gridDim.x * blockDim.x) {
    const auto row = static_cast<std::uint32_t>(row_of(i / 32, bits));
    if (words[std::uint64_t{row} * 32 + i % 32] != row) atomicAdd(wrong, 1);
  }
}

struct Rows {
  char* array;
  int bits;
  StreamWork work;
  CUtensorMap map;
  unsigned ctas;
};

Rows rows_of(State& s) {
  Rows rows{.array = s.allocate<char>(kBytes)};
  rows.bits = std::countr_zero(kBytes / (kColumns * 2));
  rows.ctas = static_cast<unsigned>(s.device().sm_count);
  rows.map = ptx::encode_bf16_matrix(rows.array, kBytes / (kColumns * 2), kColumns, kColumns * 2, 1,
                                     kColumns, ptx::Swizzle::none);
  rows.work = {.array = rows.array,
               .tiles = static_cast<std::uint32_t>(kBytes / kSlot / rows.ctas) / kWarps * kWarps,
               .part_stride = 0,
               .tile_stride = 1,
               .passes = 1,
               .slot_bytes = kSlot,
               .slot_pitch = kSlot,
               .stages = kStages,
               .consume = 1};
  rows.work.part_stride = rows.work.tiles;
  return rows;
}

// What the first `count` rows asked for add up to, by plain loads.
__global__ void sum_rows(const std::uint32_t* words, int bits, std::uint32_t count,
                         std::uint32_t* sum) {
  std::uint32_t mine = 0;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count * 32;
       i += gridDim.x * blockDim.x)
    mine += words[std::uint64_t{static_cast<std::uint32_t>(row_of(i / 32, bits))} * 32 + i % 32];
  add_sum(sum, mine);
}

void run_gather(State& s) {
  Rows rows = rows_of(s);
  s.fill_random_bits(rows.array, kBytes);
  auto* sums = s.allocate<std::uint32_t>(2);
  rows.work.sum = sums + 1;
  check(cudaMemsetAsync(sums, 0, 2 * sizeof(*sums), s.stream()));
  const std::uint32_t count = rows.ctas * rows.work.tiles * 4;
  sum_rows<<<1024, 256, 0, s.stream()>>>(reinterpret_cast<const std::uint32_t*>(rows.array),
                                         rows.bits, count, sums);
  check(cudaFuncSetAttribute(gather_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  const auto launch = [&](cudaStream_t stream) {
    gather_rows<<<rows.ctas, 32 * kWarps, kShared, stream>>>(rows.map, rows.bits, rows.work);
  };
  launch(s.stream());
  check(cudaGetLastError());
  const auto found = download(sums, 2, s.stream());
  s.require(found[0] == found[1], "the rows gathered do not add up to those asked for");
  const double bytes = static_cast<double>(rows.ctas) * rows.work.tiles * kSlot;
  s.time({.bytes = bytes, .limit = dram_limit(s.device())}, launch);
}

void run_scatter(State& s) {
  Rows rows = rows_of(s);
  auto* wrong = s.allocate<std::uint32_t>(1);
  check(cudaMemsetAsync(rows.array, 0xff, kBytes, s.stream()));
  check(cudaMemsetAsync(wrong, 0, sizeof(*wrong), s.stream()));
  const auto launch = [&](cudaStream_t stream) {
    scatter_rows<<<rows.ctas, 32 * kWarps, kWarps * kSlot, stream>>>(rows.map, rows.bits,
                                                                     rows.work);
  };
  launch(s.stream());
  count_wrong_rows<<<1024, 256, 0, s.stream()>>>(reinterpret_cast<const std::uint32_t*>(rows.array),
                                                 rows.bits, rows.ctas * rows.work.tiles * 4, wrong);
  check(cudaGetLastError());
  s.require(download(wrong, 1, s.stream()).front() == 0,
            "words of scattered rows are not as written");
  const double bytes = static_cast<double>(rows.ctas) * rows.work.tiles * kSlot;
  s.time({.bytes = bytes, .limit = dram_limit(s.device())}, launch);
}

const Registration gather{{
    .name = "tma/gather4",
    .question = "How fast does TMA gather rows of 128 bytes from anywhere, four by a copy?",
    .cases = {{.suite = Suite::full}},
    .targets = targets_with(Feature::tma_gather),
    .pace = Pace::dram,
    .kernels =
        [](const Case&, Target) {
          return std::vector<KernelUse>{
              {.kernel = "gather_rows", .sass = {{"UTMALDG.2D.GATHER4", 1, 1}}}};
        },
    .run = run_gather,
}};

const Registration scatter{{
    .name = "tma/scatter4",
    .question = "How fast does TMA scatter rows of 128 bytes to anywhere, four by a copy?",
    .cases = {{.suite = Suite::full}},
    .targets = targets_with(Feature::tma_scatter),
    .pace = Pace::dram,
    .kernels =
        [](const Case&, Target) {
          return std::vector<KernelUse>{
              {.kernel = "scatter_rows", .sass = {{"UTMASTG.2D.SCATTER4", 1, 1}}}};
        },
    .run = run_scatter,
}};

}  // namespace
