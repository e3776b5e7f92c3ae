// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variant_sm90.hpp"

#include "kernels/gemm/sm90/bf16_sm90.cuh"

namespace assay::kernels {
namespace {

template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN, int kInFlight>
GemmVariantSm90 variant() {
  using Tile = GemmTileSm90<kTileM, kTileN, kStages, kClusterM, kClusterN, kInFlight>;
  const auto text = [](int value) { return std::to_string(value); };
  return {.name = text(kTileM) + "x" + text(kTileN) + "x" + text(Tile::kTileK) + "_c" +
                  text(kClusterM) + "x" + text(kClusterN) + "_s" + text(kStages) + "_w" +
                  text(kInFlight),
          .kernel_name = "gemm_bf16_nt_sm90<" + text(kTileM) + ", " + text(kTileN) + ", " +
                         text(kStages) + ", " + text(kClusterM) + ", " + text(kClusterN) + ", " +
                         text(kInFlight) + ">",
          .tile_m = kTileM,
          .tile_n = kTileN,
          .tile_k = Tile::kTileK,
          .cluster_m = kClusterM,
          .cluster_n = kClusterN,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .kernel = reinterpret_cast<const void*>(
              &gemm_bf16_nt_sm90<kTileM, kTileN, kStages, kClusterM, kClusterN, kInFlight>)};
}

}  // namespace

const GemmVariantSm90& gemm_bf16_nt_variant_sm90() {
  // tile m, n, stages, cluster m, n, stages in flight
  static const GemmVariantSm90 only = variant<128, 256, 4, 2, 1, 1>();
  return only;
}

}  // namespace assay::kernels
