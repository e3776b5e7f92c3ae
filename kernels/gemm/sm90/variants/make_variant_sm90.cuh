// SPDX-License-Identifier: Apache-2.0
// Instantiates the forms of the Hopper matrix product.
#pragma once
#include <vector>

#include "kernels/gemm/sm90/c_sm90.cuh"
#include "kernels/gemm/sm90/gemm_sm90.cuh"
#include "kernels/gemm/sm90/reduce_sm90.cuh"
#include "kernels/gemm/sm90/variant_sm90.hpp"

namespace assay::kernels {

// A form whose kernel multiplies such tiles.
template <class Tile>
constexpr FormSm90 form_of_tile_sm90(const char* type_p, const char* type_q, bool plain,
                                     const TemplatedKernel& kernel) {
  return {.type_p = type_p,
          .type_q = type_q,
          .major_p = Tile::kMajorP,
          .major_q = Tile::kMajorQ,
          .tile_m = Tile::kTileM,
          .tile_n = Tile::kTileN,
          .tile_k = Tile::kTileK,
          .depth = Tile::kDepth,
          .loaded_n = Tile::kLoadedN,
          .stages = Tile::kStages,
          .cluster_m = Tile::kClusterM,
          .cluster_n = Tile::kClusterN,
          .share_p = Tile::kShareP,
          .share_q = Tile::kShareQ,
          .share_k_p = Tile::kShareKP,
          .share_k_q = Tile::kShareKQ,
          .swapped = Tile::kSwapped,
          .pingpong = Tile::kPingpong,
          .plain = plain,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .store_columns = Tile::kStoreColumns,
          .instance = kernel,
          .reduce_instance = {}};
}

// One form. Template arguments are GemmTileSm90's but for the last, GemmVariantSm90::plain.
template <ptx::WgmmaTypes kTypes, int kMajorP, int kMajorQ, int kTileM, int kTileN, int kStages,
          int kClusterM, int kClusterN, bool kSwapped, bool kPingpong, bool kPlain>
FormSm90 make_form_sm90(const char* type_p, const char* type_q) {
  constexpr int kIndex = static_cast<int>(kTypes);
  using Tile = GemmTileSm90<kIndex, kMajorP, kMajorQ, kTileM, kTileN, kStages, kClusterM, kClusterN,
                            kSwapped, kPingpong>;
  TemplatedKernel kernel{.name = kPlain ? "gemm_plain_sm90" : "gemm_sm90",
                         .arguments = {kIndex, kMajorP, kMajorQ, kTileM, kTileN, kStages, kClusterM,
                                       kClusterN, kSwapped, kPingpong},
                         .count = 10};
  if constexpr (kPlain) {
    kernel.kernel = reinterpret_cast<const void*>(
        &gemm_plain_sm90<kIndex, kMajorP, kMajorQ, kTileM, kTileN, kStages, kClusterM, kClusterN,
                         kSwapped, kPingpong>);
  } else {
    kernel.kernel =
        reinterpret_cast<const void*>(&gemm_sm90<kIndex, kMajorP, kMajorQ, kTileM, kTileN, kStages,
                                                 kClusterM, kClusterN, kSwapped, kPingpong>);
  }
  FormSm90 form = form_of_tile_sm90<Tile>(type_p, type_q, kPlain, kernel);
  if constexpr (!kPlain) form.adds_wide_c = CTileSm90<Tile>::kFitsWide;
  if constexpr (kPlain) {
    constexpr int kMajorA = kSwapped ? kMajorQ : kMajorP, kMajorB = kSwapped ? kMajorP : kMajorQ;
    form.reduce_instance = {
        .name = "gemm_reduce_sm90",
        .arguments = {kIndex, kMajorA, kMajorB},
        .count = 3,
        .kernel = reinterpret_cast<const void*>(&gemm_reduce_sm90<kIndex, kMajorA, kMajorB>)};
  }
  return form;
}

// As many stages as fit beside so many buffers of the results for each warp, ten at most. The
// second buffer is given up for a fourth stage, and for any where two boxes make a stage: they are
// of small tiles, whose results are few.
constexpr int most_stages_sm90(int depth, int tile_m, int tile_n, int major_q = 0,
                               int buffers = 2) {
  const int rows = depth * (tile_m + columns_loaded_sm90(tile_n, major_q));
  for (int stages = 10; stages > 4; --stages)
    if (store_buffers_sm90(stages, rows) >= (depth > 1 ? 1 : buffers)) return stages;
  return store_buffers_sm90(4, rows) > 0 ? 4 : 3;
}

// The forms for one pair of types, of a layout given by how the operands of D lie in memory. kPlain
// is theirs: GemmVariantSm90::plain.
template <ptx::WgmmaTypes kTypes, int kMajorA, int kMajorB, bool kPlain = false>
struct FormsSm90 {
  std::vector<FormSm90>& all;
  const char* type_a;
  const char* type_b;

  static constexpr bool kForPlain = kPlain;
  static constexpr int depth(int tile_m, int tile_n) {
    return depth_sm90(32 / ptx::kWgmmaK<kTypes>, kMajorA == 0 && kMajorB == 0, tile_m, tile_n);
  }
  template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1, int kBuffers = 2,
            bool kPingpong = false>
  void add() {
    all.push_back(
        make_form_sm90<kTypes, kMajorA, kMajorB, kTileM, kTileN,
                       most_stages_sm90(depth(kTileM, kTileN), kTileM, kTileN, kMajorB, kBuffers),
                       kClusterM, kClusterN, false, kPingpong, kPlain>(type_a, type_b));
  }
  template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1, int kBuffers = 2>
  void add_pingpong() {
    add<kTileM, kTileN, kClusterM, kClusterN, kBuffers, true>();
  }
  template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1, int kBuffers = 2>
  void add_swapped_pingpong() {
    add_swapped<kTileM, kTileN, kClusterM, kClusterN, kBuffers, true>();
  }
  template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1, int kBuffers = 2,
            bool kPingpong = false>
  void add_swapped() {
    constexpr auto kSwappedTypes = kTypes == ptx::WgmmaTypes::e4m3_e5m2 ? ptx::WgmmaTypes::e5m2_e4m3
                                   : kTypes == ptx::WgmmaTypes::e5m2_e4m3
                                       ? ptx::WgmmaTypes::e4m3_e5m2
                                       : kTypes;
    all.push_back(
        make_form_sm90<kSwappedTypes, kMajorB, kMajorA, kTileM, kTileN,
                       most_stages_sm90(depth(kTileM, kTileN), kTileM, kTileN, kMajorA, kBuffers),
                       kClusterM, kClusterN, true, kPingpong, kPlain>(type_b, type_a));
  }
};

}  // namespace assay::kernels
