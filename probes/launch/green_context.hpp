// SPDX-License-Identifier: Apache-2.0
// Parts of a GPU's SMs, each with streams whose kernels run on no other SM: green contexts of the
// CUDA driver (12.5 and newer), called through the library that is found at run time.
#pragma once
#include <cuda_runtime_api.h>

#include <memory>

#include "harness/machine/or_reason.hpp"

namespace assay {

class SmPartitions {
 public:
  // As many SMs in each of `parts` as their alignment allows; the rest is in none. No value, but
  // the reason, where the driver cannot.
  static OrReason<SmPartitions> evenly(int device_index, unsigned parts);
  // Part 0 of `sms` or, as alignment wants it, a few more; part 1 of all others.
  static OrReason<SmPartitions> apart(int device_index, unsigned sms);

  std::size_t count() const;
  int sms(std::size_t part) const;
  // A new stream in that part. Lives as long as this.
  cudaStream_t stream(std::size_t part) const;
  double create_us() const;  // what making all of them took the CPU

 private:
  class Impl;
  explicit SmPartitions(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  template <class Split>
  static OrReason<SmPartitions> make(int device_index, const Split& split);
  std::shared_ptr<Impl> impl_;
};

}  // namespace assay
