// SPDX-License-Identifier: Apache-2.0
// What the host does for products that leave parts of their tiles' sums: dense and block-scaled
// ones alike. A `Variant` has tile_m, tile_n, cluster_m, cluster_n and cluster_size().
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/frame/launch.hpp"
#include "kernels/frame/workers/workspace.hpp"
#include "kernels/gemm/sm90/reduce_sm90.hpp"

namespace assay::kernels {

// A workspace in which each CTA of a grid leaves a tile of f32 sums, behind the signals.
template <class Variant>
std::size_t bytes_of_partials_sm90(const Variant& v, int grid) {
  return kFlagBytes + static_cast<std::size_t>(grid) * static_cast<std::size_t>(v.tile_m) *
                          static_cast<std::size_t>(v.tile_n) * sizeof(float);
}
inline float* partials_sm90(void* workspace) {
  return reinterpret_cast<float*>(static_cast<std::uint8_t*>(workspace) + kFlagBytes);
}

// What adds the parts of a product's tiles to D, rows x columns: as yet without `partials`. All
// that is not said here is a plain product's.
template <class Variant>
ReduceArgumentsSm90 reduce_of_sm90(const Variant& v, const PreparedRaster& raster, int parts,
                                   int rows, int columns, OutputType type, void* d) {
  return {.raster = raster,
          .parts = parts,
          .blocks = v.tile_m / 64,
          .cluster_m = v.cluster_m,
          .groups = Divisor(v.tile_n / 8),
          .pieces = Divisor(v.tile_m / 64 * v.tile_n / 8),
          .cluster = Divisor(v.cluster_size()),
          .cluster_n = Divisor(v.cluster_n),
          .rows = rows,
          .columns = columns,
          .swapped = 0,
          .type = type,
          .partials = nullptr,
          .d = d,
          .plain = 1,
          .activation = 0,
          .alpha = 1,
          .beta = 0,
          .bias = nullptr,
          .c = nullptr,
          .tensor_scale_p = nullptr,
          .tensor_scale_q = nullptr,
          .row_scale = nullptr,
          .column_scale = nullptr};
}

inline void launch_reduce_sm90(const void* kernel, ReduceArgumentsSm90& reduce,
                               cudaStream_t stream) {
  void* arguments[] = {&reduce};
  launch_kernel(
      kernel,
      {.ctas = reduce_ctas_sm90(reduce), .threads = reduce_threads_sm90(reduce), .shared_bytes = 0},
      arguments, stream);
}

}  // namespace assay::kernels
