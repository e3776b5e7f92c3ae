// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm120/variant_sm120.hpp"

#include "kernels/gemm/sm120/mxf8_sm120.cuh"

namespace assay::kernels {

const GemmVariantSm120& gemm_mxf8_nt_variant_sm120() {
  constexpr int kStages = 2;  // three would leave no room for the barriers
  using Tile = GemmTileSm120<kStages>;
  static const GemmVariantSm120 only{
      .kernel_name = "gemm_mxf8_nt_sm120<" + std::to_string(kStages) + ">",
      .tile = Tile::kTile,
      .tile_k = Tile::kTileK,
      .mma = Tile::kWarpRows / 16 * (Tile::kWarpColumns / 8) * (Tile::kTileK / 32),
      .threads = Tile::kThreads,
      .shared_bytes = Tile::kSharedBytes,
      .kernel = reinterpret_cast<const void*>(&gemm_mxf8_nt_sm120<kStages>)};
  return only;
}

}  // namespace assay::kernels
