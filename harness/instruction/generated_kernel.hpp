// SPDX-License-Identifier: Apache-2.0
// A loaded kernel with the interface of ptx_text.hpp, its buffers, and the check of its values.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/callable.hpp"
#include "harness/state.hpp"

namespace assay {

// Launches such a kernel on buffers of the caller's.
void launch_generated(const void* kernel, int ctas, int threads, const Launch& launch,
                      const void* in, void* out, std::size_t shared_bytes = 0);

class GeneratedKernel {
 public:
  // Loads the case's kernel `entry`; `in_bytes` and `out_bytes` are for all its CTAs together,
  // `shared_bytes` of dynamic shared memory are each CTA's, `cluster` is PtxKernel's.
  GeneratedKernel(State& s, const std::string& entry, int threads, std::size_t in_bytes,
                  std::size_t out_bytes, std::size_t shared_bytes = 0, int cluster = 1);

  template <class T>
  void set_inputs(const std::vector<T>& values) const {
    upload(values.data(), values.size() * sizeof(T));
  }
  // One CTA (one cluster), `iterations` rounds, on poisoned outputs; returns them.
  template <class T>
  std::vector<T> outputs_after(std::int64_t iterations) const {
    std::vector<T> values(out_bytes_ / sizeof(T));
    run_once(iterations, values.data());
    return values;
  }
  // For State::cycles(): one CTA on every SM, of all its threads or of the first few.
  Callable<void(const Launch&)> on_every_sm() const { return on_every_sm(threads_); }
  Callable<void(const Launch&)> on_every_sm(int threads) const;

 private:
  void upload(const void* values, std::size_t bytes) const;
  void run_once(std::int64_t iterations, void* outputs) const;
  void launch(int ctas, int threads, const Launch& launch) const;

  State& s_;
  const void* kernel_;
  int threads_, cluster_;
  std::size_t in_bytes_, out_bytes_, shared_bytes_;
  void *in_, *out_;
};

}  // namespace assay
