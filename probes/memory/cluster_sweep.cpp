// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/cluster_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/callable.hpp"
#include "harness/device.hpp"

namespace assay {

bool with_clusters(State& s, const ClusterKernel& kernel, int size,
                   const Callable<void(const cudaLaunchConfig_t&)>& use) {
  check(cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  if (kernel.shared_bytes > 0)
    check(cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(kernel.shared_bytes)));
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(size), 1, 1};
  cudaLaunchConfig_t config = {};
  config.blockDim = dim3(static_cast<unsigned>(kernel.threads));
  config.gridDim = dim3(static_cast<unsigned>(size));
  config.dynamicSmemBytes = kernel.shared_bytes;
  config.attrs = &cluster;
  config.numAttrs = 1;
  config.stream = s.stream();
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, kernel.kernel, &config) != cudaSuccess) {
    cudaGetLastError();  // the question is answered: not on this GPU
    return false;
  }
  clusters = std::min(clusters, s.device().sm_count / size);
  if (clusters == 0) return false;
  config.gridDim = dim3(static_cast<unsigned>(clusters * size));
  use(config);
  return true;
}

void sweep_clusters(State& s, const ClusterKernel& kernel, const std::string& name,
                    const std::string& unit, Better better, int first_distance,
                    const Callable<Estimate(const cudaLaunchConfig_t&, std::uint32_t)>& value) {
  Series series{name, unit, {{"cluster", {}}, {"distance", {}}}, {}};
  for (int distance = first_distance; distance < kMostClusterCtas; ++distance)
    series.axes[1].points.emplace_back(std::int64_t{distance});
  for (const int size : kClusterSizes) {
    series.axes[0].points.emplace_back(std::int64_t{size});
    std::vector<Estimate> values(series.axes[1].points.size(), NAN);
    double sum = 0;
    int points = 0;
    with_clusters(s, kernel, size, [&](const cudaLaunchConfig_t& config) {
      for (int distance = first_distance; distance < size; ++distance) {
        const Estimate found = value(config, static_cast<std::uint32_t>(distance));
        values[static_cast<std::size_t>(distance - first_distance)] = found;
        if (distance == 0) continue;
        sum += found;
        ++points;
      }
    });
    for (const Estimate& point : values) series.add(point);
    if (points > 0) s.add_exact(name + "_of_" + std::to_string(size), unit, better, sum / points);
  }
  s.add_series(std::move(series));
}

}  // namespace assay
