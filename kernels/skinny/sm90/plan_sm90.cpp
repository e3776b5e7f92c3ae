// SPDX-License-Identifier: Apache-2.0
// The skinny product on Hopper: CTAs of a cluster share k where there are many tokens.

#include "kernels/frame/resident.hpp"
#include "kernels/skinny/plan.hpp"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kMostCluster = 2;  // more leave SMs idle: GPCs are no multiple of 4

Plan plan(const SkinnyProblem& p, const SkinnyOperands& operands) {
  SkinnyRoom room = skinny_room(true);
  room.most_cluster = kMostCluster;
  SkinnyLayout layout = arrange(p.weights, p.m, p.n, p.k, room);
  const void* kernel = skinny_kernel_sm90(p.weights, layout.tokens);
  const int cluster = layout.arguments.cluster;
  const int clusters =
      resident_clusters(kernel, cluster, layout.threads, room.shared_bytes, p.text());
  room.cluster = cluster;
  room.ctas = clusters * cluster;
  return skinny_launch(kernel, true, arrange(p.weights, p.m, p.n, p.k, room), p, operands);
}

const SkinnyPaths::Registration path{
    skinny_paths(),
    {.name = "sm90",
     .targets = {Target::sm_90a},
     .refusal = [](const SkinnyProblem&) { return std::string(); },
     .plan = plan,
     .kernels = [](const SkinnyProblem& p) { return skinny_kernel_use(p, true); }}};

}  // namespace
}  // namespace assay::kernels
