// SPDX-License-Identifier: Apache-2.0
// Times what is enqueued on a stream, without the time that the CPU takes to enqueue it.
#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "harness/callable.hpp"
#include "harness/cuda.hpp"
#include "harness/measure/device_kernels.hpp"

namespace assay {

// How many calls that take so long each make a row of 0.2 ms: what is at a row's ends, an event's
// half microsecond and a first launch that waits, is then little of it.
inline int calls_in_a_row(double ns) {
  constexpr double kRowNs = 2e5, kMost = 100;
  return static_cast<int>(std::clamp(kRowNs / ns, 1.0, kMost));
}

// Nanoseconds of rest before a turn that is to be a burst, by what the turn before it took: the GPU
// is then busy for a sixth of the time, far below its power limit, and 10 ms are enough for work so
// short that it warms nothing.
inline double rest_ns(double turn_ns) {
  constexpr double kRests = 5, kLeastNs = 1e7, kMostNs = 1e8;
  return std::clamp(kRests * turn_ns, kLeastNs, kMostNs);
}

// The stream is kept busy while the work is enqueued behind it between two events. Should the first
// event have come before the second was enqueued, the GPU may have waited for the CPU: libraries'
// calls take 100 us and more after a rest, many times what a small kernel does. Then all is done
// again behind a longer delay, which is kept for what is timed next.
class BusyTimer {
 public:
  // Nanoseconds of `work`, which may be called several times. `before` and `after` are enqueued
  // around the events, if they are there.
  double nanoseconds(cudaStream_t stream, const Callable<void()>& work,
                     const Callable<void()>& before = {}, const Callable<void()>& after = {}) {
    constexpr std::uint64_t kLongestNs = 5'000'000;  // then the work itself waits for the GPU
    for (;; busy_ns_ *= 2) {
      delay(busy_ns_, stream);
      if (before) before();
      begin_.record(stream);
      work();
      end_.record(stream);
      const bool late = has_come(begin_);
      if (after) after();
      const double ns = elapsed_ns(begin_, end_);
      if (!late || busy_ns_ >= kLongestNs) return ns;
    }
  }

 private:
  static bool has_come(cudaEvent_t event) {
    const cudaError_t status = cudaEventQuery(event);
    if (status != cudaErrorNotReady) {
      check(status);
      return true;
    }
    cudaGetLastError();  // it is noted as an error, which it is not
    return false;
  }

  Event begin_, end_;
  std::uint64_t busy_ns_ = 40'000;  // longer than a launch takes
};

}  // namespace assay
