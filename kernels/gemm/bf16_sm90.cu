// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/bf16_sm90.cuh"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/gemm/gemm.hpp"

namespace assay::kernels {
namespace {

template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN, int kInFlight>
GemmVariant variant() {
  using Tile = GemmTile<kTileM, kTileN, kStages, kClusterM, kClusterN, kInFlight>;
  const auto text = [](int value) { return std::to_string(value); };
  return {.name = text(kTileM) + "x" + text(kTileN) + "x" + text(Tile::kTileK) + "_c" +
                  text(kClusterM) + "x" + text(kClusterN) + "_s" + text(kStages) + "_w" +
                  text(kInFlight),
          .kernel_name = "gemm_bf16_nt_sm90<" + text(kTileM) + ", " + text(kTileN) + ", " +
                         text(kStages) + ", " + text(kClusterM) + ", " + text(kClusterN) + ", " +
                         text(kInFlight) + ">",
          .tile_m = kTileM,
          .tile_n = kTileN,
          .cluster_m = kClusterM,
          .cluster_n = kClusterN,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .kernel = reinterpret_cast<const void*>(
              &gemm_bf16_nt_sm90<kTileM, kTileN, kStages, kClusterM, kClusterN, kInFlight>)};
}

// Clusters that fit on the GPU at once: what a persistent grid has. GPCs with an odd number of free
// SMs make this less than SMs / cluster size. Asked once per device: the answer takes longer than a
// small product.
int resident_clusters(const GemmVariant& v) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, int> known;
  int device = 0;
  check(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  int& clusters = known[{device, v.kernel}];
  if (clusters > 0) return clusters;
  check(
      cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, v.shared_bytes));
  const int size = v.cluster_m * v.cluster_n;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(size), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(size);
  config.blockDim = dim3(v.threads);
  config.dynamicSmemBytes = v.shared_bytes;
  config.attrs = &cluster;
  config.numAttrs = 1;
  check(cudaOccupancyMaxActiveClusters(&clusters, v.kernel, &config));
  if (clusters < 1) {
    throw Error(ExitCode::unfit, std::string("gemm ") + v.name + ": no cluster fits on this GPU");
  }
  return clusters;
}

void require_sm90() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  if (major != 9 || minor != 0) {
    throw Error(ExitCode::unfit, "gemm_bf16_nt runs on compute capability 9.0; GPU " +
                                     std::to_string(device) + " is " + std::to_string(major) + "." +
                                     std::to_string(minor));
  }
}

void require_shape(int m, int n, int k) {
  const std::string shape =
      "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k);
  if (m < 1 || n < 1 || k < 1) {
    throw Error(ExitCode::usage, "gemm_bf16_nt: sizes must be positive, not " + shape);
  }
  if (n % 8 != 0 || k % 8 != 0) {
    throw Error(ExitCode::usage,
                "gemm_bf16_nt: n and k must be multiples of 8 (16-byte rows), not " + shape);
  }
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace

std::span<const GemmVariant> gemm_variants() {
  // tile m, n, stages, cluster m, n, stages in flight
  static const GemmVariant variants[] = {
      variant<128, 256, 4, 2, 1, 1>(), variant<128, 256, 4, 2, 1, 0>(),
      variant<128, 256, 4, 1, 1, 1>(), variant<128, 256, 4, 1, 2, 1>(),
      variant<128, 256, 4, 2, 2, 1>(), variant<128, 256, 3, 2, 1, 1>(),
      variant<256, 128, 4, 1, 2, 1>(), variant<256, 128, 4, 2, 1, 1>(),
      variant<128, 192, 4, 2, 1, 1>(), variant<128, 128, 6, 2, 1, 1>(),
      variant<128, 128, 6, 1, 1, 1>(),
  };
  return variants;
}

const GemmVariant& choose_gemm_variant(int, int, int) { return gemm_variants().front(); }

GemmPlan::GemmPlan(void* d, const void* a, const void* b, int m, int n, int k, Options options)
    : variant_(options.variant ? options.variant : &choose_gemm_variant(m, n, k)) {
  require_shape(m, n, k);
  require_sm90();
  const GemmVariant& v = *variant_;
  constexpr int kTileK = 64;
  const auto bytes = [](int elements) { return std::uint64_t{2} * elements; };
  map_a_ = ptx::encode_bf16_matrix(a, m, k, bytes(k), v.tile_m / v.cluster_n, kTileK);
  map_b_ = ptx::encode_bf16_matrix(b, n, k, bytes(k), v.tile_n / v.cluster_m, kTileK);
  map_d_ = ptx::encode_bf16_matrix(d, m, n, bytes(n), 16, 64);
  raster_.rows = divide_up(m, v.tile_m * v.cluster_m);
  raster_.columns = divide_up(n, v.tile_n * v.cluster_n);
  raster_.band = options.band > 0 ? options.band : 8;
  k_steps_ = divide_up(k, kTileK);
  const int cluster_size = v.cluster_m * v.cluster_n;
  int clusters = std::min(resident_clusters(v), raster_.count());
  if (options.max_ctas > 0) {
    clusters = std::min(clusters, std::max(options.max_ctas / cluster_size, 1));
  }
  // As few clusters as do not take another wave: the squares of a power of two then run on 128 SMs
  // with equal shares, which leaves the power and the L2 of four idle ones to the others.
  const int waves = divide_up(raster_.count(), clusters);
  clusters = divide_up(raster_.count(), waves);
  grid_ = clusters * cluster_size;
}

void GemmPlan::run(cudaStream_t stream) const {
  void* arguments[] = {const_cast<CUtensorMap*>(&map_a_), const_cast<CUtensorMap*>(&map_b_),
                       const_cast<CUtensorMap*>(&map_d_), const_cast<Raster*>(&raster_),
                       const_cast<int*>(&k_steps_)};
  check(cudaLaunchKernel(variant_->kernel, dim3(grid_), dim3(variant_->threads), arguments,
                         variant_->shared_bytes, stream));
}

void gemm_bf16_nt(void* d, const void* a, const void* b, int m, int n, int k, cudaStream_t stream) {
  GemmPlan(d, a, b, m, n, k).run(stream);
}

}  // namespace assay::kernels
