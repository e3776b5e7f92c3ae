// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth through TMA box loads of a bf16 matrix, as a GEMM reads its operands.
#include "harness/ptx/tensor_map.hpp"
#include "probes/tma/stream.cuh"

namespace {

constexpr int kColumns = 4096;   // of the matrix: rows of 8 KiB
constexpr int kBoxColumns = 64;  // one 128-byte swizzle row

__global__ void __launch_bounds__(assay::kStreamThreads)
    stream_boxes(const __grid_constant__ CUtensorMap map, assay::StreamShape shape, int box_rows,
                 std::uint32_t* sum) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  constexpr std::uint32_t kAcross = kColumns / kBoxColumns;
  assay::stream_tiles(shape, sum, [&](std::uint32_t tile, char* to, assay::ptx::Mbarrier* barrier) {
    assay::ptx::tma_load_2d(to, &map, barrier, static_cast<int>(tile % kAcross) * kBoxColumns,
                            static_cast<int>(tile / kAcross) * box_rows);
  });
#endif
}

assay::Case ring_of(std::string name, int box_rows, int stages,
                    std::vector<assay::Target> targets) {
  const int bytes = box_rows * kBoxColumns * 2;
  return {.name = name,
          .params = {{"box_rows", box_rows},
                     {"box_columns", kBoxColumns},
                     {"matrix_columns", kColumns},
                     {"type", "bf16"},
                     {"swizzle", "128B"},
                     {"l2_promotion_bytes", 256},
                     {"stages", stages},
                     {"bytes_in_flight_per_sm", stages * bytes}},
          .targets = std::move(targets),
          .suite = name.empty() ? assay::Suite::quick : assay::Suite::full};
}

void run(assay::State& s) {
  const int box_rows = static_cast<int>(s.i64("box_rows"));
  const int shared = static_cast<int>(s.i64("bytes_in_flight_per_sm"));
  const std::uint32_t tile_bytes = box_rows * kBoxColumns * 2;
  char* matrix = s.allocate<char>(assay::kStreamBytes);
  s.fill_random_bits(matrix, assay::kStreamBytes);
  const CUtensorMap map = assay::ptx::encode_bf16_matrix(
      matrix, assay::kStreamBytes / (kColumns * 2), kColumns, kColumns * 2, box_rows, kBoxColumns);
  const assay::StreamShape shape{static_cast<std::uint32_t>(assay::kStreamBytes / tile_bytes),
                                 tile_bytes, static_cast<int>(s.i64("stages"))};
  assay::check(
      cudaFuncSetAttribute(stream_boxes, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  assay::measure_stream(
      s, matrix, assay::kStreamBytes, [&](cudaStream_t stream, int ctas, std::uint32_t* sum) {
        stream_boxes<<<ctas, assay::kStreamThreads, shared, stream>>>(map, shape, box_rows, sum);
      });
}

const std::vector<assay::Target> kAll = assay::targets_from(assay::Target::sm_90a);
const std::vector<assay::Target> kLargeShared = {assay::Target::sm_90a, assay::Target::sm_100a,
                                                 assay::Target::sm_103a};

const assay::Registration registration{{
    .name = "tma/tensor_2d/bandwidth",
    .question = "How fast do TMA box loads bring a matrix from DRAM to the SMs?",
    .cases = {ring_of("", 64, 10, kAll), ring_of("stages_4", 64, 4, kAll),
              ring_of("stages_24", 64, 24, kLargeShared), ring_of("box_128x64", 128, 5, kAll),
              ring_of("box_256x64", 256, 6, kLargeShared)},
    .targets = kAll,
    .pace = assay::Pace::dram,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "stream_boxes",
               .sass = {{"UTMALDG.2D", 1, 1, assay::SassWhere::kernel},
                        {"LDS.128", 1, INT_MAX, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
