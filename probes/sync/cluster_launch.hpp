// SPDX-License-Identifier: Apache-2.0
// Launches of clusters with one CTA on an SM at most, as many as are resident at once.
#pragma once
#include <algorithm>

#include "harness/device.hpp"
#include "harness/state.hpp"

namespace assay {

class ClusterLaunch {
 public:
  // The kernel may take clusters of a size that is not portable, and so much shared memory that no
  // SM holds two of its CTAs. `threads` of a CTA, `size` CTAs of a cluster.
  ClusterLaunch(const State& s, const void* kernel, int threads, int size) : kernel_(kernel) {
    const auto shared = static_cast<int>(s.device().shared_bytes_per_sm / 2);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cluster_.id = cudaLaunchAttributeClusterDimension;
    cluster_.val.clusterDim = {static_cast<unsigned>(size), 1, 1};
    config_.gridDim = dim3(static_cast<unsigned>(size));
    config_.blockDim = dim3(static_cast<unsigned>(threads));
    config_.dynamicSmemBytes = static_cast<std::size_t>(shared);
    config_.attrs = &cluster_;
    config_.numAttrs = 1;
    config_.stream = s.stream();
    const cudaError_t asked = cudaOccupancyMaxActiveClusters(&clusters_, kernel, &config_);
    if (asked != cudaSuccess) {
      cudaGetLastError();  // the question is answered: none
      clusters_ = 0;
    }
    config_.gridDim = dim3(static_cast<unsigned>(std::max(clusters_, 1) * size));
  }
  ClusterLaunch(const ClusterLaunch&) = delete;  // the configuration points into it
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;

  // That are resident at once; 0: this GPU has no such clusters.
  int clusters() const { return clusters_; }
  int ctas() const { return static_cast<int>(config_.gridDim.x); }

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    void* pointers[] = {&arguments...};
    check(cudaLaunchKernelExC(&config_, kernel_, pointers));
  }

 private:
  const void* kernel_;
  cudaLaunchAttribute cluster_ = {};
  cudaLaunchConfig_t config_ = {};
  int clusters_ = 0;
};

}  // namespace assay
