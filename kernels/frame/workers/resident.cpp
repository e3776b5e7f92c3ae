// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workers/resident.hpp"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <tuple>

#include "harness/cuda.hpp"
#include "harness/error.hpp"

namespace assay::kernels {

int clusters_that_fit(const void* kernel, int ctas, int threads, int shared_bytes) {
  static std::mutex mutex;
  static std::map<std::tuple<int, const void*, int>, int> known;
  int device = 0;
  check(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  int& clusters = known[{device, kernel, ctas}];
  if (clusters > 0) return clusters;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(ctas), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(ctas));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.attrs = &cluster;
  config.numAttrs = 1;
  check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
  return clusters;
}

int resident_clusters(const void* kernel, int ctas, int threads, int shared_bytes,
                      const std::string& name) {
  const int clusters = clusters_that_fit(kernel, ctas, threads, shared_bytes);
  if (clusters < 1) throw Error(ExitCode::unfit, name + ": no cluster fits on this GPU");
  return clusters;
}

}  // namespace assay::kernels
