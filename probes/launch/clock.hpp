// SPDX-License-Identifier: Apache-2.0
// The CPU's clock, in the unit that launches are counted in.
#pragma once
#include <chrono>

namespace assay {

// Microseconds since some moment of the past, the same one in every process.
inline double host_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace assay
