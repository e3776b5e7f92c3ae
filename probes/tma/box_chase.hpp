// SPDX-License-Identifier: Apache-2.0
// Latency of copies by TMA: each box brings, in its first 32 bytes, where the next one is.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/state.hpp"
#include "probes/tma/box_plan.hpp"

namespace assay {

// A walk over all boxes of an array, in pseudo-random order.
class BoxChase {
 public:
  // Lays the walk out over `footprint` bytes from `array` on, which it writes to. Dimensions 0 are
  // plain bulk copies. Box bytes are at least 32.
  BoxChase(State& s, const BoxForm& form, char* array, std::uint64_t footprint);

  int ctas() const { return ctas_; }  // that walk at once: few enough not to queue
  void launch(const Launch& l);
  // Requires that the last launch ended where its steps lead to.
  void verify();

  static const char* kernel_name(int dimensions);
  static constexpr int kSteps = 16;  // in one iteration; even, so that each begins at parity 0

 private:
  State& s_;
  BoxForm form_;
  int bits_, ctas_;
  char* array_;
  Buffer ends_;  // of each walk, the step
  BoxGrid grid_ = {};
  CUtensorMap map_ = {};
  std::uint32_t walked_ = 0;  // steps of each walk, in all launches
};

}  // namespace assay
