// SPDX-License-Identifier: Apache-2.0
// The skinny product on Hopper: CTAs of a cluster share k where there are many
// tokens, and weights that are not packed go to the dense product where that is
// the faster one.
#include <cstdint>

#include "kernels/frame/resident.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/skinny/plan.hpp"
#include "kernels/skinny/sm90/plan_sm90.hpp"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kMostCluster = 2;  // more leave SMs idle: GPCs are no multiple of 4
// Of an H100 SXM or H200, so that the choice is known without a GPU too.
constexpr SkinnyRoom kUsualRoom{
    .ctas = 132, .shared_bytes = 227 * 1024, .hopper = true, .most_cluster = kMostCluster};

// A skinny problem in bf16 is this dense one.
GemmProblem dense(const SkinnyProblem& p) { return {.m = p.m, .n = p.n, .k = p.k}; }

Plan plan(const SkinnyProblem& p, const SkinnyOperands& operands) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(operands.d) % 16 == 0;
  return aligned && hands_over_sm90(p) ? plan_dense_sm90(p, operands)
                                       : plan_skinny_sm90(p, operands, {});
}

std::vector<KernelUse> kernels(const SkinnyProblem& p) {
  if (!hands_over_sm90(p)) return skinny_kernel_use(p, true);
  return gemm_paths().choose(dense(p), Target::sm_90a).kernels(dense(p));
}

const SkinnyPaths::Registration path{skinny_paths(),
                                     {.name = "sm90",
                                      .targets = {Target::sm_90a},
                                      .refusal = [](const SkinnyProblem&) { return std::string(); },
                                      .plan = plan,
                                      .kernels = kernels}};

}  // namespace

Plan plan_dense_sm90(const SkinnyProblem& p, const SkinnyOperands& operands) {
  Plan plan = plan_gemm(dense(p), {.d = operands.d, .a = operands.x, .b = operands.w});
  plan.variant = "dense " + plan.variant;
  return plan;
}

Plan plan_skinny_sm90(const SkinnyProblem& p, const SkinnyOperands& operands,
                      const SkinnyChoiceSm90& choice) {
  SkinnyRoom room = skinny_room(true);
  room.most_cluster = kMostCluster;
  room.k_groups = choice.k_groups;
  room.cluster = choice.cluster;
  SkinnyLayout layout = arrange(p.weights, p.m, p.n, p.k, room);
  const void* kernel = skinny_kernel_sm90(p.weights, layout.tokens);
  const int cluster = layout.arguments.cluster;
  const int clusters =
      resident_clusters(kernel, cluster, layout.threads, room.shared_bytes, p.text());
  room.cluster = cluster;
  room.ctas = clusters * cluster;
  Plan plan =
      skinny_launch(kernel, choice.early, arrange(p.weights, p.m, p.n, p.k, room), p, operands);
  if (!choice.early) plan.variant += "_late";
  return plan;
}

// Both kernels read the weights once. What else takes time is not alike:
//   skinny  Every SM has all tokens, 2 m k bytes from L2, before its first
//   product. From two tokens
//           on a warp's loads are shorter, for an instruction's columns are no
//           longer eight chunks of one row. Long tokens take the room of
//           queues, or come in phases.
//   dense   Weights are its A. Tokens come with the weights of each step of k,
//   so up to 16 of them
//           cost nothing that one does not. Barriers, tensor maps and tiles of
//           64 rows, of which SMs have unequal numbers or shares to add up,
//           cost the same for one token.
// So the skinny one has a single token for which there is room beside deep
// queues.
bool hands_over_sm90(const SkinnyProblem& p) {
  if (p.weights != SkinnyWeights::bf16) return false;  // dense products take no packed weights
  if (p.n % 8 != 0) return false;                      // rows of D of whole 16 bytes
  if (p.m > 1) return true;
  const SkinnyArguments a = arrange(p.weights, p.m, p.n, p.k, kUsualRoom).arguments;
  return !a.deep || a.restage;
}

}  // namespace assay::kernels
