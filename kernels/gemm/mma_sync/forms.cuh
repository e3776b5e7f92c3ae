// SPDX-License-Identifier: Apache-2.0
// Forms of the plain kernel by the numbers that its template takes, for the files that compile some
// of them each.
#pragma once
#include <vector>

#include "kernels/gemm/mma_sync/forms.hpp"
#include "kernels/gemm/mma_sync/gemm_mma_sync.cuh"

namespace assay::kernels {

template <int kTypeA, int kTypeB, int kAlongA, int kAlongB, int kTile>
FormMmaSync mma_sync_form() {
  using Tile = GemmTileMmaSync<kTile>;
  return {.type_a = kTypeA,
          .type_b = kTypeB,
          .along_a = kAlongA,
          .along_b = kAlongB,
          .tile = kTile,
          .depth = kTypeA == kMmaBf16 || kTypeA == kMmaF16 ? Tile::kDepth / 2 : Tile::kDepth,
          .stages = Tile::kStages,
          .mma = 2 * Tile::kWarpRows / 16 * Tile::kWarpColumns / 8,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .kernel = {.name = "gemm_mma_sync",
                     .arguments = {kTypeA, kTypeB, kAlongA, kAlongB, kTile},
                     .count = 5,
                     .kernel = reinterpret_cast<const void*>(
                         &gemm_mma_sync<kTypeA, kTypeB, kAlongA, kAlongB, kTile>)},
          .sum = {.name = "gemm_mma_sync_sum",
                  .arguments = {kTypeA},
                  .count = 1,
                  .kernel = reinterpret_cast<const void*>(&gemm_mma_sync_sum<kTypeA>)}};
}

// Both tiles.
template <int kTypeA, int kTypeB, int kAlongA, int kAlongB>
void add_mma_sync_forms(std::vector<FormMmaSync>& forms) {
  forms.push_back(mma_sync_form<kTypeA, kTypeB, kAlongA, kAlongB, 64>());
  forms.push_back(mma_sync_form<kTypeA, kTypeB, kAlongA, kAlongB, 128>());
}

}  // namespace assay::kernels
