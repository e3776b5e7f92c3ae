// SPDX-License-Identifier: Apache-2.0
// NVIDIA's Multi-Process Service (MPS) for one GPU and one set of processes: a control daemon of
// our own, in a folder of its own, beside any other that this machine may run.
#pragma once
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "harness/machine/process.hpp"

namespace assay {

class MpsDaemon {
 public:
  // Starts nvidia-cuda-mps-control for the GPU of that UUID and waits until it answers. Throws
  // Error(unfit) that says why it does not. The daemon ends with this object, and also with this
  // process however that ends.
  explicit MpsDaemon(const std::string& gpu);
  ~MpsDaemon();
  MpsDaemon(const MpsDaemon&) = delete;  // owns the daemon
  MpsDaemon& operator=(const MpsDaemon&) = delete;

  // "NAME=value" of what a process needs to run through it, with this GPU as its only one.
  const std::vector<std::string>& environment() const { return environment_; }
  // Whether any process does: one that cannot reach the daemon goes on without it and says nothing.
  bool used() const;

 private:
  std::string folder_;
  std::vector<std::string> environment_;
  int alive_[2] = {-1, -1};  // a pipe that closes when this process ends
  std::atomic<bool> ended_ = false;
  ToolOutput guard_output_;
  std::jthread guard_;
};

// "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" of 16 bytes, as CUDA_VISIBLE_DEVICES takes it.
std::string gpu_uuid(const char bytes[16]);

}  // namespace assay
