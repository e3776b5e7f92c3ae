// SPDX-License-Identifier: Apache-2.0
// The trace of a launch: rows of warps, copies and the tensor pipe, and who opened which barrier.
#include "harness/model/machine/trace.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/model/tests/clean_kernels.hpp"

namespace assay::model {
namespace {

Trace trace_of(const std::string& kernel) {
  Gpu gpu(ptx_of_file("clean"));
  Trace trace;
  for (const Clean& c : clean_kernels())
    if (c.run.kernel == kernel)
      gpu.launch(kernel, c.run.shape, parse_arguments(gpu, c.run.arguments, 1),
                 {.seed = 1, .trace = &trace});
  return trace;
}

TEST(ModelTrace, HasARowForEachWarpForCopiesAndForTheTensorPipe) {
  std::set<std::string> rows;
  for (const TraceEvent& e : trace_of("wgmma_ring").events) rows.insert(e.row);
  EXPECT_TRUE(rows.contains("copies"));
  EXPECT_TRUE(rows.contains("tensor pipe"));
  EXPECT_TRUE(rows.contains("warp 0"));
  EXPECT_TRUE(rows.contains("warp 4"));
}

// The loads end the phases of `full`, the consumers' last arrivals those of `empty`.
TEST(ModelTrace, ArrowsBeginWhereABarrierWasOpened) {
  const Trace trace = trace_of("ring");
  int from_copies = 0, from_warps = 0;
  for (const TraceEvent& e : trace.events) {
    if (e.from < 0) continue;
    const TraceEvent& by = trace.events.at(static_cast<std::size_t>(e.from));
    EXPECT_TRUE(e.name.starts_with("waits for ")) << e.name;
    EXPECT_LE(by.end, e.end);
    EXPECT_GE(by.end, e.begin) << e.name << " was opened before it began to wait";
    const bool producer = e.row == "warp 4";
    if (by.row == "copies") {
      EXPECT_FALSE(producer) << e.name;
      ++from_copies;
    } else {
      EXPECT_TRUE(by.name.starts_with("arrives")) << by.name;
      ++from_warps;
    }
  }
  EXPECT_GT(from_copies, 0);
  EXPECT_GT(from_warps, 0);
  const std::string text = to_perfetto(trace);
  EXPECT_NE(text.find(R"("ph":"s")"), text.npos);
  EXPECT_NE(text.find(R"("ph":"f","bp":"e")"), text.npos);
}

}  // namespace
}  // namespace assay::model
