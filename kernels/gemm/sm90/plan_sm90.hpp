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
#include "kernels/gemm/sm90/reduce_sm90.hpp"
#include "kernels/gemm/sm90/variant_sm90.hpp"

namespace assay::kernels {

inline constexpr int kUsualBand = 8;  // Raster::band

// How a problem is done. The order of additions, and so D's bits, depends on `variant` and, where
// tiles are shared, on `stream_tiles` and `workers`, or on `parts`.
struct GemmChoiceSm90 {
  const GemmVariantSm90* variant = nullptr;
  int stream_tiles = 0;  // GemmSchedule::stream_tiles
  int workers = 0;       // clusters
  int band = kUsualBand;
  int parts = 1;  // GemmSchedule::parts: of forms with a reduce kernel alone

  // "128x256_c2x1_s4", "128x256_c2x1_s4 stream 66 over 132", "128x256_c2x1_s4 split 33"; with
  // " band 2" after it where tiles go by another band than usual
  std::string text() const;
};

// Variants that can do a problem.
std::vector<const GemmVariantSm90*> fitting_variants_sm90(const GemmProblem& problem);

// Those whose tiles can be in parts, of which a kernel after theirs makes D: whatever follows the
// sums is its business, so all of them are plain.
std::vector<const GemmVariantSm90*> splitting_variants_sm90(const GemmProblem& problem);

// How many clusters of a variant a GPU holds at once; 0: none.
using ClustersSm90 = Callable<int(const GemmVariantSm90&)>;
int clusters_here_sm90(const GemmVariantSm90& variant);  // the current device

// Everything worth trying for a problem.
std::vector<GemmChoiceSm90> gemm_choices_sm90(const GemmProblem& problem,
                                              const ClustersSm90& clusters);

// Constants of the model of a choice's time, in SM cycles where nothing else is said. Fitted, they
// are no measurements of one thing each.
struct TimeModelSm90 {
  double start;        // launch, barriers, first bytes, end
  double mma_stretch;  // of a step over the tensor core's own time
  double mma_least;    // of one MMA of few columns: 64 rows of P from shared memory
  double step_more;    // per stage: waits and signals
  double l2;           // bytes per cycle and SM when all load
  // The share that the clusters of a GPC do read together of what they could (worker_places.hpp).
  double joined_p = 0, joined_q = 0;
  double l2_alone;       // share of a load's time that others do not cause
  double delivered;      // bytes per cycle that an SM takes in when all do
  double cluster;        // per stage and CTA of a cluster beside the first: they wait for all
  double misaligned;     // rows that do not begin on lines of 128 bytes
  double spread = 1;     // the same of what an SM takes in
  double tile_together;  // between two tiles that both consumers share
  double tile_pingpong;  // ... that they take turns with
  double out;            // per element of the last tile, after its sums are done
  double out_tile;       // of a tile that the next one waits for
  double out_box;        // ... per box of it: 128 rows of 128 bytes each
  double join;           // shares: signals, the wait for the others
  double leave;          // per element of a share that is left
  double add;            // per element of each share that is added
  double uneven;         // shares that do not go in step read on their own
  double reread;         // and fetch what others fetched before, up to three times
  double dram;           // bytes per cycle
  double dram_busy;      // of it by the first SM; the rest by the others
  double dram_out;       // per element of a tile, after its last byte has come
  double reduce;         // the kernel that adds parts
  double reduce_l2;      // bytes of parts per cycle
  struct FormFactor {
    std::string_view form;       // GemmVariantSm90::name
    double aligned, misaligned;  // where rows of an operand begin on such lines, and where not
    constexpr FormFactor(std::string_view of, double on, double off)
        : form(of), aligned(on), misaligned(off) {}
    constexpr FormFactor(std::string_view of, double both) : FormFactor(of, both, both) {}
  };
  std::span<const FormFactor> factors;
};
const TimeModelSm90& dense_time_model_sm90(const GemmProblem& problem);

// The time that a model gives a choice, in SM cycles: good for an order among choices.
double predicted_cycles_sm90(const GemmProblem& problem, const GemmChoiceSm90& choice,
                             const TimeModelSm90& model);
inline double predicted_cycles_sm90(const GemmProblem& problem, const GemmChoiceSm90& choice) {
  return predicted_cycles_sm90(problem, choice, dense_time_model_sm90(problem));
}

// The choice that the model of its time prefers.
GemmChoiceSm90 choose_gemm_sm90(const GemmProblem& problem, const ClustersSm90& clusters);

// The same for the current device, kept for the next call of these sizes, types and layout: to
// choose takes the CPU longer than a small product takes the GPU. Thread-safe.
GemmChoiceSm90 choose_gemm_here_sm90(const GemmProblem& problem);

// Everything that a launch needs: tensor maps as yet to be encoded. Where tiles are in parts, the
// kernel that adds them follows it.
struct GemmLaunchSm90 {
  const GemmVariantSm90* variant;
  ptx::TensorMapShape p, q, d, edge_p, edge_q;
  ptx::TensorMapShape c;  // not for a plain variant
  GemmArgumentsSm90 args = {};
  ReduceArgumentsSm90 reduce = {};  // parts 0: there is none
  int grid = 0;
  bool early = true;                // kernels/frame/launch.hpp
  std::size_t workspace_bytes = 0;  // or kFlagBytes and more (kernels/frame/workers/workspace.hpp)
};

GemmLaunchSm90 launch_of_gemm_sm90(const GemmProblem& problem, const GemmOperands& operands,
                                   const GemmChoiceSm90& choice);
// Of launch.workspace_bytes.
void give_workspace_sm90(GemmLaunchSm90& launch, void* workspace);

Plan plan_gemm_sm90(const GemmProblem& problem, const GemmOperands& operands,
                    const GemmChoiceSm90& choice);

}  // namespace assay::kernels
