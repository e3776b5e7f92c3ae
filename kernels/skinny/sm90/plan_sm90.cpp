// SPDX-License-Identifier: Apache-2.0
// The skinny product on Hopper.
#include "kernels/skinny/sm90/plan_sm90.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/frame/workers/resident.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/skinny/plan.hpp"
#include "kernels/skinny/sm90/arrange_sm90.hpp"
#include "kernels/skinny/sm90/one_token_sm90.hpp"
#include "kernels/skinny/sm90/ring_sm90.hpp"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kMostCluster = 2;  // of one token; more leave SMs idle: GPCs are no multiple of 4
// Of an H100 SXM or H200, so that the choice is known without a GPU too.
constexpr SkinnyRoom kUsualRoom{
    .ctas = 132, .shared_bytes = 227 * 1024, .most_cluster = kMostCluster};

// A skinny problem in bf16 is this dense one.
GemmProblem dense(const SkinnyProblem& p) { return {.m = p.m, .n = p.n, .k = p.k}; }

// Where this says so, the ring takes 0.85 times as long alone as the kernel for one token and 0.86
// times in rows of calls, at worst 1.01 and 1.06; where it does not, 1.07 and 1.11 (23 layers on an
// H200: results/h200/2026-11-27-skinny-in-place). With many passes their ends, and with many
// weights of 2 bits the unpacking, cost more than the kernel for one token does.
bool ring_suits_one_token(const SkinnyProblem& p) {
  const int bits = weight_bits(p.weights);
  if (bits == 4) return true;
  if (bits == 2) return std::int64_t{p.n} * p.k < std::int64_t{1} << 28;
  const SkinnyVariantSm90& v = skinny_variant_for_sm90(p.weights, 1);
  return usual_layout_sm90(v, 1, p.n, p.k).arguments.passes < 8;
}

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

// Weights that are not packed go to the dense product, which loads the tokens together with the
// weights of each step of k, so that 16 tokens cost no more than one. It takes one token where rows
// are short (5 to 14% less in single calls, 2 to 11% in rows of them), or many and long (as long to
// 7% less alone, from 2% more to 5% less in rows). Other sizes take it from 8% less to 6% more
// alone and from 4% less to 12% more in rows, and go to a kernel of its own, whose loads are long
// (19 layers on an H200: results/h200/2026-11-27-skinny-one-grid).
//
// Packed weights go to the ring, one token too where that was the faster.
SkinnyWaySm90 way_sm90(const SkinnyProblem& p) {
  const bool whole = p.n % 8 == 0;       // rows of D of whole 16 bytes
  const auto one_token_has_room = [&] {  // beside deep queues
    const SkinnyArguments a = arrange(p.weights, p.m, p.n, p.k, kUsualRoom).arguments;
    return a.deep && !a.restage;
  };
  if (p.weights == SkinnyWeights::bf16) {
    const bool suits_dense = p.k < 4096 || (p.n >= 8192 && p.k >= 8192);
    if (p.m == 1 && (!whole || (!suits_dense && one_token_has_room())))
      return SkinnyWaySm90::one_token;
    return whole ? SkinnyWaySm90::dense : SkinnyWaySm90::plain;
  }
  return p.m == 1 && one_token_has_room() && !ring_suits_one_token(p) ? SkinnyWaySm90::one_token
                                                                      : SkinnyWaySm90::ring;
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
