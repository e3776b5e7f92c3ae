// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/cycle_counter.hpp"

#include <gtest/gtest.h>

#include "harness/error.hpp"

namespace assay {
namespace {

StopwatchRecord record(unsigned sm, std::uint64_t start, std::uint64_t stop) {
  StopwatchRecord found{};
  found.sm = sm;
  found.start_clock = start;
  found.stop_clock = stop;
  found.start_ns = start;
  found.stop_ns = stop;
  return found;
}

TEST(CycleCounter, AnSmCountsFromTheFirstStartToTheLastStop) {
  const PerSm found = per_sm({record(3, 100, 150), record(3, 120, 180), record(5, 7, 9), {}});
  EXPECT_EQ(found.cycles, (std::map<int, double>{{3, 80}, {5, 2}}));
  EXPECT_EQ(found.ns, found.cycles);
}

TEST(CycleCounter, AClockThatRanBackwardsIsRefused) {
  for (const bool of_nanoseconds : {false, true}) {
    StopwatchRecord backwards = record(3, 100, 150);
    std::swap(of_nanoseconds ? backwards.start_ns : backwards.start_clock,
              of_nanoseconds ? backwards.stop_ns : backwards.stop_clock);
    try {
      per_sm({record(2, 100, 150), backwards});
      ADD_FAILURE() << "nothing was said";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::failed);
      EXPECT_NE(std::string(error.what()).find("the clock of SM 3 ran backwards"),
                std::string::npos);
    }
  }
}

}  // namespace
}  // namespace assay
