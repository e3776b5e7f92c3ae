// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/clean_odd.cu, clean_rare.cu and clean_library.cu with their launches and
// what they must compute.
#pragma once
#include <vector>

#include "harness/model/tests/clean_kernels.hpp"

namespace assay::model {

inline Shape threads(int ctas, int count) { return {.grid = {ctas, 1, 1}, .block = {count, 1, 1}}; }

inline const std::vector<Clean>& clean_odd_kernels() {
  static const std::vector<Clean> all = {
      {{"token_and_parity", threads(1, 128), {"f32[640]", "f32[640]=none", "s32:5"}}, doubled(640)},
      {{"ring_of_five", threads(1, 64), {"f32[416]", "f32[416]=none", "s32:13"}}, doubled(416)},
      {{"made_again", threads(1, 128), {"f32[128]", "f32[128]=none"}}, doubled(128)},
      {{"two_ways", threads(2, 128), {"f32[256]", "f32[256]=none"}}, doubled(256)},
      {{"reduced_in_peer", threads(4, 128), {"f32[128]", "f32[128]=none"}}, doubled(128)},
      {{"subsets", threads(1, 128), {"f32[224]", "f32[224]=none", "s32:7"}}, doubled(224)},
      {{"copies_alone", threads(1, 32), {"f32[896]", "f32[896]=zero", "s32:7"}}, doubled(896)},
      {{"in_place", threads(1, 128), {"f32[640]", "f32[640]=none", "s32:5"}}, doubled(640)},
      {{"own_map",
        threads(1, 128),
        {"f32[128]", "f32[128]", "f32[128]=none", "u8[128]=none", "map(1, box=128)"}},
       doubled(128, 2)},
      {{"copies_arrive", threads(1, 64), {"f32[640]", "f32[640]=none", "s32:5"}}, doubled(640)},
      {{"box_between_ctas",
        threads(2, 128),
        {"f32[512]", "f32[512]=none", "f32[128]=none", "u32[2]=zero", "s32:4"}},
       doubled(512)},
      {{"fenced_flags",
        threads(2, 128),
        {"f32[128]", "f32[128]=none", "f32[128]=none", "u32[1]=zero"}},
       doubled(128)},
      {{"within_a_warp", threads(1, 32), {"f32[224]", "f32[224]=none", "s32:7"}}, doubled(224)},
      {{"dropping_out", threads(1, 128), {"f32[128]", "f32[128]=none"}}, doubled(128)},
      {{"left_early", threads(1, 128), {"f32[50]", "f32[50]=none", "s32:50"}}, doubled(50)},
  };
  return all;
}

inline const std::vector<Clean>& clean_rare_kernels() {
  const std::vector<std::string> turns = {"f32[640]", "f32[640]=none", "s32:5"};
  const std::vector<std::string> once = {"f32[128]", "f32[128]=none"};
  static const std::vector<Clean> all = {
      {{"announced_after", threads(1, 128), turns}, doubled(640)},
      {{"in_parts", threads(1, 128), turns}, doubled(640)},
      {{"arrives_for_all", threads(1, 128), turns}, doubled(640)},
      {{"sent_and_left", threads(2, 128), once}, doubled(128)},
      {{"told_and_left", threads(2, 128), once}, doubled(128)},
      {{"fenced_by_the_other", threads(2, 128), {"f32[256]", "f32[256]=none"}}, doubled(256)},
      {{"store_told", threads(1, 128), turns}, doubled(640)},
      {{"until_all_agree", threads(1, 128), turns}, doubled(640)},
      {{"swizzle_after_swizzle",
        {.block = {128, 1, 1}, .dynamic_shared_bytes = 8192},
        {"bf16[64x64]", "f32[4096]=none", "map(0, box=64x32, swizzle=64)",
         "map(0, box=64x64, swizzle=128)"}},
       [](Arrays&) { return std::string(); },
       100},
  };
  return all;
}

inline const std::vector<Clean>& clean_library_kernels() {
  static const std::vector<Clean> all = {
      {{"library_barrier", threads(1, 128), {"f32[640]", "f32[640]=none", "s32:5"}}, doubled(640)},
      {{"library_cluster", threads(4, 128), {"f32[512]", "f32[512]=none"}}, doubled(512)},
      {{"library_grid", threads(3, 128), {"f32[384]", "f32[384]=none", "f32[384]=none"}},
       doubled(384)},
      {{"library_pipeline", threads(1, 128), {"f32[640]", "f32[640]=none", "s32:5"}}, doubled(640)},
      {{"library_copies", threads(1, 128), {"f32[256]", "f32[256]=none"}}, doubled(256)},
  };
  return all;
}

}  // namespace assay::model
