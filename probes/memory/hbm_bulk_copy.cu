// SPDX-License-Identifier: Apache-2.0
// Copying device memory without registers: one thread per SM keeps a ring of tiles in shared memory
// on the way in and out by bulk copies (cp.async.bulk), some 190 KiB under way on each SM of the
// data-centre chips. Tiles are dealt out round robin; all SMs get as many, give or take one.
#include <algorithm>

#include "harness/device.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/state.hpp"
#include "probes/memory/hbm.cuh"

namespace {

using assay::HbmArrays;

constexpr std::uint32_t kTile = 16 << 10;                // bytes
[[maybe_unused]] constexpr std::uint32_t kTileVectors =  // not before sm_90
    kTile / sizeof(uint4);
constexpr int kMaxStages = 16;

__global__ void copy_bulk(HbmArrays arrays, int stages) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) std::byte ring[];
  __shared__ assay::ptx::Mbarrier full[kMaxStages];
  if (!assay::ptx::elect_one()) return;
#pragma unroll 1
  for (int i = 0; i < stages; ++i) assay::ptx::mbarrier_init(&full[i], 1);
  assay::ptx::fence_mbarrier_init();

  const std::size_t tiles = arrays.vectors / kTileVectors;
  const auto load = [&](std::size_t tile, int stage) {
    if (tile >= tiles) return;
    assay::ptx::mbarrier_arrive_expect_tx(&full[stage], kTile);
    assay::ptx::bulk_load(ring + stage * kTile, arrays.in + tile * kTileVectors, kTile,
                          &full[stage]);
  };
#pragma unroll 1
  for (int i = 0; i < stages; ++i) load(blockIdx.x + std::size_t{gridDim.x} * i, i);

  int stage = 0, previous = stages - 1;
  std::uint32_t parity = 0;
  for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    assay::ptx::mbarrier_wait_parity(&full[stage], parity);
    assay::ptx::bulk_store(arrays.out + tile * kTileVectors, ring + stage * kTile, kTile);
    assay::ptx::bulk_commit();
    // Refill the stage whose store was committed one round ago, once that has read it.
    if (tile >= gridDim.x) {
      assay::ptx::bulk_wait_read<1>();
      load(tile + std::size_t{gridDim.x} * (stages - 1), previous);
    }
    previous = stage;
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  assay::ptx::bulk_wait<0>();
#endif
}

void run(assay::State& s) {
  const assay::Device& device = s.device();
  const auto most = static_cast<int>((device.shared_bytes_per_block - 1024) / kTile);
  const int stages = std::min(most, kMaxStages);
  const auto shared_bytes = static_cast<int>(stages * kTile);
  s.set_param("stages", stages);
  assay::check(
      cudaFuncSetAttribute(copy_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  assay::measure_hbm(
      s, 1, 1,
      [&](const HbmArrays& arrays, cudaStream_t stream) {
        copy_bulk<<<device.sm_count, 32, shared_bytes, stream>>>(arrays, stages);
      },
      [&](const HbmArrays& arrays) { assay::require_copied(s, arrays); });
}

const assay::Registration registration{{
    .name = "memory/hbm/copy_bulk",
    .question = "How fast can all SMs together copy device memory by bulk copies?",
    .cases = {{.suite = assay::Suite::full}},
    .targets = assay::targets_with(assay::Feature::tma),
    .pace = assay::Pace::dram,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "copy_bulk", .sass = {{"UBLKCP.S.G", 1, 1}, {"UBLKCP.G.S", 1, 1}}}};
        },
    .run = run,
}};

}  // namespace
