// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/skinny.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/frame/fill.hpp"
#include "kernels/skinny/arrange.hpp"
#include "kernels/skinny/baseline.hpp"
#include "kernels/skinny/operands.hpp"
#include "kernels/skinny/reference.hpp"
#include "kernels/skinny/shapes.hpp"

namespace assay::kernels {
namespace {

bool runs_here() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return false;
  return std::ranges::count(skinny_paths().targets({.m = 1, .n = 64, .k = 128}), current_target());
}

TEST(Skinny, RefusesWhatItCannotDoByName) {
  struct Refused {
    SkinnyProblem problem;
    std::string says;
  };
  for (const Refused& r :
       {Refused{{.m = 0, .n = 64, .k = 128}, "m must be 1 to 64"},
        {{.m = 65, .n = 64, .k = 128}, "m must be 1 to 64"},
        {{.m = 1, .n = 0, .k = 128}, "positive"},
        {{.m = 1, .n = 64, .k = -8}, "positive"},
        {{.m = 1, .n = 64, .k = 12}, "multiple of 8"},
        {{.m = 64, .n = 9, .k = 1 << 24}, "k must be at most 4194304"},
        {{.m = 64, .n = 9, .k = 1 << 25, .weights = SkinnyWeights::s4},
         "k must be at most 4194304"},
        {{.m = 1, .n = 1, .k = 2147483640}, "k must be at most 4194304"},
        {{.m = 1, .n = 2147483647, .k = 8}, "n must be at most 1073741824"},
        {{.m = 1, .n = 64, .k = 24, .weights = SkinnyWeights::s8}, "multiple of 16"},
        {{.m = 1, .n = 64, .k = 64, .weights = SkinnyWeights::s4}, "multiple of 128"},
        {{.m = 1, .n = 64, .k = 16, .weights = SkinnyWeights::nvf4}, "multiple of 32"}}) {
    try {
      require_valid(r.problem);
      FAIL() << r.problem.text() << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find(r.says), std::string::npos) << error.what();
    }
  }
}

TEST(Skinny, CublasLtIsAskedForIt) {
  for (const SkinnyWeights weights : kSkinnyWeights)
    EXPECT_EQ(skinny_baseline({1, 64, 128, weights}).refusal(), "");
}

TEST(Skinny, TheCApiRefusesPointersAndNames) {
  alignas(16) static char memory[64];
  void* const at = memory;
  const auto call = [](const char* weights, void* d, const void* x, const void* w,
                       const void* scales) {
    return assay_skinny(weights, d, x, w, scales, nullptr, 1, 64, 128, nullptr);
  };
  const int usage = static_cast<int>(ExitCode::usage);
  EXPECT_EQ(call(nullptr, at, at, at, at), usage);
  EXPECT_EQ(call("s5", at, at, at, at), usage);
  EXPECT_NE(std::string(assay_last_error()).find("bf16, s8, e4m3, s4, s2, mxf4, nvf4"),
            std::string::npos);
  EXPECT_EQ(call("bf16", nullptr, at, at, nullptr), usage);
  EXPECT_EQ(call("bf16", at, memory + 2, at, nullptr), usage);
  EXPECT_NE(std::string(assay_last_error()).find("x at"), std::string::npos);
  EXPECT_EQ(call("s8", at, at, at, nullptr), usage);
  EXPECT_EQ(call("nvf4", at, at, at, at), usage);
  EXPECT_NE(std::string(assay_last_error()).find("scale is null"), std::string::npos);
}

TEST(Skinny, ShapesAreValidAndEachIsThereOnce) {
  std::set<std::tuple<int, int>> seen;
  for (const SkinnyLayer& layer : skinny_layers()) {
    EXPECT_TRUE(seen.insert({layer.n, layer.k}).second) << layer.n << " " << layer.k;
    EXPECT_EQ(layer.model.empty(), layer.layer.empty());
    for (const SkinnyWeights w : kSkinnyWeights)
      EXPECT_NO_THROW(require_valid({.m = 64, .n = layer.n, .k = layer.k, .weights = w}));
  }
}

// Whatever the shape and the room: shared memory suffices, what lies in it does not overlap, and
// all warps have their share.
TEST(Skinny, LayoutsFitTheirRoom) {
  std::vector<std::tuple<int, int>> sizes = {{1, 128},       {40, 1280},       {577, 53248},
                                             {300000, 4096}, {9, kMostInputs}, {kMostOutputs, 128}};
  for (const SkinnyLayer& layer : skinny_layers()) sizes.emplace_back(layer.n, layer.k);
  for (const auto& [ctas, shared, most_cluster] : {std::tuple{132, 227 * 1024, 8},
                                                   {132, 227 * 1024, 2},
                                                   {128, 99 * 1024, 1},
                                                   {2, 99 * 1024, 1}})
    for (const auto& [n, k] : sizes)
      for (const SkinnyWeights w : kSkinnyWeights)
        for (int m = 1; m <= kMostTokens; m += m < 8 ? 1 : 7)
          for (const int k_groups : {0, 1, 2, 4, 8, 16}) {
            if (k_groups > 0 && m > 16) continue;  // so many sums find no room
            const SkinnyLayout l = arrange(w, m, n, k,
                                           {.ctas = ctas,
                                            .shared_bytes = shared,
                                            .most_cluster = most_cluster,
                                            .k_groups = k_groups});
            const SkinnyArguments& a = l.arguments;
            const std::string text =
                SkinnyProblem{m, n, k, w}.text() + " k groups " + std::to_string(k_groups);
            EXPECT_LE(l.shared_bytes, shared) << text;
            EXPECT_EQ(l.threads, 32 * a.row_groups * a.k_groups) << text;
            EXPECT_GE(a.phase_pieces, 1) << text;
            EXPECT_GE(l.tokens, m) << text;
            EXPECT_EQ(l.grid % a.cluster, 0) << text;
            const int tokens = a.tokens_offset + (a.ahead ? 2 : 1) * m * a.token_stride;
            EXPECT_LE(tokens, l.shared_bytes) << text;
            if (!a.sums_over_tokens) EXPECT_GE(a.sums_offset, tokens) << text;
            if (a.sums_over_tokens) EXPECT_EQ(a.blocks, 1) << text;
            EXPECT_LT(a.sums_offset, l.shared_bytes) << text;
          }
}

// Rows that are no multiple of a tile, k of several and of parts of pieces, NaN in and around the
// output, and the same bits twice.
TEST(Skinny, IsRightAndWritesNothingElse) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  constexpr std::size_t kGuard = 1 << 12;
  const Stream stream;
  for (const SkinnyWeights weights : kSkinnyWeights)
    for (const int m : {1, 3, 8, 9, 16, 31, 64})
      for (const auto& [n, steps] : {std::tuple{1, 1}, {77, 5}, {1000, 33}, {4097, 16}}) {
        const SkinnyProblem p{
            .m = m, .n = n, .k = steps * skinny_step(weights), .weights = weights};
        const std::vector<Operand> operands = skinny_operands(p);
        std::vector<Buffer> buffers;
        std::vector<void*> pointers;
        for (std::size_t i = 0; i < operands.size(); ++i) {
          buffers.emplace_back(operands[i].bytes + 2 * kGuard);
          poison(buffers[i].data(), buffers[i].bytes(), stream);
          pointers.push_back(buffers[i].as<char>() + kGuard);
          if (operands[i].fill) operands[i].fill(pointers[i], i + 1, stream);
        }
        const SkinnyOperands o = skinny_operands_of(pointers);
        std::vector<unsigned char> first(buffers[0].bytes()), again(buffers[0].bytes());
        for (auto* bits : {&first, &again}) {
          plan_skinny(p, o).run(stream);
          check(cudaStreamSynchronize(stream));
          check(cudaMemcpy(bits->data(), buffers[0].data(), bits->size(), cudaMemcpyDeviceToHost));
        }
        EXPECT_EQ(first, again) << p.text();
        const SkinnyErrors errors = check_skinny(p, o, 1 << 16, 3, stream);
        EXPECT_TRUE(errors.right()) << p.text() << ": " << errors.describe();
        const auto untouched = [](unsigned char c) { return c == 0xff; };
        EXPECT_TRUE(std::all_of(first.begin(), first.begin() + kGuard, untouched)) << p.text();
        EXPECT_TRUE(std::all_of(first.end() - kGuard, first.end(), untouched)) << p.text();
      }
}

// Where D is not aligned to 16 bytes some path may do with another kernel.
TEST(Skinny, DMayBeginAtAnyElement) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  const Stream stream;
  const SkinnyProblem p{.m = 3, .n = 1000, .k = 256};
  std::vector<Buffer> buffers;
  std::vector<void*> pointers;
  for (const Operand& operand : skinny_operands(p)) {
    buffers.emplace_back(operand.bytes + 16);
    pointers.push_back(buffers.back().data());
    if (operand.fill) operand.fill(pointers.back(), 1, stream);
  }
  pointers[0] = buffers[0].as<char>() + 2;
  poison(buffers[0].data(), buffers[0].bytes(), stream);
  const SkinnyOperands o = skinny_operands_of(pointers);
  plan_skinny(p, o).run(stream);
  EXPECT_TRUE(check_skinny(p, o, 1 << 16, 3, stream).right());
}

TEST(Skinny, ReferenceSeesAWrongAndAMissingOutput) {
  if (!runs_here()) GTEST_SKIP() << "no path runs here";
  const Stream stream;
  const SkinnyProblem p{.m = 2, .n = 64, .k = 256, .weights = SkinnyWeights::s4};
  std::vector<Buffer> buffers;
  std::vector<void*> pointers;
  for (const Operand& operand : skinny_operands(p)) {
    buffers.emplace_back(operand.bytes);
    pointers.push_back(buffers.back().data());
    if (operand.fill) operand.fill(pointers.back(), 1, stream);
  }
  const SkinnyOperands o = skinny_operands_of(pointers);
  plan_skinny(p, o).run(stream);
  EXPECT_TRUE(check_skinny(p, o, 1 << 16, 3, stream).right());
  poison(buffers[0].as<char>() + 2 * 77, 2, stream);
  EXPECT_EQ(check_skinny(p, o, 1 << 16, 3, stream).not_finite, 1u);
  check(cudaMemsetAsync(buffers[0].as<char>() + 2 * 77, 0x47, 2, stream));  // 51015
  EXPECT_GT(check_skinny(p, o, 1 << 16, 3, stream).worst_ratio, 1);
}

}  // namespace
}  // namespace assay::kernels
