// SPDX-License-Identifier: Apache-2.0
// The loop of a generated kernel whose one thread issues asynchronous tcgen05 operations, as text.
#pragma once
#include <string>

#include "harness/callable.hpp"

namespace assay {

// Throughput: a batch of operations and a commit, then the wait for the batch before, so that there
// is always one in hand; two batches are a round of the loop. Latency: one operation, its commit,
// and the wait for that, kAlone times.
//
// Warp 0 issues and waits, the others go past the loop. Of two CTAs (cta_group::2) the first one
// issues and both wait. Predicates %idle (not warp 0) and, with two CTAs, %peer (the second one)
// are the kernel's.
struct Tcgen05Batches {
  static constexpr int kBatch = 16, kAlone = 8;
  static constexpr int kBarrierBytes = 16;  // of shared memory

  bool latency;
  int ctas = 1;
  // Text of operation number i of a round, to be executed if %elected.
  Callable<std::string(int i)> operation = {};

  int operations() const { return latency ? kAlone : 2 * kBatch; }  // in a round

  std::string declarations() const;
  // Barriers at the shared address in register `at`, plus `offset`; a barrier must follow.
  std::string setup(const std::string& at, int offset) const;
  std::string loop() const;
  std::string drain() const;  // what comes after the loop

 private:
  std::string issue(int first, int count, int barrier) const;
};

}  // namespace assay
