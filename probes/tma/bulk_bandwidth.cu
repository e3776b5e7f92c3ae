// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth through plain bulk copies: what is left for the tensor map to cost.
#include "probes/tma/stream.cuh"

namespace {

__global__ void __launch_bounds__(assay::kStreamThreads)
    stream_bytes(const char* array, assay::StreamShape shape, std::uint32_t* sum) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  assay::stream_tiles(shape, sum, [&](std::uint32_t tile, char* to, assay::ptx::Mbarrier* barrier) {
    assay::ptx::bulk_load(to, array + std::uint64_t{tile} * shape.tile_bytes, shape.tile_bytes,
                          barrier);
  });
#endif
}

assay::Case ring_of(std::string name, int tile_bytes, int stages, int run = 1,
                    int ctas_per_sm = 1) {
  return {.name = name,
          .params = {{"copy_bytes", tile_bytes},
                     {"stages", stages},
                     {"run", run},
                     {"ctas_per_sm", ctas_per_sm},
                     {"bytes_in_flight_per_cta", stages * tile_bytes}},
          .suite = name.empty() ? assay::Suite::quick : assay::Suite::full};
}

void run(assay::State& s) {
  const int shared = static_cast<int>(s.i64("bytes_in_flight_per_cta"));
  const auto tile_bytes = static_cast<std::uint32_t>(s.i64("copy_bytes"));
  char* array = s.allocate<char>(assay::kStreamBytes);
  s.fill_random_bits(array, assay::kStreamBytes);
  const assay::StreamShape shape{static_cast<std::uint32_t>(assay::kStreamBytes / tile_bytes),
                                 tile_bytes, static_cast<int>(s.i64("stages")),
                                 static_cast<std::uint32_t>(s.i64("run"))};
  assay::check(
      cudaFuncSetAttribute(stream_bytes, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  assay::measure_stream(
      s, array, shape, [&](cudaStream_t stream, unsigned ctas, std::uint32_t* sum) {
        stream_bytes<<<ctas, assay::kStreamThreads, shared, stream>>>(array, shape, sum);
      });
}

const assay::Registration registration{{
    .name = "tma/bulk/bandwidth",
    .question = "How fast do plain bulk copies bring an array from DRAM to the SMs?",
    .cases = {ring_of("", 8192, 10), ring_of("bytes_2048", 2048, 32),
              ring_of("bytes_16384", 16384, 5), ring_of("run_16", 8192, 10, 16),
              ring_of("run_16_each", 8192, 5, 16, assay::kOneRunEach)},
    .targets = assay::targets_from(assay::Target::sm_90a),
    .pace = assay::Pace::dram,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "stream_bytes",
               .sass = {{"UBLKCP", 1, 1, assay::SassWhere::kernel},
                        {"LDS.128", 1, INT_MAX, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
