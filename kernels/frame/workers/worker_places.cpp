// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workers/worker_places.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "kernels/frame/divide_up.hpp"

namespace assay::kernels {
namespace {

constexpr int kCtasOfGpc = 16;  // that ranks_by_gpc() keeps together

// The GPC of each cluster, in the order in which they are given out; kNoGpc: of none of 16 CTAs.
//
// This is what `placement/order` saw on every H100 and H200 of 132 SMs
// (results/h200/2026-11-22-full): GPCs of 8, 16, 16, 16, 16, 16, 18 and 18 SMs, and four TPCs that
// stand alone. Clusters of two go to the lone TPCs first; then each GPC with room for another
// cluster gets one, in turn. Where a turn begins differs from launch to launch, which only renames
// the GPCs until the smallest is full: from there on half of each GPC's clusters may be in a
// neighbour's place. CTAs without clusters fill one GPC after the other.
constexpr int kNoGpc = 8;
std::vector<int> gpcs_of(int workers, int ctas) {
  std::array<int, 8> room = {8, 16, 16, 16, 16, 16, 18, 18};
  constexpr int kLoneSms = 8;
  std::vector<int> all;
  const auto give = [&](std::size_t gpc) {
    const bool whole = gpc != 0 && room[gpc] > (gpc >= 6 ? 2 : 0);
    room[gpc] -= ctas;
    all.push_back(whole ? static_cast<int>(gpc) : kNoGpc);
  };
  if (ctas <= 2) all.assign(static_cast<std::size_t>(kLoneSms / ctas), kNoGpc);
  if (ctas == 1) {
    for (const std::size_t gpc : {1, 2, 3, 4, 5, 6, 7, 0})
      while (room[gpc] > 0) give(gpc);
  }
  for (bool any = true; any;) {
    any = false;
    for (std::size_t gpc = 0; gpc < room.size(); ++gpc) {
      if (room[gpc] < ctas) continue;
      give(gpc);
      any = true;
    }
  }
  all.resize(static_cast<std::size_t>(workers), kNoGpc);
  return all;
}

}  // namespace

ClusterBlock cluster_block(int cluster_m, int cluster_n) {
  const int each = kCtasOfGpc / (cluster_m * cluster_n);
  if (cluster_m == 1 && cluster_n == 1) return {.rows = 4, .columns = 4};
  if (cluster_m > 1 && cluster_n > 1) return {.rows = 1, .columns = 1};
  return cluster_n == 1 ? ClusterBlock{.rows = 1, .columns = std::max(each, 1)}
                        : ClusterBlock{.rows = std::max(each, 1), .columns = 1};
}

WorkerPlaces::WorkerPlaces(const std::vector<int>& places) : given_(true) {
  for (std::size_t i = 0; i < places.size(); ++i) places_[i] = static_cast<std::uint8_t>(places[i]);
}

std::vector<int> ranks_by_gpc(int workers, int ctas_of_cluster) {
  const std::vector<int> gpc = gpcs_of(workers, ctas_of_cluster);
  std::vector<int> order(gpc.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](int worker) { return gpc[static_cast<std::size_t>(worker)]; });
  std::vector<int> ranks(gpc.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    ranks[static_cast<std::size_t>(order[rank])] = static_cast<int>(rank);
  return ranks;
}

// In rows of calls on an H100, 2048 cubed by tiles of 128x128 took 27.9 us launched early and 25.9
// launched late, 256x4096x4096 by 64x128 23.3 and 19.3, 4096 cubed by 128x128 195 and 190. Tiles of
// 128x256 and 128x192, which ask for 32 and 37 bytes a cycle, took 25.9 and 26.8 us at 2048 cubed,
// 195 and 195 at 4096 cubed and 275 and 276 at 1536x12288x5120
// (results/h100/2026-11-26-places/early.csv.gz, late.csv.gz). A late launch costs a microsecond or
// two: 512 cubed by 64x64 took 5.2 us late (2026-11-26-torch-bf16-late) and 4.0 early. Grouped
// products gained nothing (-torch-grouped-late).
bool gains_by_places(int tile_m, int tile_n, int cluster_m, int cluster_n, int rows, int columns,
                     int steps) {
  constexpr double kMuch = 42;                   // bytes a cycle of the tensor cores
  constexpr double kLong = 20'000;               // of those cycles
  if (cluster_m * cluster_n != 2) return false;  // of no others it was measured
  if (rows == 1 || columns == 1) return false;   // all share it, or none, wherever they are
  const double asked = 128.0 * (1.0 * tile_m / cluster_n + 1.0 * tile_n / cluster_m);
  const double cycles = tile_m * tile_n / 32.0;  // of a step
  return asked > kMuch * cycles && cycles * steps > kLong;
}

int workers_of_waves(int tiles, int most) {
  const int waves = divide_up(tiles, std::min(tiles, most));
  const int fewest = divide_up(tiles, waves), eights = divide_up(fewest, 8) * 8;
  return eights <= std::min(tiles, most) ? eights : fewest;
}

WorkerPlaces worker_places(int workers, int cluster_m, int cluster_n, int columns, int band) {
  const ClusterBlock block = cluster_block(cluster_m, cluster_n);
  if (workers > WorkerPlaces::kMost || block.rows * block.columns == 1) return {};
  std::vector<int> places = ranks_by_gpc(workers, cluster_m * cluster_n);
  // Down a band, ranks are in blocks of a column already.
  const int wide = std::min(block.columns, columns);
  if (wide == 1 || band % block.rows != 0) return WorkerPlaces(places);
  // A chunk is `wide` columns of a band. Its blocks lie below each other. Where it is not whole,
  // places stay.
  const int chunk = band * wide, size = block.rows * wide;
  for (int& place : places) {
    const int begin = place / chunk * chunk, in_chunk = place % chunk;
    if (begin + chunk > workers) continue;
    const int in_block = in_chunk % size;
    place =
        begin + in_block / block.rows * band + in_chunk / size * block.rows + in_block % block.rows;
  }
  return WorkerPlaces(places);
}

}  // namespace assay::kernels
