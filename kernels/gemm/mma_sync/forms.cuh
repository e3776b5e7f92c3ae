// SPDX-License-Identifier: Apache-2.0
// Forms of the plain kernel by the numbers that its template takes, for the files that compile some
// of them each.
#pragma once
#include <map>
#include <string>
#include <tuple>

#include "kernels/gemm/mma_sync/gemm_mma_sync.cuh"
#include "kernels/gemm/mma_sync/variant.hpp"

namespace assay::kernels {

// Types of A and B, whether their rows go along k, and the tile.
using MmaSyncKey = std::tuple<int, int, int, int, int>;
using MmaSyncForms = std::map<MmaSyncKey, GemmVariantMmaSync>;

template <int kTypeA, int kTypeB, int kAlongA, int kAlongB, int kTile>
void add_mma_sync_form(MmaSyncForms& forms) {
  using Tile = GemmTileMmaSync<kTile>;
  constexpr int kDepth = kTypeA == kMmaBf16 || kTypeA == kMmaF16 ? Tile::kDepth / 2 : Tile::kDepth;
  std::string spelled, mangled;
  for (const int number : {kTypeA, kTypeB, kAlongA, kAlongB, kTile}) {
    spelled += (spelled.empty() ? "" : ", ") + std::to_string(number);
    mangled += "Li" + std::to_string(number) + "E";
  }
  const std::string tile = std::to_string(kTile);
  forms[{kTypeA, kTypeB, kAlongA, kAlongB, kTile}] = {
      .name =
          tile + "x" + tile + "x" + std::to_string(kDepth) + "_s" + std::to_string(Tile::kStages),
      .kernel_name = "gemm_mma_sync<" + spelled + ">",
      .kernel_part = "gemm_mma_syncI" + mangled,
      .tile = kTile,
      .depth = kDepth,
      .mma = 2 * Tile::kWarpRows / 16 * Tile::kWarpColumns / 8,
      .threads = Tile::kThreads,
      .shared_bytes = Tile::kSharedBytes,
      .kernel =
          reinterpret_cast<const void*>(&gemm_mma_sync<kTypeA, kTypeB, kAlongA, kAlongB, kTile>),
      .sum_name = "gemm_mma_sync_sum<" + std::to_string(kTypeA) + ">",
      .sum_part = "gemm_mma_sync_sumILi" + std::to_string(kTypeA) + "E",
      .sum_kernel = reinterpret_cast<const void*>(&gemm_mma_sync_sum<kTypeA>)};
}

// Both tiles.
template <int kTypeA, int kTypeB, int kAlongA, int kAlongB>
void add_mma_sync_forms(MmaSyncForms& forms) {
  add_mma_sync_form<kTypeA, kTypeB, kAlongA, kAlongB, 64>(forms);
  add_mma_sync_form<kTypeA, kTypeB, kAlongA, kAlongB, 128>(forms);
}

void add_mma_sync_bf16(MmaSyncForms& forms);
void add_mma_sync_f16(MmaSyncForms& forms);
void add_mma_sync_fp8(MmaSyncForms& forms);

}  // namespace assay::kernels
