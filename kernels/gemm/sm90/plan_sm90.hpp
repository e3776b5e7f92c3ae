// SPDX-License-Identifier: Apache-2.0
// The matrix product on Hopper: how its kernel is launched.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/callable.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/sm90/arguments_sm90.hpp"
#include "kernels/gemm/sm90/variant_sm90.hpp"

namespace assay::kernels {

// How a problem is done. The order of additions, and so D's bits, depends on `variant` and, where
// tiles are shared, on `stream_tiles` and `workers`.
struct GemmChoiceSm90 {
  const GemmVariantSm90* variant = nullptr;
  int stream_tiles = 0;  // GemmSchedule::stream_tiles
  int workers = 0;       // clusters
  int band = 8;          // Raster::band

  std::string text() const;  // "128x256_c2x1_s4", "128x256_c2x1_s4 stream 66 of 132"
};

// Variants that can do a problem.
std::vector<const GemmVariantSm90*> fitting_variants_sm90(const GemmProblem& problem);

// How many clusters of a variant a GPU holds at once.
using ClustersSm90 = Callable<int(const GemmVariantSm90&)>;
int clusters_here_sm90(const GemmVariantSm90& variant);  // the current device

// Everything worth trying for a problem.
std::vector<GemmChoiceSm90> gemm_choices_sm90(const GemmProblem& problem,
                                              const ClustersSm90& clusters);

// Constants of the model of a choice's time (time_model_sm90.cpp says what each is).
struct TimeModelSm90 {
  double start, mma_stretch, mma_least, step_more, l2, l2_alone, delivered, cluster, misaligned,
      tile_together, tile_pingpong, out, join, leave, add, uneven, reread, dram, dram_busy,
      dram_out;
  struct FormFactor {
    std::string_view form;  // GemmVariantSm90::name
    double factor;
  };
  std::span<const FormFactor> factors;
};
const TimeModelSm90& dense_time_model_sm90();

// The time that a model gives a choice, in SM cycles.
double predicted_cycles_sm90(const GemmProblem& problem, const GemmChoiceSm90& choice,
                             const TimeModelSm90& model = dense_time_model_sm90());

// The choice that the model of its time prefers.
GemmChoiceSm90 choose_gemm_sm90(const GemmProblem& problem, const ClustersSm90& clusters);

// The same for the current device, kept for the next call of these sizes, types and layout: to
// choose takes the CPU longer than a small product takes the GPU. Thread-safe.
GemmChoiceSm90 choose_gemm_here_sm90(const GemmProblem& problem);

// Everything that a launch needs: tensor maps as yet to be encoded.
struct GemmLaunchSm90 {
  const GemmVariantSm90* variant;
  ptx::TensorMapShape p, q, d, edge_p, edge_q;
  GemmArgumentsSm90 args = {};
  int grid = 0;
  std::size_t workspace_bytes = 0;  // the first kFlagBytesSm90 of them 0
};
constexpr std::size_t kFlagBytesSm90 = 16384;

GemmLaunchSm90 launch_of_gemm_sm90(const GemmProblem& problem, const GemmOperands& operands,
                                   const GemmChoiceSm90& choice);
void give_workspace_sm90(GemmLaunchSm90& launch, void* workspace);

Plan plan_gemm_sm90(const GemmProblem& problem, const GemmOperands& operands,
                    const GemmChoiceSm90& choice);

}  // namespace assay::kernels
