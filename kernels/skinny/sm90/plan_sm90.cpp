// SPDX-License-Identifier: Apache-2.0
// The skinny product on Hopper.
#include "kernels/skinny/sm90/plan_sm90.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/frame/resident.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/skinny/plan.hpp"
#include "kernels/skinny/sm90/one_token_sm90.hpp"
#include "kernels/skinny/sm90/ring_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kMostCluster = 2;  // of one token; more leave SMs idle: GPCs are no multiple of 4
// Of an H100 SXM or H200, so that the choice is known without a GPU too.
constexpr SkinnyRoom kUsualRoom{
    .ctas = 132, .shared_bytes = 227 * 1024, .most_cluster = kMostCluster};

// A skinny problem in bf16 is this dense one.
GemmProblem dense(const SkinnyProblem& p) { return {.m = p.m, .n = p.n, .k = p.k}; }

Plan plan(const SkinnyProblem& p, const SkinnyOperands& operands) {
  SkinnyWaySm90 way = way_sm90(p);
  if (way == SkinnyWaySm90::dense && reinterpret_cast<std::uintptr_t>(operands.d) % 16 != 0)
    way = p.m == 1 ? SkinnyWaySm90::one_token : SkinnyWaySm90::plain;
  switch (way) {
    case SkinnyWaySm90::dense:
      return plan_dense_sm90(p, operands);
    case SkinnyWaySm90::one_token:
      return plan_one_token_sm90(p, operands);
    case SkinnyWaySm90::ring:
      return plan_ring_sm90(p, operands, {});
    default:
      return plan_skinny_plain(p, operands);
  }
}

std::vector<KernelUse> kernels(const SkinnyProblem& p) {
  switch (way_sm90(p)) {
    case SkinnyWaySm90::dense:
      return gemm_paths().choose(dense(p), Target::sm_90a).kernels(dense(p));
    case SkinnyWaySm90::one_token:
      return skinny_kernel_use(p, true);
    case SkinnyWaySm90::ring:
      return ring_kernels_sm90(p);
    default:
      return skinny_kernel_use(p, false);
  }
}

const SkinnyPaths::Registration path{skinny_paths(),
                                     {.name = "sm90",
                                      .targets = {Target::sm_90a},
                                      .refusal = [](const SkinnyProblem&) { return std::string(); },
                                      .plan = plan,
                                      .kernels = kernels}};

}  // namespace

// One token is done by a kernel of its own, whose loads are long, as long as the token has room
// beside deep queues. Weights that are not packed else go to the dense product, which brings tokens
// with the weights of each step of k, so that up to 16 of them cost nothing that one does not.
//
// Packed weights: with one token, the ring takes 10% longer in rows of calls, for a grid puts
// tokens into order first, and 1% longer alone (48 shapes on an H100; at worst 35 and 18%,
// 24576x1536 in s2). With four it is as fast or faster than mma.sync was, with 64 three to five
// times as fast (sweeps in results/h100/2026-11-27-skinny and h200/2026-11-27-skinny-before).
SkinnyWaySm90 way_sm90(const SkinnyProblem& p) {
  const bool packed = p.weights != SkinnyWeights::bf16;
  const bool whole = p.n % 8 == 0;  // rows of D of whole 16 bytes
  if (p.m == 1) {
    const SkinnyArguments a = arrange(p.weights, p.m, p.n, p.k, kUsualRoom).arguments;
    if ((a.deep && !a.restage) || (!packed && !whole)) return SkinnyWaySm90::one_token;
  }
  if (packed) return SkinnyWaySm90::ring;
  return whole ? SkinnyWaySm90::dense : SkinnyWaySm90::plain;
}

Plan plan_dense_sm90(const SkinnyProblem& p, const SkinnyOperands& operands) {
  Plan plan = plan_gemm(dense(p), {.d = operands.d, .a = operands.x, .b = operands.w});
  plan.variant = "dense " + plan.variant;
  return plan;
}

Plan plan_one_token_sm90(const SkinnyProblem& p, const SkinnyOperands& operands) {
  SkinnyRoom room = skinny_room();
  room.most_cluster = kMostCluster;
  const SkinnyLayout layout = arrange(p.weights, p.m, p.n, p.k, room);
  const void* kernel = skinny_one_token_sm90(p.weights);
  const int cluster = layout.arguments.cluster;
  const int clusters =
      resident_clusters(kernel, cluster, layout.threads, room.shared_bytes, p.text());
  room.cluster = cluster;
  room.ctas = clusters * cluster;
  return skinny_launch(kernel, true, arrange(p.weights, p.m, p.n, p.k, room), p, operands);
}

}  // namespace assay::kernels
