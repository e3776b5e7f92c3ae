// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/counters.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "harness/limits.hpp"

namespace assay {
namespace {

// The chips behind a target, by the names CUPTI gives them.
std::vector<std::string> chips_of(Target target) {
  std::vector<std::string> chips;
  for (const std::string_view chip : words(row_of(target).profiled)) chips.emplace_back(chip);
  return chips;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// CUPTI was not there to build with, or is not there to open.
bool cupti_is_missing() { return !pass_count("GH100", {"sm__cycles_active.avg"}); }

// No GPU is needed: CUPTI knows the chips.
TEST(Counters, EveryChipCountsWhatItsTargetAsksFor) {
  if (cupti_is_missing()) GTEST_SKIP() << pass_count("GH100", {"sm__cycles_active.avg"}).reason();
  for (const Target target : all_gpu_targets())
    for (const std::string& chip : chips_of(target)) {
      const auto refused = unschedulable(chip, counters_for(target));
      ASSERT_TRUE(refused) << refused.reason();
      EXPECT_TRUE(refused->empty()) << chip << " cannot count " << refused->front();
      const auto passes = pass_count(chip, counters_for(target));
      ASSERT_TRUE(passes) << chip << ": " << passes.reason();
      EXPECT_LE(*passes, 4) << chip;
    }
}

// The other direction: a counter left out for a target is one its chips do not have.
TEST(Counters, LeavesOutOnlyWhatAChipLacks) {
  if (cupti_is_missing()) GTEST_SKIP() << "CUPTI is not here";
  for (const Target target : all_gpu_targets()) {
    const std::vector<std::string> asked = counters_for(target);
    std::vector<std::string> left_out;
    for (const Counter& counter : kCounters)
      if (std::find(asked.begin(), asked.end(), counter.metric) == asked.end())
        left_out.emplace_back(counter.metric);
    for (const std::string& chip : chips_of(target))
      EXPECT_EQ(*unschedulable(chip, left_out), left_out) << chip;
  }
}

// What a chip says its tensor cores can do is read beside the counters, in no more passes.
TEST(Counters, EveryChipTellsThePeakOfEachElement) {
  if (cupti_is_missing()) GTEST_SKIP() << "CUPTI is not here";
  for (const Target target : all_gpu_targets()) {
    std::vector<std::string> peaks;
    for (const char* element : {"f64", "tf32", "f16", "bf16", "e4m3", "e5m2", "e3m2", "e2m3",
                                "e2m1", "s8", "u8", "s4", "b1", "mxf8", "mxf6", "mxf4", "nvf4"})
      for (const Limit& limit :
           {limits::tensor(target, element), limits::sparse_tensor(target, element)}) {
        EXPECT_EQ(limit.counter.empty(), limit.value <= 0) << name(target) << " " << element;
        if (!limit.counter.empty()) peaks.push_back(limit.counter + ".avg.peak_sustained");
      }
    for (const std::string& chip : chips_of(target)) {
      EXPECT_EQ(*unschedulable(chip, peaks), std::vector<std::string>{}) << chip;
      const std::vector<std::string> asked = counters_for(target);
      std::vector<std::string> with_peaks = asked;
      with_peaks.insert(with_peaks.end(), peaks.begin(), peaks.end());
      EXPECT_EQ(*pass_count(chip, with_peaks), *pass_count(chip, asked)) << chip;
    }
  }
}

// Chips that share the CPU's memory count no DRAM traffic.
TEST(Counters, DramTrafficHasOneNameForEachDirectionOrNone) {
  for (const Target target : all_gpu_targets()) {
    const std::vector<std::string> asked = counters_for(target);
    const auto named = std::count_if(asked.begin(), asked.end(), [](const std::string& name) {
      return name.starts_with("dram__");
    });
    const bool counted =
        has(target, Feature::counts_dram_bytes) || has(target, Feature::counts_dram_operations);
    EXPECT_EQ(named, counted ? 2 : 0) << name(target);
  }
}

TEST(Counters, NamesAnUnknownChip) {
  if (cupti_is_missing()) GTEST_SKIP() << "CUPTI is not here";
  const auto refused = unschedulable("XX999", {"sm__cycles_active.avg"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(contains(refused.reason(), "counters unavailable")) << refused.reason();
}

TEST(Counters, EveryRefusalIsItsOwnLineWithAMend) {
  std::set<std::string> messages;
  const int results[] = {26, 33, 35, 39, 40, 41, 43, 45, 46, 999};
  for (const int result : results) {
    const std::string message = explain_cupti(result, "cuptiRangeProfilerEnable");
    EXPECT_TRUE(message.starts_with("counters unavailable: ")) << message;
    EXPECT_FALSE(contains(message, "\n")) << message;
    messages.insert(message);
  }
  EXPECT_EQ(messages.size(), std::size(results));
  EXPECT_TRUE(contains(explain_cupti(35, ""), "NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_TRUE(contains(explain_cupti(999, "cuptiRangeProfilerEnable"), "cuptiRangeProfilerEnable"));
}

TEST(Counters, WithoutAGpuThereIsAReason) {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) GTEST_SKIP() << "a GPU is here";
  const auto values = collect_counters(0, {"sm__cycles_active.avg"}, [] { FAIL(); });
  ASSERT_FALSE(values);
  EXPECT_TRUE(values.reason().starts_with("counters unavailable: ")) << values.reason();
}

}  // namespace
}  // namespace assay
