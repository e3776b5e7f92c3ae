// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth through TMA box loads of a bf16 matrix, as a GEMM reads its operands.
#include <algorithm>

#include "harness/ptx/tensor_map.hpp"
#include "probes/tma/stream.cuh"

namespace {

constexpr int kColumns = 4096;  // of the matrix: rows of 8 KiB

__global__ void __launch_bounds__(assay::kStreamThreads)
    stream_boxes(const __grid_constant__ CUtensorMap map, assay::StreamShape shape, int box_rows,
                 int box_columns, std::uint32_t* sum) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  const int across_bits = __ffs(kColumns / box_columns) - 1;  // of boxes across the matrix
  assay::stream_tiles(shape, sum, [&](std::uint32_t tile, char* to, assay::ptx::Mbarrier* barrier) {
    assay::ptx::tma_load_2d(to, &map, barrier,
                            static_cast<int>(tile & ((1u << across_bits) - 1)) * box_columns,
                            static_cast<int>(tile >> across_bits) * box_rows);
  });
#endif
}

const std::vector<assay::Target> kAll = assay::targets_from(assay::Target::sm_90a);
const std::vector<assay::Target> kLargeShared = {assay::Target::sm_90a, assay::Target::sm_100a,
                                                 assay::Target::sm_103a};

// The plain case, and each other one by what differs.
struct Ring {
  std::string name = {};
  int box_rows = 64, box_columns = 64;  // 64 columns: one 128-byte swizzle row
  int stages = 10, run = 1, ctas_per_sm = 1;
  const char* swizzle = "128B";
  int l2_promotion = 128;
};

assay::Case case_of(const Ring& ring) {
  const int bytes = ring.stages * ring.box_rows * ring.box_columns * 2;
  const bool large = bytes * std::max(ring.ctas_per_sm, 1) > (96 << 10);
  return {.name = ring.name,
          .params = {{"box_rows", ring.box_rows},
                     {"box_columns", ring.box_columns},
                     {"matrix_columns", kColumns},
                     {"type", "bf16"},
                     {"swizzle", ring.swizzle},
                     {"l2_promotion_bytes", ring.l2_promotion},
                     {"stages", ring.stages},
                     {"run", ring.run},
                     {"ctas_per_sm", ring.ctas_per_sm},
                     {"bytes_in_flight_per_cta", bytes}},
          .targets = large ? kLargeShared : kAll,
          .suite = ring.name.empty() ? assay::Suite::quick : assay::Suite::full};
}

void run(assay::State& s) {
  const int box_rows = static_cast<int>(s.i64("box_rows"));
  const int box_columns = static_cast<int>(s.i64("box_columns"));
  const int shared = static_cast<int>(s.i64("bytes_in_flight_per_cta"));
  const std::uint32_t tile_bytes = box_rows * box_columns * 2;
  char* matrix = s.allocate<char>(assay::kStreamBytes);
  s.fill_random_bits(matrix, assay::kStreamBytes);
  const CUtensorMap map = assay::ptx::encode_tensor_map(
      {.base = matrix,
       .extents = {kColumns, assay::kStreamBytes / (kColumns * 2)},
       .strides = {kColumns * 2},
       .box = {static_cast<std::uint32_t>(box_columns), static_cast<std::uint32_t>(box_rows)},
       .swizzle =
           s.text("swizzle") == "128B" ? assay::ptx::Swizzle::bytes128 : assay::ptx::Swizzle::none,
       .l2_promotion = s.i64("l2_promotion_bytes") == 256 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
                                                          : CU_TENSOR_MAP_L2_PROMOTION_L2_128B});
  const assay::StreamShape shape{static_cast<std::uint32_t>(assay::kStreamBytes / tile_bytes),
                                 tile_bytes, static_cast<int>(s.i64("stages")),
                                 static_cast<std::uint32_t>(s.i64("run"))};
  assay::check(
      cudaFuncSetAttribute(stream_boxes, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  assay::measure_stream(s, matrix, shape,
                        [&](cudaStream_t stream, unsigned ctas, std::uint32_t* sum) {
                          stream_boxes<<<ctas, assay::kStreamThreads, shared, stream>>>(
                              map, shape, box_rows, box_columns, sum);
                        });
}

const assay::Registration registration{{
    .name = "tma/tensor_2d/bandwidth",
    .question = "How fast do TMA box loads bring a matrix from DRAM to the SMs?",
    .cases =
        {case_of({}), case_of({.name = "stages_4", .stages = 4}),
         case_of({.name = "stages_14", .stages = 14}), case_of({.name = "stages_24", .stages = 24}),
         case_of({.name = "box_32x64", .box_rows = 32, .stages = 20}),
         case_of({.name = "box_128x64", .box_rows = 128, .stages = 5}),
         case_of({.name = "box_256x64", .box_rows = 256, .stages = 6}),
         case_of({.name = "box_16x256", .box_rows = 16, .box_columns = 256, .swizzle = "none"}),
         case_of({.name = "run_4", .run = 4}), case_of({.name = "run_64", .run = 64}),
         case_of(
             {.name = "run_16_each", .stages = 5, .run = 16, .ctas_per_sm = assay::kOneRunEach}),
         case_of({.name = "ctas_2", .stages = 6, .ctas_per_sm = 2}),
         case_of({.name = "promotion_256", .l2_promotion = 256})},
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
