// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/error.hpp"

namespace assay::kernels {
namespace {

// cudaStreamPerThread is one handle for a stream of each thread.
using Key = std::tuple<int, cudaStream_t, std::thread::id>;

Key key_of(cudaStream_t stream) {
  int device = 0;
  check(cudaGetDevice(&device));
  return {device, stream,
          stream == cudaStreamPerThread ? std::this_thread::get_id() : std::thread::id()};
}

void require_no_capture(cudaStream_t stream, std::size_t bytes) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status));
  if (status == cudaStreamCaptureStatusNone) return;
  throw Error(
      ExitCode::usage,
      fmt::format("the {} bytes of memory that this takes beside its operands cannot be made "
                  "while the stream is captured: call it once with these sizes before",
                  bytes));
}

}  // namespace

void* workspace(cudaStream_t stream, std::size_t bytes, std::size_t zeroed) {
  static std::mutex mutex;
  // Never freed: at exit the CUDA context may be gone already. What was outgrown is kept too, for
  // launches on their way and captured graphs have its address. The newest is the last.
  static auto& of_streams = *new std::map<Key, std::vector<Buffer>>;
  const Key key = key_of(stream);
  const std::lock_guard lock(mutex);
  std::vector<Buffer>& buffers = of_streams[key];
  const std::size_t had = buffers.empty() ? 0 : buffers.back().bytes();
  if (had < bytes) {
    require_no_capture(stream, bytes);
    Buffer larger(std::max(bytes, 2 * had));  // so that all before it are no more than it
    check(cudaMemsetAsync(larger.data(), 0, zeroed, stream));
    buffers.push_back(std::move(larger));
  }
  return buffers.back().data();
}

}  // namespace assay::kernels
