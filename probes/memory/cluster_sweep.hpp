// SPDX-License-Identifier: Apache-2.0
// Figures over the size of a cluster and how many ranks apart two of its CTAs are.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "harness/callable.hpp"
#include "harness/state.hpp"

namespace assay {

inline constexpr int kClusterSizes[] = {2, 4, 8, 16};
inline constexpr int kMostClusterCtas = 16;

// What of a kernel is launched: as many clusters as leave each SM one CTA.
struct ClusterKernel {
  const void* kernel;
  int threads;
  std::size_t shared_bytes = 0;  // dynamic
};

// Calls `use` with a launch of clusters of `size` CTAs that leaves each SM one CTA at most, so that
// nobody shares a port with another; not, and returns false, where no such cluster fits the GPU.
bool with_clusters(State& s, const ClusterKernel& kernel, int size,
                   const Callable<void(const cudaLaunchConfig_t& config)>& use);

// Calls `value` for every size and distance (from `first_distance`) that fits the GPU and adds
// `name` over both as a series, NaN where no such cluster fits; and the mean of the distances above
// 0 as the figure "<name>_of_<size>".
void sweep_clusters(
    State& s, const ClusterKernel& kernel, const std::string& name, const std::string& unit,
    Better better, int first_distance,
    const Callable<Estimate(const cudaLaunchConfig_t& config, std::uint32_t distance)>& value);

}  // namespace assay
