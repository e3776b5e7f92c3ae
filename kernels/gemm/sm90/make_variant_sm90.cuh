// SPDX-License-Identifier: Apache-2.0
// Instantiates a form of the Hopper matrix product and describes it.
#pragma once
#include <string>
#include <vector>

#include "kernels/gemm/sm90/gemm_sm90.cuh"
#include "kernels/gemm/sm90/variant_sm90.hpp"

namespace assay::kernels {

// One form. Template arguments are GemmTileSm90's.
template <ptx::WgmmaTypes kTypes, int kMajorP, int kMajorQ, int kTileM, int kTileN, int kStages,
          int kClusterM, int kClusterN, bool kSwapped, bool kPingpong>
GemmVariantSm90 make_variant_sm90(const char* type_p, const char* type_q) {
  constexpr int kIndex = static_cast<int>(kTypes);
  using Tile = GemmTileSm90<kIndex, kMajorP, kMajorQ, kTileM, kTileN, kStages, kClusterM, kClusterN,
                            kSwapped, kPingpong>;
  const auto text = [](int value) { return std::to_string(value); };
  const std::string arguments =
      text(kIndex) + ", " + text(kMajorP) + ", " + text(kMajorQ) + ", " + text(kTileM) + ", " +
      text(kTileN) + ", " + text(kStages) + ", " + text(kClusterM) + ", " + text(kClusterN) +
      (kSwapped ? ", true" : ", false") + (kPingpong ? ", true" : ", false");
  std::string mangled;  // Itanium C++ ABI, template arguments
  for (const int value : {kIndex, kMajorP, kMajorQ, kTileM, kTileN, kStages, kClusterM, kClusterN})
    mangled += "Li" + text(value) + "E";
  return {.name = std::string(kSwapped ? "swapped_" : "") + (kPingpong ? "pingpong_" : "") +
                  text(kTileM) + "x" + text(kTileN) + "_c" + text(kClusterM) + "x" +
                  text(kClusterN) + "_s" + text(kStages),
          .kernel_name = "gemm_sm90<" + arguments + ">",
          .linker_name = "gemm_sm90I" + mangled + (kSwapped ? "Lb1E" : "Lb0E") +
                         (kPingpong ? "Lb1EE" : "Lb0EE"),
          .type_p = type_p,
          .type_q = type_q,
          .major_p = kMajorP,
          .major_q = kMajorQ,
          .tile_m = kTileM,
          .tile_n = kTileN,
          .tile_k = Tile::kTileK,
          .stages = kStages,
          .cluster_m = kClusterM,
          .cluster_n = kClusterN,
          .swapped = kSwapped,
          .pingpong = kPingpong,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .store_columns = Tile::kStoreColumns,
          .kernel = reinterpret_cast<const void*>(
              &gemm_sm90<kIndex, kMajorP, kMajorQ, kTileM, kTileN, kStages, kClusterM, kClusterN,
                         kSwapped, kPingpong>)};
}

// As many stages as fit beside the buffers of the results, at most 10.
constexpr int most_stages_sm90(int tile_m, int tile_n) {
  const int stages = (232448 - 8 * 2 * 2048) / ((tile_m + tile_n) * 128 + 16);
  return stages < 10 ? stages : 10;
}

// The forms for one pair of types, of a layout given by how the operands of D lie in memory.
template <ptx::WgmmaTypes kTypes, int kMajorA, int kMajorB>
struct FormsSm90 {
  std::vector<GemmVariantSm90>& all;
  const char* type_a;
  const char* type_b;

  template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1, bool kPingpong = false>
  void add() {
    all.push_back(
        make_variant_sm90<kTypes, kMajorA, kMajorB, kTileM, kTileN,
                          most_stages_sm90(kTileM, kTileN), kClusterM, kClusterN, false, kPingpong>(
            type_a, type_b));
  }
  template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1>
  void add_pingpong() {
    add<kTileM, kTileN, kClusterM, kClusterN, true>();
  }
  template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1>
  void add_swapped_pingpong() {
    add_swapped<kTileM, kTileN, kClusterM, kClusterN, true>();
  }
  template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1, bool kPingpong = false>
  void add_swapped() {
    constexpr auto kSwappedTypes = kTypes == ptx::WgmmaTypes::e4m3_e5m2 ? ptx::WgmmaTypes::e5m2_e4m3
                                   : kTypes == ptx::WgmmaTypes::e5m2_e4m3
                                       ? ptx::WgmmaTypes::e4m3_e5m2
                                       : kTypes;
    all.push_back(
        make_variant_sm90<kSwappedTypes, kMajorB, kMajorA, kTileM, kTileN,
                          most_stages_sm90(kTileM, kTileN), kClusterM, kClusterN, true, kPingpong>(
            type_b, type_a));
  }
};

// What a type gets for "nt" that has no list of its own.
template <class Forms>
void add_few_sm90(Forms& nt) {
  nt.template add<128, 256, 2>();
  nt.template add_pingpong<128, 176, 2>();
  nt.template add_pingpong<128, 160, 2>();
  nt.template add_pingpong<128, 128, 2>();
  nt.template add<128, 64>();
  nt.template add_swapped<128, 32>();
  nt.template add_swapped<128, 64>();
  nt.template add_swapped<128, 112>();
  nt.template add_swapped<128, 160>();
  nt.template add_swapped<128, 192, 2>();
  nt.template add_swapped_pingpong<64, 64, 2>();
  nt.template add_swapped_pingpong<128, 16>();
  nt.template add_swapped_pingpong<128, 128, 2>();
}

// The forms of a 16-bit type for nn, tn and tt.
template <ptx::WgmmaTypes kTypes>
std::vector<GemmVariantSm90> layout_forms_sm90(const char* type) {
  std::vector<GemmVariantSm90> all;
  FormsSm90<kTypes, 0, 1> nn{all, type, type};
  FormsSm90<kTypes, 1, 1> tn{all, type, type};
  FormsSm90<kTypes, 1, 0> tt{all, type, type};
  nn.template add<128, 256, 2>();
  nn.template add_pingpong<128, 128, 2>();
  nn.template add<128, 64>();
  nn.template add_swapped<128, 32>();
  nn.template add_swapped<128, 64>();
  nn.template add_swapped_pingpong<128, 128, 2>();
  tn.template add<128, 256, 2>();
  tn.template add_pingpong<128, 128, 2>();
  tn.template add_swapped<128, 64>();
  tt.template add<128, 256, 2>();
  tt.template add_pingpong<128, 128, 2>();
  tt.template add_swapped<128, 64>();
  return all;
}

}  // namespace assay::kernels
