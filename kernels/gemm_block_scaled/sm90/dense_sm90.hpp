// SPDX-License-Identifier: Apache-2.0
// The second parameter of the dense block-scaled kernel.
#pragma once
#include <cuda.h>

#include "kernels/frame/workers/step_meeting.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/gemm/raster.hpp"

namespace assay::kernels {

// One product. The maps are of what the last rows of A and B fill of a CTA's share.
struct DenseBlockScaledSm90 {
  CUtensorMap edge_a, edge_b;
  Raster raster;
  WorkerPlaces places;
  StepMeeting meeting;
  int m, n;
};

// The same with each tile's blocks along k in so many parts, a cluster for each: `places` are then
// of parts, part * tiles + tile. Sums go to `partials`, and another kernel adds them
// (kernels/gemm/sm90/reduce_sm90.hpp).
struct BlockScaledPartsSm90 {
  DenseBlockScaledSm90 product;
  int blocks_each, blocks_over;  // of a part, and one more of so many first ones
  float* partials;
};

}  // namespace assay::kernels
