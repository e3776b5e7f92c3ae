// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/path.hpp"

#include "harness/cuda.hpp"

namespace assay::kernels {

Target current_target() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return target_for_capability(major, minor);
}

}  // namespace assay::kernels
