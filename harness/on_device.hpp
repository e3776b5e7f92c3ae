// SPDX-License-Identifier: Apache-2.0
// Which of several GPUs the CUDA runtime's calls are meant for.
#pragma once
#include "harness/cuda.hpp"

namespace assay {

// Calls on `device` while it lives, then on the device that was current before.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_));
    check(cudaSetDevice(device));
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;  // restores once
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace assay
