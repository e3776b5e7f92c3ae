// SPDX-License-Identifier: Apache-2.0
// Checked calls and owners of CUDA runtime objects.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <source_location>
#include <utility>
#include <vector>

namespace assay {

// Throws Error(failed) naming the CUDA error, the file and the line of the call, or Error(unfit)
// with why_unfit()'s words where it is this machine that has no GPU, driver or code for it.
void check(cudaError_t status, std::source_location where = std::source_location::current());

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;  // one owner
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;  // one owner
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream)); }

 private:
  cudaEvent_t event_ = nullptr;
};

// Waits for `end`; nanoseconds between the two. Resolution is about half a microsecond.
double elapsed_ns(cudaEvent_t begin, cudaEvent_t end);

// Plain device memory. Never managed memory: oversubscribing it can hang a GPU.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes) : bytes_(bytes) { check(cudaMalloc(&data_, bytes)); }
  ~Buffer() { cudaFree(data_); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

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

// Copies `count` objects from the GPU, after everything before it on the stream.
template <class T>
std::vector<T> download(const T* device, std::size_t count, cudaStream_t stream) {
  std::vector<T> host(count);
  check(cudaMemcpyAsync(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return host;
}

}  // namespace assay
