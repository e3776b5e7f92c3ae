// SPDX-License-Identifier: Apache-2.0
// Generated kernels around tcgen05.mma: one that keeps the tensor core busy, one that waits for
// each.
//
// Rows of A and B are 128 bytes, 128-byte swizzled, K-major, as TMA would leave them; MMAs walk
// along a row and start again. A in tensor memory has a lane for each row, whose 32 columns hold
// what the 128 bytes of shared memory would. All MMAs add to the same accumulators, in order, as a
// kernel's do along K. harness/instruction/tcgen05_batches.hpp says how they are issued.
#pragma once
#include <cstddef>
#include <string>

#include "harness/instruction/tcgen05_batches.hpp"
#include "probes/tensor_core/tcgen05_form.hpp"

namespace assay::tcgen05 {

struct Kernel {
  static constexpr int kThreads = 128;  // each warp reads its 32 lanes of the accumulators
  static constexpr int kRowBytes = 128, kLanes = 128;

  Form form;
  bool latency;

  const char* entry() const { return latency ? "latency" : "throughput"; }
  int mmas() const { return Tcgen05Batches{latency}.operations(); }  // in one round of the loop

  // Bytes of the tiles. In `in` that of A comes first, with a row for each lane if it goes to
  // tensor memory; then B's; then the words that all accumulators start as, that all scales are and
  // that all metadata are. Every CTA loads the same.
  int a_bytes() const { return (form.a_in_tensor_memory ? kLanes : form.rows_of_a()) * kRowBytes; }
  int b_bytes() const { return form.rows_of_b() * kRowBytes; }
  std::size_t in_words() const { return static_cast<std::size_t>((a_bytes() + b_bytes()) / 4 + 3); }
  // Out: accumulators, [CTA of the first cluster][column][lane].
  std::size_t out_words() const {
    return static_cast<std::size_t>(form.ctas * form.columns() * kLanes);
  }
  int shared_bytes() const { return a_bytes() + b_bytes() + 32; }

  std::string ptx(Target target) const;
};

}  // namespace assay::tcgen05
