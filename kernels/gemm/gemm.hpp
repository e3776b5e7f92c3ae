// SPDX-License-Identifier: Apache-2.0
// Our bf16 matrix product: D[m, n] = A[m, k] * B[n, k]^T, all row-major ("nt").
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <span>
#include <string>

#include "kernels/gemm/raster.hpp"

namespace assay::kernels {

// One compiled form of the kernel.
struct GemmVariant {
  std::string name;         // "128x256x64_c2x1_s4_w1": tile, cluster, stages, stages in flight
  std::string kernel_name;  // as the source spells it
  int tile_m, tile_n;
  int cluster_m, cluster_n;  // CTAs
  int threads;
  int shared_bytes;
  const void* kernel;
};

// Every variant for sm_90a, the default one first.
std::span<const GemmVariant> gemm_variants();

// The variant that a GemmPlan takes for this shape.
const GemmVariant& choose_gemm_variant(int m, int n, int k);

// Everything a launch needs, made once for given pointers and sizes and run any number of times on
// the device that was current when it was made. bf16 in and out, f32 accumulation. The outputs do
// not depend on the variant's raster or grid: each is one sum over k in a fixed order.
//
// m, n, k >= 1, n % 8 == 0 and k % 8 == 0 (rows must start on 16 bytes for TMA); pointers aligned
// to 16 bytes. Throws Error(usage) otherwise, and Error(unfit) on a GPU that is not sm_90.
class GemmPlan {
 public:
  struct Options {
    const GemmVariant* variant = nullptr;  // null: chosen from the shape
    int band = 0;                          // Raster::band; 0: chosen from the shape
    int max_ctas = 0;                      // of the persistent grid; 0: as many as fit
  };

  GemmPlan(void* d, const void* a, const void* b, int m, int n, int k, Options options);
  GemmPlan(void* d, const void* a, const void* b, int m, int n, int k)
      : GemmPlan(d, a, b, m, n, k, Options{}) {}

  void run(cudaStream_t stream) const;
  const GemmVariant& variant() const { return *variant_; }

 private:
  const GemmVariant* variant_;
  CUtensorMap map_a_, map_b_, map_d_;
  Raster raster_;
  int k_steps_;
  int grid_;
};

// Plans and runs once.
void gemm_bf16_nt(void* d, const void* a, const void* b, int m, int n, int k, cudaStream_t stream);

}  // namespace assay::kernels
