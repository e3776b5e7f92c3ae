// SPDX-License-Identifier: Apache-2.0
// A call that enqueues something other than a kernel: an event, a copy, a memset, a function of the
// CPU, an allocation.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "harness/cuda.hpp"
#include "harness/state.hpp"

namespace assay {

// A call under test, with what it needs. It is made before the i-th kernel of a chain.
class Call {
 public:
  virtual ~Call() = default;
  virtual void operator()(int i) = 0;
  // The stream of the i-th kernel, and the one whose end is everyone's.
  virtual cudaStream_t stream_of(int) { return stream_; }
  virtual bool right() { return true; }  // after all is done: whether the calls had their effect

 protected:
  explicit Call(cudaStream_t stream) : stream_(stream) {}
  cudaStream_t stream_;
};

// An event with flags of cudaEventCreateWithFlags().
class FlaggedEvent {
 public:
  explicit FlaggedEvent(unsigned flags) { check(cudaEventCreateWithFlags(&event_, flags)); }
  ~FlaggedEvent() { cudaEventDestroy(event_); }
  FlaggedEvent(const FlaggedEvent&) = delete;  // one owner
  FlaggedEvent& operator=(const FlaggedEvent&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// Page-locked memory of the CPU.
struct FreePinned {
  void operator()(unsigned char* memory) const { cudaFreeHost(memory); }
};
using PinnedBytes = std::unique_ptr<unsigned char[], FreePinned>;
inline PinnedBytes pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes));
  return PinnedBytes(static_cast<unsigned char*>(memory));
}

// The one that the case's parameters `call` and `bytes` name; null if that one is not enqueued.
std::unique_ptr<Call> enqueued_call(State& s);

}  // namespace assay
