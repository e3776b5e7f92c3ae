// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workers/workspace.hpp"

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

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

// While it lives, this thread may make memory although it captures another stream in global mode,
// or another thread does: what is made is no part of that capture.
class CaptureRelaxed {
 public:
  CaptureRelaxed() { check(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~CaptureRelaxed() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  CaptureRelaxed(const CaptureRelaxed&) = delete;
  CaptureRelaxed& operator=(const CaptureRelaxed&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

struct Owned {
  // Of the stream that has the handle now. A stream that is destroyed gives its handle to the next
  // one at once, while its launches may still run.
  unsigned long long stream_id = 0;
  // What was outgrown is kept too, for launches on their way and captured graphs have its address.
  // The newest is the last.
  std::vector<Buffer> buffers;
};

// Null where a stream that is being captured would have to have it made. `alone`: nobody else may
// use it at the same time.
void* found_or_made(cudaStream_t stream, std::size_t bytes, bool alone) {
  static std::mutex mutex;
  // Never freed: at exit the CUDA context may be gone already.
  static auto& of_streams = *new std::map<Key, Owned>;
  const Key key = key_of(stream);
  const bool captured = is_captured(stream);
  unsigned long long id = 0;  // of a stream that is being captured nobody is told
  if (!captured) check(cudaStreamGetId(stream, &id));
  const std::lock_guard lock(mutex);
  Owned& owned = of_streams[key];
  std::vector<Buffer>& buffers = owned.buffers;
  if (!captured && (alone || buffers.empty())) {
    // The stream before is gone, and nothing else tells when its launches are done.
    if (!buffers.empty() && owned.stream_id != id) check(cudaDeviceSynchronize());
    owned.stream_id = id;
  }
  const std::size_t had = buffers.empty() ? 0 : buffers.back().bytes();
  if (had < bytes) {
    if (captured) return nullptr;
    const CaptureRelaxed relaxed;
    Buffer larger(std::max(bytes, 2 * had));  // so that all before it are no more than it
    check(cudaMemsetAsync(larger.data(), 0, kFlagBytes, stream));
    buffers.push_back(std::move(larger));
  }
  return buffers.back().data();
}

}  // namespace

void* workspace(cudaStream_t stream, std::size_t bytes) {
  if (void* const memory = found_or_made(stream, bytes, true)) return memory;
  throw Error(
      ExitCode::usage,
      fmt::format("the {} bytes of memory that this takes beside its operands cannot be made "
                  "while the stream is captured: call it once with these sizes on this stream "
                  "before",
                  bytes));
}

void* workspace_if_there(cudaStream_t stream) { return found_or_made(stream, kFlagBytes, false); }

}  // namespace assay::kernels
