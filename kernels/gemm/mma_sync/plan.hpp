// SPDX-License-Identifier: Apache-2.0
// How the plain kernel is launched.
#pragma once
#include <cstddef>

#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/mma_sync/arguments.hpp"
#include "kernels/gemm/mma_sync/variant.hpp"
#include "kernels/gemm/raster.hpp"

namespace assay::kernels {

// Everything that a launch needs. Pointers may be addresses of the host model.
struct GemmMmaSyncLaunch {
  const GemmVariantMmaSync* variant;
  MmaSyncOperand a, b;
  MmaSyncFinish finish;
  MmaSyncSplit split;  // its array is the launcher's to make
  int m, n, stages, parts;
  Raster raster;

  // Of the array that the parts of the sum are left in; 0 if there is one part.
  std::size_t partial_bytes() const;
};

// Why the plain path cannot do a problem; empty if it can.
std::string refusal_mma_sync(const GemmProblem& problem);

// The small tile, unless there are enough of the large one to go round: on any device, so that a
// problem's kernel is known without one.
bool wants_small_tile(const GemmProblem& problem);

// In how many parts the sum over k is made: so many that a large GPU is busy, each long enough to
// be worth its array. By the problem alone, so that its result does not depend on the device.
int parts_of_mma_sync(const GemmProblem& problem);

GemmMmaSyncLaunch launch_mma_sync(const GemmProblem& problem, const GemmOperands& operands,
                                  bool small, int parts);

Plan plan_mma_sync(const GemmProblem& problem, const GemmOperands& operands);

}  // namespace assay::kernels
