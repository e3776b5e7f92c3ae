// SPDX-License-Identifier: Apache-2.0
// Which work each worker of the persistent Hopper product does: whole tiles of D, and shares of
// tiles whose sum over k several workers divide among themselves ("stream-K", Osama et al., 2023,
// arXiv:2301.03598).
//
// With W workers and T tiles, T mod W tiles are left when all others have gone round, and most
// workers would idle while they are done. So the first `stream_tiles` tiles are not handed out
// whole: their stream_tiles * k_steps steps, one tile after the other, are cut into W equal ranges.
// A worker's range may end inside a tile. It begins with that: it leaves the sum so far in the
// workspace. Whoever has the tile's last step adds what the others left and writes D. The order of
// every addition is thus fixed by the shape and W alone.
//
// Where tiles are few and k is long, every tile may instead be split into `parts` of equal length,
// a worker for each, and a kernel of its own adds them (reduce_sm90.hpp): with all SMs, while the
// owner of a tile would add what dozens left.
//
// Whole tiles and parts are handed out by places (kernels/frame/workers/worker_places.hpp), shares
// by the worker's own index: nobody waits in vain, for a share that is left is the first thing that
// its worker does, and who waits does so for workers of lower index. GPUs start CTAs in the order
// of their index, so these run even where other kernels leave no room for all.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/frame/divisor.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/gemm/raster.hpp"

namespace assay::kernels {

// Steps [k_begin, k_end) of a tile.
struct WorkUnit {
  int tile, k_begin, k_end;
};

struct GemmSchedule {
  PreparedRaster raster;
  int k_steps = 0;       // of each tile, >= 1
  int stream_tiles = 0;  // tiles that are shared, the first of the raster
  int workers = 0;       // clusters; at most stream_tiles * k_steps if that is not 0
  int parts = 1;         // more: of each tile, then tiles * parts workers, and no shared tiles
  // Of all steps of the shared tiles each worker has so many, and the first ones one more. Of a
  // tile in parts, each part.
  int steps_each = 0, steps_over = 0;
  Divisor of_k_steps;
  WorkerPlaces places;  // of whole tiles, beginning after the shared ones, or of parts

  constexpr GemmSchedule() = default;
  constexpr GemmSchedule(const Raster& of, int k_steps_, int stream_tiles_, int workers_,
                         int parts_ = 1, const WorkerPlaces& places_ = {})
      : raster(of),
        k_steps(k_steps_),
        stream_tiles(stream_tiles_),
        workers(workers_),
        parts(parts_),
        steps_each(parts_ > 1 ? k_steps_ / parts_ : stream_tiles_ * k_steps_ / workers_),
        steps_over(parts_ > 1 ? k_steps_ % parts_ : stream_tiles_ * k_steps_ % workers_),
        of_k_steps(k_steps_),
        places(places_) {}

  // The first step of a worker's range, of all steps of the shared tiles; of a part, of its tile's.
  __host__ __device__ constexpr int range_begin(int worker) const {
    return steps_each * worker + (worker < steps_over ? worker : steps_over);
  }
};

// Walks through one worker's units.
class WorkWalk {
 public:
  __host__ __device__ constexpr WorkWalk(const GemmSchedule& schedule, int worker)
      : schedule_(schedule),
        begin_(schedule.stream_tiles == 0 ? 0 : schedule.range_begin(worker)),
        end_(schedule.stream_tiles == 0 ? 0 : schedule.range_begin(worker + 1)),
        tile_(schedule.stream_tiles + schedule.places.at(worker)) {}

  // Where tiles are in parts: one of them, and the place among all, part * tiles + tile. Neighbours
  // have the same part, for what they read of the operands is the same: by places they are in one
  // GPC. On an H200, 512x512x32768 in eight parts took 31.7 us with them and 37.9 without
  // (results/h200/2026-11-28-parts).
  __host__ __device__ constexpr int take_part(int worker) {
    const int tiles = schedule_.raster.count(), place = schedule_.places.at(worker);
    const int part = place / tiles, first = (place - part * tiles) * schedule_.k_steps;
    begin_ = first + schedule_.range_begin(part);
    end_ = first + schedule_.range_begin(part + 1);
    tile_ = tiles;
    return place;
  }

  // False when nothing is left. Shares come from the end of the range to its begin.
  __host__ __device__ constexpr bool next(WorkUnit& unit) {
    if (begin_ < end_) {
      const int k_steps = schedule_.k_steps;
      unit.tile = schedule_.of_k_steps.quotient(end_ - 1);
      const int first = unit.tile * k_steps;
      unit.k_begin = begin_ > first ? begin_ - first : 0;
      unit.k_end = end_ - first;
      end_ = first + unit.k_begin;
      return true;
    }
    if (tile_ >= schedule_.raster.count()) return false;
    unit = {tile_, 0, schedule_.k_steps};
    tile_ += schedule_.workers;
    return true;
  }

 private:
  const GemmSchedule& schedule_;
  int begin_, end_, tile_;
};

// How many steps of its first unit a CTA asks for before anything else (load_first_steps): on an
// H200 the best of one, two, three and a whole ring (results/h200/2026-11-29-first-steps).
constexpr int kFirstStepsSm90 = 3;

// The first steps of every worker, found by the host: loads wait for them at a kernel's start,
// where the walk's code and parameters are met for the first time and take over 500 cycles on an
// H200 (results/h200/2026-11-29-first-steps, starts.csv).
class FirstStepsSm90 {
 public:
  struct Steps {
    TilePosition tile;
    int k_begin, count;  // count 0: none is loaded before the walk is done
  };

  constexpr FirstStepsSm90() = default;  // none

  // Of at most WorkerPlaces::kMost workers, of more none: nobody may ask of() for those. None also
  // of a tile or a k_begin that an entry has no room for.
  explicit constexpr FirstStepsSm90(const GemmSchedule& schedule) {
    if (schedule.workers > WorkerPlaces::kMost) return;
    for (int worker = 0; worker < schedule.workers; ++worker) {
      WorkWalk walk(schedule, worker);
      if (schedule.parts > 1) walk.take_part(worker);
      WorkUnit unit{};
      if (!walk.next(unit)) continue;
      const auto [m, n] = schedule.raster.at(unit.tile);
      if (m >= 1 << 16 || n >= 1 << 16 || unit.k_begin >= 1 << 24) continue;
      const int steps = unit.k_end - unit.k_begin;
      entries_[worker].tile = static_cast<std::uint32_t>(n) << 16 | static_cast<std::uint32_t>(m);
      entries_[worker].steps =
          static_cast<std::uint32_t>(steps < kFirstStepsSm90 ? steps : kFirstStepsSm90) << 24 |
          static_cast<std::uint32_t>(unit.k_begin);
    }
  }

  __host__ __device__ constexpr Steps of(int worker) const {
    const Entry& e = entries_[worker];
    return {{static_cast<int>(e.tile & 0xffff), static_cast<int>(e.tile >> 16)},
            static_cast<int>(e.steps & 0xffffff),
            static_cast<int>(e.steps >> 24)};
  }

 private:
  struct alignas(8) Entry {  // one load
    std::uint32_t tile;      // m, and n above it
    std::uint32_t steps;     // k_begin, and above it how many
  };
  Entry entries_[WorkerPlaces::kMost] = {};
};

}  // namespace assay::kernels
