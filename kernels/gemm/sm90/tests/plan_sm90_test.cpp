// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/plan_sm90.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/element.hpp"
#include "harness/error.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/frame/workers/workspace.hpp"
#include "kernels/gemm/shapes.hpp"

namespace assay::kernels {
namespace {

int clusters_of_132(const GemmVariantSm90& v) { return 132 / v.cluster_size(); }

TEST(GemmSm90, ScalesByRowAreForProductsOf8BitTypes) {
  GemmProblem problem{.m = 64, .n = 64, .k = 64, .type_d = "bf16", .scaling = Scaling::row};
  EXPECT_NE(gemm_paths().choose(problem, Target::sm_90a).name, "sm90");
  problem.type = "e4m3";
  EXPECT_EQ(gemm_paths().choose(problem, Target::sm_90a).name, "sm90");
}

TEST(GemmSm90, IsChosenOnItsTarget) {
  for (const char* layout : {"nt", "nn", "tn", "tt"}) {
    const GemmProblem problem{.m = 64, .n = 64, .k = 64, .type = "f16", .layout = layout};
    EXPECT_EQ(gemm_paths().choose(problem, Target::sm_90a).name, "sm90") << layout;
  }
}

// Two boxes along k are a stage of small tiles whose rows lie along k in memory, and one of others.
TEST(GemmSm90, AStageOfSmallTilesHasTwoBoxes) {
  std::set<std::string> deep;
  for (const GemmVariantSm90& v : gemm_variants_sm90()) {
    const bool wide = element_bits(v.type_p) == 16;
    const bool small = v.major_p == 0 && v.major_q == 0 && v.tile_m + v.tile_n <= 128;
    EXPECT_EQ(v.depth, wide && small ? 2 : 1) << v.kernel_name;
    EXPECT_EQ(v.tile_k * element_bits(v.type_p) / 8, 128 * v.depth) << v.kernel_name;
    if (v.major_p == 0) EXPECT_EQ(v.box_p(0) * element_bits(v.type_p) / 8, 128) << v.kernel_name;
    if (v.depth == 1) continue;
    EXPECT_NE(v.name.find("x128_c"), std::string::npos) << v.name;
    EXPECT_GE(v.stages, 6) << v.name;
    deep.insert(v.type_p + std::string(v.plain ? " plain" : " any"));
  }
  EXPECT_EQ(deep, (std::set<std::string>{"bf16 any", "bf16 plain", "f16 any", "f16 plain"}));
}

// The table of first steps has room for so many: a GPU that holds more clusters does not get more.
TEST(GemmSm90, NoMoreWorkersThanTheTableOfFirstStepsHas) {
  const GemmProblem problem{.m = 4096, .n = 4096, .k = 4096};
  int most = 0;
  for (const GemmChoiceSm90& choice :
       gemm_choices_sm90(problem, [](const GemmVariantSm90&) { return 200; }))
    most = std::max(most, choice.workers);
  EXPECT_EQ(most, WorkerPlaces::kMost);
  EXPECT_THROW(
      launch_of_gemm_sm90(problem, {}, {.variant = &gemm_variants_sm90()[0], .workers = 133}),
      Error);
}

// As a client of MPS with few SMs: forms of large clusters are left out, and the others do it.
TEST(GemmSm90, FormsThatDoNotFitAreLeftOut) {
  const GemmProblem problem{.m = 4096, .n = 4096, .k = 4096};
  const auto of_few_sms = [](const GemmVariantSm90& v) { return 3 / v.cluster_size(); };
  EXPECT_LE(choose_gemm_sm90(problem, of_few_sms).variant->cluster_size(), 2);
  for (const GemmChoiceSm90& choice : gemm_choices_sm90(problem, of_few_sms))
    EXPECT_LE(choice.workers * choice.variant->cluster_size(), 3) << choice.text();
  try {
    choose_gemm_sm90(problem, [](const GemmVariantSm90&) { return 0; });
    FAIL() << "chosen";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unfit);
  }
}

// Log-uniform between 1 and `most`, in multiples of `step`.
int size_up_to(int most, int step, std::mt19937& random) {
  const double exponent = std::log2(most) * static_cast<double>(random()) / 4294967296.0;
  return divide_up(static_cast<int>(std::exp2(exponent)), step) * step;
}

std::vector<GemmProblem> many_sizes() {
  std::vector<GemmProblem> all;
  for (const GemmShape& s : gemm_shapes()) all.push_back({.m = s.m, .n = s.n, .k = s.k});
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    const int step = i % 2 == 0 ? 16 : 64;
    all.push_back({.m = size_up_to(20000, i % 4 == 3 ? 64 : 1, random),
                   .n = size_up_to(40000, step, random),
                   .k = size_up_to(40000, step, random)});
  }
  return all;
}

// A form that no problem is done by costs two seconds of every build.
TEST(GemmSm90, EveryFormIsChosenForSomeProblem) {
  const std::vector<GemmProblem> sizes = many_sizes();
  std::set<const GemmVariantSm90*> left;
  for (const GemmVariantSm90& v : gemm_variants_sm90()) left.insert(&v);
  for (const auto& [type, type_b, layout] : {std::tuple("bf16", "bf16", "nt"),
                                             {"bf16", "bf16", "nn"},
                                             {"bf16", "bf16", "tn"},
                                             {"bf16", "bf16", "tt"},
                                             {"f16", "f16", "nt"},
                                             {"f16", "f16", "nn"},
                                             {"f16", "f16", "tn"},
                                             {"f16", "f16", "tt"},
                                             {"e4m3", "e4m3", "nt"},
                                             {"e4m3", "e5m2", "nt"},
                                             {"e5m2", "e4m3", "nt"}}) {
    for (const Activation activation : {Activation::none, Activation::gelu}) {
      const auto open = [&](const GemmProblem& p) {
        return std::ranges::any_of(fitting_variants_sm90(p),
                                   [&](const auto* v) { return left.contains(v); });
      };
      for (GemmProblem p : sizes) {
        p.type = type;
        p.type_b = type_b;
        p.layout = layout;
        p.activation = activation;
        if (p.layout[0] == 't') p.m = divide_up(p.m, 8) * 8;
        if (!open(p)) break;
        left.erase(choose_gemm_sm90(p, clusters_of_132).variant);
      }
    }
  }
  for (const GemmVariantSm90* v : left) ADD_FAILURE() << v->kernel_name << " " << v->name;
}

TEST(GemmSm90, FormsThatCanDoMoreAreNotOfferedToProductsThatAskForLittle) {
  for (const char* layout : {"nt", "nn", "tn", "tt"}) {
    GemmProblem p{.m = 4096, .n = 4096, .k = 4096};
    p.layout = layout;
    EXPECT_TRUE(std::ranges::all_of(fitting_variants_sm90(p), &GemmVariantSm90::plain)) << layout;
    p.bias = true;
    const auto more = fitting_variants_sm90(p);
    EXPECT_FALSE(more.empty()) << layout;
    EXPECT_TRUE(std::ranges::none_of(more, &GemmVariantSm90::plain)) << layout;
  }
}

TEST(GemmSm90, EveryChoiceHasAWorkerForEachShareAndRoomForItsFlags) {
  for (const GemmProblem& p : {GemmProblem{.m = 1, .n = 8, .k = 8},
                               {.m = 777, .n = 8192, .k = 4096},
                               {.m = 128, .n = 128, .k = 32768},
                               {.m = 40000, .n = 64, .k = 512}}) {
    const auto choices = gemm_choices_sm90(p, clusters_of_132);
    EXPECT_FALSE(choices.empty());
    for (const GemmChoiceSm90& c : choices) {
      EXPECT_GE(c.workers, 1);
      EXPECT_LE(c.workers, clusters_of_132(*c.variant)) << c.text();
      EXPECT_LE(static_cast<std::size_t>(c.workers * c.variant->cluster_size()) * 8, kFlagBytes);
      if (c.stream_tiles > 0)
        EXPECT_LE(c.workers, c.stream_tiles * divide_up(p.k, c.variant->tile_k)) << c.text();
      EXPECT_GT(predicted_cycles_sm90(p, c), 0);
    }
  }
}

// A large D of a short sum is written along its rows: row after row of tiles, of a swapped form
// column after column of its own.
TEST(GemmSm90, ALargeDOfAShortSumIsWrittenAlongItsRows) {
  const GemmProblem written{.m = 8192, .n = 8192, .k = 64, .type = "bf16", .layout = "nt"};
  for (const GemmChoiceSm90& choice : gemm_choices_sm90(written, clusters_of_132)) {
    const GemmVariantSm90& v = *choice.variant;
    const int rows = divide_up(v.swapped ? written.n : written.m, v.tile_m * v.cluster_m);
    EXPECT_EQ(choice.band, v.swapped ? rows : 2) << choice.text();
    EXPECT_NE(choice.text().find(" band "), std::string::npos);
  }
  GemmProblem read = written;  // as large a D, of operands that weigh more than a sixth of it
  read.k = 704;
  GemmProblem small = written;  // L2 holds it
  small.m = small.n = 4096;
  for (const GemmProblem& usual : {read, small}) {
    for (const GemmChoiceSm90& choice : gemm_choices_sm90(usual, clusters_of_132))
      EXPECT_NE(choice.band, choice.variant->swapped ? 64 : 1) << choice.text();
  }
}

// Consumers that take turns write one's results while the other multiplies: what a product has
// beside its sums costs them less.

TEST(GemmSm90, TheTimeOfAWayOutIsKnownAndHiddenByTurns) {
  const GemmProblem plain{.m = 4096, .n = 4096, .k = 4096};
  GemmProblem gelu = plain, c = plain, f32 = plain;
  gelu.bias = true;
  gelu.activation = Activation::gelu;
  c.beta = 1;
  f32.type_d = "f32";
  for (const GemmProblem& p : {gelu, c, f32}) {
    double least_together = 1e18, most_pingpong = 0;
    for (const GemmVariantSm90* v : fitting_variants_sm90(plain)) {
      if (v->swapped || v->tile_m != 128) continue;
      const GemmChoiceSm90 choice{.variant = v, .workers = clusters_of_132(*v)};
      const double more = predicted_cycles_sm90(p, choice) - predicted_cycles_sm90(plain, choice);
      EXPECT_GT(more, 0) << v->name;
      double& bound = v->pingpong ? most_pingpong : least_together;
      bound = v->pingpong ? std::max(bound, more) : std::min(bound, more);
    }
    EXPECT_LT(most_pingpong, least_together);
  }
}

// Four waves of whole tiles more take as long whether or not the last tiles are shared.
TEST(GemmSm90, UnevenSharesSlowTheirOwnStepsAlone) {
  for (const GemmVariantSm90* v : fitting_variants_sm90({.m = 4096, .n = 4096, .k = 4096})) {
    if (v->swapped || v->cluster_size() != 2 || v->tile_m < 128 || v->tile_n < 128) continue;
    constexpr int kWorkers = 66, kColumns = 6, kShared = 18;
    const auto cycles = [&](int waves, int shared) {
      const int tiles = waves * kWorkers + shared;
      const GemmProblem p{.m = tiles / kColumns * v->tile_m * v->cluster_m,
                          .n = kColumns * v->tile_n * v->cluster_n,
                          .k = 8192};
      return predicted_cycles_sm90(p, {.variant = v, .stream_tiles = shared, .workers = kWorkers});
    };
    EXPECT_GT(cycles(4, kShared), cycles(4, 0)) << v->name;
    EXPECT_NEAR((cycles(8, kShared) - cycles(4, kShared)) / (cycles(8, 0) - cycles(4, 0)), 1, 0.01)
        << v->name;
  }
}

// Where the way out is most of a tile's time, boxes that are not full cost it: in the layout tt,
// tiles of 96 columns took 1.2 times as long as those of 192.
TEST(GemmSm90, BoxesOfShallowProductsAreNearlyFull) {
  for (const char* layout : {"nt", "nn", "tn", "tt"}) {
    for (const int k : {16, 64}) {
      const GemmProblem p{.m = 8192, .n = 8192, .k = k, .layout = layout};
      const GemmVariantSm90& v = *choose_gemm_sm90(p, clusters_of_132).variant;
      EXPECT_LE(divide_up(v.tile_n, 64) * 64, 1.1 * v.tile_n) << layout << " " << k << v.name;
    }
  }
}

// A box of an operand's last rows holds these and no more.
TEST(GemmSm90, BoxesOfTheLastRowsHoldNoneBeyond) {
  const GemmProblem problem{.m = 777, .n = 4104, .k = 512};
  for (const GemmVariantSm90* v : fitting_variants_sm90(problem)) {
    const GemmLaunchSm90 l = launch_of_gemm_sm90(problem, {}, {.variant = v, .workers = 1});
    for (const auto& [whole, edge] : {std::pair{l.p, l.edge_p}, {l.q, l.edge_q}}) {
      const std::uint64_t rest = whole.extents[1] % whole.box[1];
      EXPECT_EQ(edge.box[1], rest == 0 ? whole.box[1] : rest) << v->name;
      EXPECT_EQ(edge.box[0], whole.box[0]) << v->name;
      EXPECT_EQ(edge.extents, whole.extents) << v->name;
    }
  }
}

// CTAs of a cluster bring all of a tile once, each its part of the rows or of k; but for tiles
// whose rows are k's and are no whole parts, which each brings in its turn.
TEST(GemmSm90, SharesOfATileMakeItWhole) {
  bool by_k = false, in_turns = false;
  for (const GemmVariantSm90& v : gemm_variants_sm90()) {
    const int box_k = v.tile_k / v.depth;
    for (const auto& [major, rows, share, share_k, ctas] :
         {std::tuple{v.major_p, v.tile_m, v.share_p, v.share_k_p, v.cluster_n},
          {v.major_q, v.loaded_n, v.share_q, v.share_k_q, v.cluster_m}}) {
      if (ctas > 1 && share == rows && share_k == box_k) {
        EXPECT_TRUE(major == 0 && rows % (8 * ctas) != 0) << v.name;
        in_turns = true;
        continue;
      }
      EXPECT_EQ(ctas * share * share_k, rows * box_k) << v.name;
      by_k |= share_k < box_k;
    }
  }
  EXPECT_TRUE(by_k && in_turns);
}

// Whatever follows the sums, few long ones are done in parts.
TEST(GemmSm90, FewLongSumsAreInPartsWhateverFollows) {
  for (const char* layout : {"nt", "nn", "tn", "tt"}) {
    const GemmProblem sums{.m = 256, .n = 256, .k = 65536, .layout = layout};
    GemmProblem wide = sums, with_c = sums, activated = sums;
    wide.type_d = "f32";
    with_c.beta = 1;
    activated.bias = true;
    activated.activation = Activation::gelu;
    for (const GemmProblem& problem : {sums, wide, with_c, activated}) {
      const GemmChoiceSm90 choice = choose_gemm_sm90(problem, clusters_of_132);
      EXPECT_GT(choice.parts, 1) << layout << choice.text();
    }
  }
  GemmProblem narrow{.m = 256, .n = 256, .k = 65536, .type = "e4m3", .type_d = "bf16"};
  for (const Scaling scaling : {Scaling::none, Scaling::tensor, Scaling::row}) {
    narrow.scaling = scaling;
    for (const bool bias : {false, true}) {
      narrow.bias = bias;
      const GemmChoiceSm90 choice = choose_gemm_sm90(narrow, clusters_of_132);
      EXPECT_GT(choice.parts, 1) << choice.text();
    }
  }
}

// A C of f32 that a form's ring does not hold is for other forms, of which every layout has some.
TEST(GemmSm90, FormsHoldTheCThatTheyAreGiven) {
  bool some_do_not = false;
  for (const char* layout : {"nt", "nn", "tn", "tt"}) {
    GemmProblem problem{.m = 512, .n = 512, .k = 512, .layout = layout, .beta = 1};
    const std::size_t all = fitting_variants_sm90(problem).size();
    problem.type_d = "f32";
    const auto fitting = fitting_variants_sm90(problem);
    some_do_not |= fitting.size() < all;
    EXPECT_GT(fitting.size(), 4U) << layout;
    for (const GemmVariantSm90* v : fitting) EXPECT_TRUE(v->adds_wide_c) << v->name;
  }
  EXPECT_TRUE(some_do_not);
}

// Boxes of D and of C are 128 bytes of its rows, or what a narrower tile has.
TEST(GemmSm90, BoxesOfResultsAreWholeLines) {
  for (const char* type : {"bf16", "f32"}) {
    const GemmProblem problem{.m = 512, .n = 512, .k = 512, .type_d = type, .beta = 1};
    const std::uint32_t columns = 1024 / static_cast<unsigned>(element_bits(type));
    for (const GemmVariantSm90* v : fitting_variants_sm90(problem)) {
      const GemmLaunchSm90 l = launch_of_gemm_sm90(problem, {}, {.variant = v, .workers = 1});
      const auto tile_n = static_cast<std::uint32_t>(v->tile_n);
      using Box = std::vector<std::uint32_t>;
      const Box d =
          v->swapped ? Box{columns, std::min(columns, tile_n)} : Box{std::min(columns, tile_n), 16};
      EXPECT_EQ(l.d.box, d) << v->name;
      EXPECT_EQ(l.c.box, (Box{columns, v->swapped ? tile_n : static_cast<unsigned>(v->tile_m)}))
          << v->name;
    }
  }
}

// Small tiles whose order counts do not come early, where clusters find SMs in no order.
TEST(GemmSm90, WhatGainsByItsPlacesIsLaunchedLate) {
  const GemmProblem problem{.m = 4096, .n = 4096, .k = 4096};
  std::set<bool> seen;
  for (const GemmChoiceSm90& choice : gemm_choices_sm90(problem, clusters_of_132)) {
    const GemmVariantSm90& v = *choice.variant;
    const bool whole = choice.stream_tiles == 0 && choice.parts == 1;
    const bool late = whole && v.cluster_size() == 2 && v.tile_m * v.tile_n <= 128 * 128;
    const bool large = v.tile_m * v.tile_n > 128 * 192;
    const GemmLaunchSm90 l = launch_of_gemm_sm90(problem, {}, choice);
    if (late) EXPECT_FALSE(l.early) << choice.text();
    if (!whole || large || v.cluster_size() != 2) EXPECT_TRUE(l.early) << choice.text();
    seen.insert(l.early);
  }
  EXPECT_EQ(seen.size(), 2U);
}

// One sum over k in a fixed order, whatever the order of the tiles and the size of the grid.
TEST(GemmSm90, GivesTheSameBitsForEveryRasterAndGrid) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 ||
      current_target() != Target::sm_90a) {
    GTEST_SKIP() << "needs an sm_90 GPU";
  }
  const GemmProblem problem{.m = 1024, .n = 2048, .k = 512};
  const auto elements = [](int x, int y) {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(y);
  };
  const Stream stream;
  const std::size_t of_d = elements(problem.m, problem.n);
  const Buffer a(elements(problem.m, problem.k) * 2), b(elements(problem.n, problem.k) * 2),
      d(of_d * 2);
  fill_uniform_bf16(a.data(), a.bytes() / 2, 1, stream);
  fill_uniform_bf16(b.data(), b.bytes() / 2, 2, stream);
  for (const GemmVariantSm90* v : fitting_variants_sm90(problem)) {
    std::vector<std::uint16_t> first;
    for (const int workers : {1, 3, clusters_here_sm90(*v)}) {
      poison(d.data(), d.bytes(), stream);
      plan_gemm_sm90(problem, {d.data(), a.data(), b.data()},
                     {.variant = v, .workers = workers, .band = workers})
          .run(stream);
      check(cudaStreamSynchronize(stream));
      std::vector<std::uint16_t> bits(of_d);
      check(cudaMemcpy(bits.data(), d.data(), d.bytes(), cudaMemcpyDeviceToHost));
      if (first.empty()) first = bits;
      EXPECT_EQ(bits, first) << v->name;
    }
  }
}

}  // namespace
}  // namespace assay::kernels
