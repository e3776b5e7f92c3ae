// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/cluster_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "harness/callable.hpp"
#include "harness/device.hpp"

namespace assay {

void sweep_clusters(State& s, const ClusterKernel& kernel, const std::string& name,
                    const std::string& unit, Better better, int first_distance,
                    const Callable<double(const cudaLaunchConfig_t&, std::uint32_t)>& value) {
  check(cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  if (kernel.shared_bytes > 0)
    check(cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(kernel.shared_bytes)));
  Series series{name, unit, {{"cluster", {}}, {"distance", {}}}, {}};
  for (int distance = first_distance; distance < kMostClusterCtas; ++distance)
    series.axes[1].points.emplace_back(std::int64_t{distance});
  for (const int size : kClusterSizes) {
    series.axes[0].points.emplace_back(std::int64_t{size});
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
    const bool fits =
        cudaOccupancyMaxActiveClusters(&clusters, kernel.kernel, &config) == cudaSuccess;
    if (!fits) cudaGetLastError();  // the question is answered: not on this GPU
    // One CTA on each SM at most, so that nobody shares a port with another.
    clusters = fits ? std::min(clusters, s.device().sm_count / size) : 0;
    config.gridDim = dim3(static_cast<unsigned>(std::max(clusters, 1) * size));
    double sum = 0;
    int points = 0;
    for (int distance = first_distance; distance < kMostClusterCtas; ++distance) {
      const bool there = clusters > 0 && distance < size;
      series.values.push_back(there ? value(config, static_cast<std::uint32_t>(distance)) : NAN);
      if (!there || distance == 0) continue;
      sum += series.values.back();
      ++points;
    }
    if (points > 0) s.add_exact(name + "_of_" + std::to_string(size), unit, better, sum / points);
  }
  s.add_series(std::move(series));
}

}  // namespace assay
