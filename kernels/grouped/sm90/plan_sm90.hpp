// SPDX-License-Identifier: Apache-2.0
// The grouped products on Hopper: how their kernels are launched.
#pragma once
#include <vector>

#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/gemm/sm90/variant_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/map_shapes_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"
#include "kernels/grouped/grouped.hpp"
#include "kernels/grouped/sm90/groups_sm90.hpp"

namespace assay::kernels {

// What a GPU's memory can do, as shares of that of an H200, on which the model of time was fitted.
// L2 gives as much as it has slices, which are of 640 KiB: an H100 has 80 (ncu's
// lts__cycles_elapsed, sum over mean) and 50 MiB, an H200 60 MiB.
struct MemorySm90 {
  double l2 = 1, dram = 1;  // bytes in a second
};
MemorySm90 memory_here_sm90();  // the current device's

// The time that the model gives a form of bf16 of which a GPU holds so many clusters, in SM cycles.
double predicted_cycles_grouped_sm90(const GroupedProblem& problem, const GemmVariantSm90& variant,
                                     int clusters, const MemorySm90& memory);

// The form that the model prefers, on the current device or, without one, on the usual Hopper GPU.
const GemmVariantSm90& choose_grouped_here_sm90(const GroupedProblem& problem);
const GemmVariantSm90& choose_grouped_usual_sm90(const GroupedProblem& problem);

// Everything that a launch of a form of bf16 needs: tensor maps as yet to be encoded.
struct GroupedLaunchSm90 {
  ptx::TensorMapShape p, q, d;
  GroupsSm90 groups;
};
GroupedLaunchSm90 launch_of_grouped_sm90(const GroupedProblem& problem,
                                         const GroupedOperands& operands,
                                         const GemmVariantSm90& variant);

// Of so many clusters, whose tile is height x width and whose stages are tile_k along k: as if
// every group had all the rows that it has room for.
StepMeeting meeting_of_grouped_sm90(const GroupedProblem& problem, int clusters, int height,
                                    int width, int tile_k);

Plan plan_grouped_bf16_sm90(const GroupedProblem& problem, const GroupedOperands& operands,
                            const GemmVariantSm90& variant);
std::vector<KernelUse> grouped_bf16_kernels_sm90(const GroupedProblem& problem);

// The same of a form of e4m3_block128, whose number of steps is groups.k_blocks.
struct GroupedE4m3LaunchSm90 {
  BlockScaledMapShapesSm90 maps;
  GroupsSm90 groups;
};
GroupedE4m3LaunchSm90 launch_of_grouped_e4m3_sm90(const GroupedProblem& problem,
                                                  const GroupedOperands& operands,
                                                  const BlockScaledVariantSm90& variant);

// The form of e4m3_block128 for a problem, whatever GPU it is.
const BlockScaledVariantSm90& choose_grouped_e4m3_sm90(const GroupedProblem& problem);
Plan plan_grouped_e4m3_sm90(const GroupedProblem& problem, const GroupedOperands& operands,
                            const BlockScaledVariantSm90& variant);
std::vector<KernelUse> grouped_e4m3_kernels_sm90(const GroupedProblem& problem);

}  // namespace assay::kernels
