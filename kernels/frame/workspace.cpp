// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workspace.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "harness/cuda.hpp"

namespace assay::kernels {

void* workspace(cudaStream_t stream, std::size_t bytes, std::size_t zeroed) {
  static std::mutex mutex;
  // Never freed: at exit the CUDA context may be gone already.
  static auto& of_streams = *new std::map<std::pair<int, cudaStream_t>, Buffer>;
  int device = 0;
  check(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  Buffer& buffer = of_streams[{device, stream}];
  if (buffer.bytes() < bytes) {
    check(cudaStreamSynchronize(stream));
    buffer = Buffer(bytes);
    check(cudaMemsetAsync(buffer.data(), 0, zeroed, stream));
  }
  return buffer.data();
}

}  // namespace assay::kernels
