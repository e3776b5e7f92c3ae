// SPDX-License-Identifier: Apache-2.0
// What a grouped kernel is told of its groups.
#pragma once
#include <cuda_bf16.h>

#include "kernels/frame/workers/step_meeting.hpp"
#include "kernels/frame/workers/worker_places.hpp"

namespace assay::kernels {

struct GroupsSm90 {
  const int* sizes;  // on the device: contiguous, where each group's rows end; masked, how many
  int groups;
  int masked;  // not 0: each group has room for `rows` rows; else all have them
  int rows;
  int m;                   // weight gradients: rows of each group's D
  int n;                   // of each group's B and of D
  int k_steps;             // along k, of each tile; not of weight gradients
  int k_blocks, n_blocks;  // rows of a group's scales of A and B
  int band;                // Raster::band, of the cluster tiles of each group
  WorkerPlaces places;     // of all clusters
  StepMeeting meeting;
  __nv_bfloat16* d;
};

}  // namespace assay::kernels
