// SPDX-License-Identifier: Apache-2.0
// Bugs of published kernels, made again (kernels/wild_*.cu): each is found and named at its line,
// and what mended it is clean.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/model/tests/kernel_runs.hpp"

namespace assay::model {
namespace {

struct Wild {
  const char* file;
  KernelRun run;
};

const Shape kOne{.block = {128, 1, 1}};
const Shape kTwo{.grid = {2, 1, 1}, .block = {128, 1, 1}};

// A grid that begins while those of `before` may be under way.
KernelRun launched(const char* kernel, std::vector<const char*> before) {
  return {kernel, kOne, {"f32[128]", "f32[128]=none", "f32[128]=none"}, std::move(before)};
}

const std::vector<Wild>& wild() {
  static const std::vector<Wild> all = {
      {"wild_copies", {"te_2695", kOne, {"f32[512]", "f32[512]=none", "s32:4"}}},
      {"wild_copies", {"te_3417", kOne, {"f32[512]", "f32[512]=none", "s32:4"}}},
      {"wild_copies", {"flashkda_24", kOne, {"f32[128]", "f32[128]=none"}}},
      {"wild_copies", {"flashkda_24_empty", kOne, {"f32[128]", "f32[128]=none", "s32:0"}}},
      {"wild_copies", {"flashkda_25", kOne, {"f32[128]", "f32[128]=none"}}},
      {"wild_copies",
       {"deepep_621", kTwo, {"f32[128]", "f32[128]=none", "u32[1]=zero", "f32[128]=none"}}},
      {"wild_copies",
       {"deepep_nc", kTwo, {"f32[128]", "f32[128]=none", "u32[1]=zero", "f32[128]=none"}}},
      {"wild_copies", {"deepep_660", kOne, {"f32[1024]", "f32[1024]=none", "s32:8"}}},
      {"wild_copies", {"torchao_4278", kOne, {"f32[128]", "f32[128]=none"}}},
      {"wild_copies",
       {"deepgemm_343",
        kOne,
        {"f32[256]", "u8[128]=none", "f32[128]=none", "map(0, box=128)", "map(0, box=128)"}}},
      {"wild_copies", {"mkernel_18", kOne, {"f32[1152]", "f32[384]=none", "s32:3", "s32:3"}}},
      {"wild_copies", {"fuser_5448", kOne, {"f32[512]", "f32[512]=none", "s32:4"}}},
      {"wild_barriers", {"gimmik_23", kOne, {"f32[768]", "f32[768]=none", "s32:6"}}},
      {"wild_barriers", {"cutracer_106", kOne, {"f32[128]", "f32[128]=none"}}},
      {"wild_barriers", {"vllm_26026", kOne, {"s32[4]=zero", "f32[128]=none", "s32:4"}}},
      {"wild_barriers", {"tilelang_2566", kOne, {"f32[128]", "f32[128]=none"}}},
      {"wild_barriers", {"tilelang_2634", kOne, {"f32[4096]=none"}}},
      {"wild_barriers", {"tilelang_2613", {.block = {256, 1, 1}}, {"f32[8192]=none"}}},
      {"wild_barriers", {"triton_9413", kTwo, {"f32[256]=none"}}},
      {"wild_barriers", {"triton_2292", kTwo, {"f32[1024]=none"}}},
      {"wild_counts", {"humming_56", kTwo, {"f32[512]", "f32[1024]=none", "s32:4"}}},
      {"wild_counts", {"tvm_20074", kTwo, {"f32[256]=none"}}},
      {"wild_counts", {"cutlass_2364", kOne, {"f32[128]", "f32[128]=none"}}},
      {"wild_counts", {"deepep_293", kOne, {"f32[128]", "f32[128]=none"}}},
      {"wild_counts", {"cutlass_2672", kOne, {"f32[128]", "f32[128]=none", "s32:17"}}},
      {"wild_counts",
       {"tilelang_2644", {.grid = {4, 1, 1}, .block = {128, 1, 1}}, {"f32[128]", "f32[512]=none"}}},
      {"wild_counts", {"cula_114", kOne, {"u8[2048]=none"}}},
      {"wild_counts", {"fuser_3561", kOne, {"bf16[4096]", "f32[4096]=none", "s32:4"}}},
      {"wild_tensor_memory_sm100",
       {"flash_attention_182", {.block = {256, 1, 1}}, {"f32[384]=none"}}},
      {"wild_tensor_memory_sm100", {"tirx_19", kOne, {"f32[128]=none"}}},
      {"wild_tensor_memory_sm100", {"tirx_7", kOne, {"f32[128]=none"}}},
      {"wild_tensor_memory_sm100",
       {"tilelang_3087",
        {.block = {128, 1, 1}, .dynamic_shared_bytes = 3 * 16384},
        {"bf16[8192]", "f32[128]=none", "s32:7"}}},
      {"wild_launches", launched("flash_attention_2498", {"writes_sums"})},
      {"wild_launches", launched("cutlass_2962", {"writes_sums"})},
      {"wild_launches", launched("quack_206", {"writes_sums"})},
      {"wild_launches", launched("pytorch_166741", {"writes_sums", "reads_sums"})},
  };
  return all;
}

// Of rules that those do not break.
const std::vector<Wild>& others() {
  static const std::vector<Wild> all = {
      {"rules", {"overrun", kOne, {"f32[128]=none"}}},
      {"rules", {"given_up", kOne, {"f32[128]", "f32[1]=none"}}},
      {"rules", {"reused", kOne, {"f32[1]=none"}}},
      {"rules", {"gone", kOne, {"f32[128]", "f32[1]=none"}}},
      {"rules", {"too_late", kTwo, {"f32[1]=none"}}},
      {"wild_launches", launched("passed_over", {"writes_sums", "between"})},
      {"wild_launches", launched("begun_late", {"writes_sums", "lets_begin_late"})},
  };
  return all;
}

// The line that the kernel's source marks, and the rule that it names there.
struct Mark {
  int line = 0;
  std::string rule;
};
Mark mark_of(const std::string& source, const std::string& kernel) {
  static constexpr std::string_view kSign = "// <- ";
  const auto begin = source.find(" " + kernel + "(");
  const auto at = source.find(kSign, begin);
  if (begin == source.npos || at == source.npos) return {};
  const auto rule = at + kSign.size();
  return {static_cast<int>(
              std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
              1,
          source.substr(rule, source.find('\n', rule) - rule)};
}

// As they are commonly made.
const std::vector<Wild>& common() {
  static const std::vector<Wild> all = {
      {"common_bugs", {"last_step", kOne, {"f32[2048]", "f32[2048]=none", "s32:4"}}},
      {"common_bugs", {"others_copies", kOne, {"f32[512]", "f32[512]=none"}}},
      {"common_bugs", {"parity_of_a_step", kOne, {"f32[768]", "f32[768]=none", "s32:6"}}},
      {"common_bugs", {"one_lane_waits", kOne, {"f32[128]", "f32[128]=none"}}},
      {"common_bugs",
       {"last_sums",
        {.grid = {3, 1, 1}, .block = {128, 1, 1}},
        {"f32[384]", "f32[384]=none", "u32[1]=zero", "f32[128]=none"}}},
      {"common_bugs", {"released_nothing", kTwo, {"f32[256]=none"}}},
      {"common_bugs", {"source_was_read", kOne, {"f32[128]", "f32[128]=zero", "f32[128]=none"}}},
      {"common_bugs", {"one_number", {.block = {256, 1, 1}}, {"f32[256]", "f32[256]=none"}}},
      {"common_bugs",
       {"given_back_early", {.block = {256, 1, 1}}, {"f32[2048]", "f32[4096]=none", "s32:4"}}},
      {"common_bugs", {"other_memory", kOne, {"f32[128]", "f32[128]=none"}}},
      {"common_bugs", {"plain_flag", {.block = {64, 1, 1}}, {"f32[128]", "f32[128]=none"}}},
      {"common_bugs",
       {"changed_map", kOne, {"f32[128]", "u8[128]=none", "f32[128]=none", "map(0, box=128)"}}},
  };
  return all;
}

// Of the wrong thread, phase, count or buffer.
const std::vector<Wild>& subtle() {
  const Shape warps{.block = {160, 1, 1}};
  const Shape tile{.block = {128, 1, 1}, .dynamic_shared_bytes = 8192};
  const Shape operand{.block = {128, 1, 1}, .dynamic_shared_bytes = 16384};
  const std::vector<std::string> one_map = {"bf16[64x64]", "f32[4096]=none",
                                            "map(0, box=64x64, swizzle=128)"};
  const std::vector<std::string> of_sm100 = {"bf16[128x64]", "f32[128]=none",
                                             "map(0, box=128x64, swizzle=128)"};
  static const std::vector<Wild> all = {
      {"subtle_bugs", {"changed_in_place", tile, one_map}},
      {"subtle_bugs", {"rescaled", tile, one_map}},
      {"subtle_bugs",
       {"stale_descriptor",
        {.block = {160, 1, 1}, .dynamic_shared_bytes = 16384},
        {"bf16[384x64]", "f32[4096]=none", "s32:6", "map(0, box=64x64, swizzle=128)"}}},
      {"subtle_bugs",
       {"parity_of_a_tile", warps, {"f32[1536]", "f32[384]=none", "s32:3", "s32:4"}}},
      {"subtle_bugs", {"three_of_four", warps, {"f32[1024]", "f32[1024]=none", "s32:8"}}},
      {"subtle_bugs", {"anothers_group", kOne, {"f32[512]", "f32[512]=none", "s32:4"}}},
      {"subtle_bugs",
       {"two_whole_boxes",
        kOne,
        {"bf16[8x96]", "u16[768]=none", "map(0, box=8x64)", "map(0, box=8x32)"}}},
      {"subtle_bugs", {"gone_before_it_came", kTwo, {"f32[256]=none"}}},
      {"subtle_bugs", {"fence_of_the_own_cta", kTwo, {"f32[256]", "f32[256]=none"}}},
      {"subtle_bugs", {"copied_on", kOne, {"f32[1024]", "f32[1024]=none", "s32:8"}}},
      {"subtle_bugs",
       {"other_swizzle",
        tile,
        {"bf16[64x64]", "f32[4096]=none", "map(0, box=64x32, swizzle=64)",
         "map(0, box=64x64, swizzle=128)"}}},
      {"subtle_bugs_sm100", {"second_load", kOne, {"f32[128]=none"}}},
      {"subtle_bugs_sm100", {"begun_by_stores", operand, of_sm100}},
      {"subtle_bugs_sm100", {"committed_early", operand, of_sm100}},
      {"subtle_bugs_sm100", {"freed_under_way", operand, of_sm100}},
      {"subtle_bugs_sm100",
       {"operand_swizzle",
        operand,
        {"bf16[128x64]", "f32[128]=none", "map(0, box=128x32, swizzle=64)",
         "map(0, box=128x64, swizzle=128)"}}},
  };
  return all;
}

class WildTest : public testing::TestWithParam<Wild> {};

TEST_P(WildTest, IsFoundAndNamed) {
  const Wild& w = GetParam();
  const Mark mark = mark_of(source_of_file(w.file), w.run.kernel);
  ASSERT_NE(mark.line, 0) << "no line of the kernel is marked";
  Gpu gpu(ptx_of_file(w.file));
  std::string others;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Outcome outcome = run_seed(gpu, w.run.kernel + std::string("ILb0E"), w.run, seed);
    for (const Finding& f : outcome.findings)
      if (f.rule == mark.rule && (line_in_kernel(f.at) == mark.line ||
                                  (f.has_other && line_in_kernel(f.other) == mark.line))) {
        RecordProperty("seeds", static_cast<int>(seed) + 1);
        return;
      }
    others += all_of(outcome);
  }
  FAIL() << mark.rule << " at line " << mark.line << " was not found, but\n"
         << others.substr(0, 4000);
}

TEST_P(WildTest, IsCleanWhenMended) {
  const Wild& w = GetParam();
  const std::string ptx = ptx_of_file(w.file);
  std::optional<Gpu> gpu;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    if (seed % 50 == 0) gpu.emplace(ptx);  // whose memory grows with every launch
    const Outcome outcome = run_seed(*gpu, w.run.kernel + std::string("ILb1E"), w.run, seed);
    ASSERT_EQ(all_of(outcome), "") << "seed " << seed;
  }
}

// In ctest's names of them.
void PrintTo(const Wild& wild, std::ostream* out) { *out << wild.run.kernel; }

const auto kName = [](const auto& p) { return std::string(p.param.run.kernel); };
INSTANTIATE_TEST_SUITE_P(Reports, WildTest, testing::ValuesIn(wild()), kName);
INSTANTIATE_TEST_SUITE_P(Common, WildTest, testing::ValuesIn(common()), kName);
INSTANTIATE_TEST_SUITE_P(Subtle, WildTest, testing::ValuesIn(subtle()), kName);
INSTANTIATE_TEST_SUITE_P(Rules, WildTest, testing::ValuesIn(others()), kName);

}  // namespace
}  // namespace assay::model
