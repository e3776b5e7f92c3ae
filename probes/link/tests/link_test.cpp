// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "probes/link/host_memory.hpp"
#include "probes/link/size_sweep.hpp"

namespace assay {
namespace {

TEST(HalfBandwidth, IsInterpolated) {
  constexpr std::array<double, 4> kBytes = {1, 10, 100, 1000};
  EXPECT_DOUBLE_EQ(half_bandwidth_bytes(kBytes, std::array<double, 4>{1, 2, 6, 8}), 55);
  EXPECT_DOUBLE_EQ(half_bandwidth_bytes(kBytes, std::array<double, 4>{5, 6, 8, 8}), 1);
  // A curve that falls again counts up to where it first got there.
  EXPECT_DOUBLE_EQ(half_bandwidth_bytes(kBytes, std::array<double, 4>{0, 4, 8, 2}), 10);
}

TEST(AvailableMemory, IsReadInKib) {
  EXPECT_EQ(available_bytes("MemTotal:       1000 kB\nMemAvailable:     12 kB\n"), 12u << 10);
  EXPECT_EQ(available_bytes("MemTotal:       1000 kB\n"), 0u);
  EXPECT_EQ(available_bytes("MemAvailable:"), 0u);
}

}  // namespace
}  // namespace assay
