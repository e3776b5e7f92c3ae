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

}  // namespace assay::kernels
