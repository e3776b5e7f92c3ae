// SPDX-License-Identifier: Apache-2.0
// For sweeps: puts a GPU's caches into the state that a program finds which runs many other kernels
// between two calls of one.
#pragma once
#include <cuda_runtime_api.h>

#include "harness/cuda.hpp"

namespace assay::kernels {

class ColdCaches {
 public:
  ColdCaches();
  // Enqueues a kernel, of some 50 us, after which L2 holds neither data nor code of those before,
  // and no SM code of theirs.
  void make(cudaStream_t stream);

 private:
  int sms_ = 0;
  Buffer data_;  // twice the L2
};

}  // namespace assay::kernels
