// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "harness/device.hpp"
#include "harness/limits.hpp"

namespace assay {

// What the pins of the memory carry, GB/s: two bits per clock of the driver's memory clock and
// wire of the bus. Unknown where the driver does not tell the clock.
inline Limit dram_limit(const Device& device) {
  const double bits_per_s = 2e6 * device.memory_clock_max_mhz * device.memory_bus_bits;
  if (bits_per_s <= 0) return {};
  return {bits_per_s / 8 * 1e-9, "2 x memory clock x bus width"};
}

}  // namespace assay
