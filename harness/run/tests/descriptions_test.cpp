// SPDX-License-Identifier: Apache-2.0
#include "harness/run/descriptions.hpp"

#include <gtest/gtest.h>

#include "harness/measure/figures/metric_notes.hpp"

namespace assay {
namespace {

TEST(MetricDescriptions, AreTheStandardOnesOrTheProbesOwn) {
  const Json figure = Json::object();
  const Json found = metric_descriptions(
      {{{"probe", "memory/atomics"},
        {"metrics", {{"ops_per_clock_one_address", figure}, {"latency_ns", figure}}},
        {"series", {{{"name", "ops_per_clock"}}}}},
       {{"probe", "memory/hbm/read"}, {"metrics", {{"latency_ns", figure}}}},
       {{"probe", "of/another/program"}, {"metrics", {{"tflops", figure}}}}});
  EXPECT_EQ(found.size(), 3u) << found;
  EXPECT_EQ(found.at("latency_ns"), find_meaning(standard_metrics(), "latency_ns"));
  EXPECT_EQ(found.at("memory/atomics:ops_per_clock_one_address"),
            "Atomics done in a cycle when all threads have one address.");
  EXPECT_TRUE(found.contains("memory/atomics:ops_per_clock"));
}

}  // namespace
}  // namespace assay
