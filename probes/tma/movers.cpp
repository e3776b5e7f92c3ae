// SPDX-License-Identifier: Apache-2.0
#include "probes/tma/movers.hpp"

#include <algorithm>

namespace assay {
namespace {

constexpr int kMostCopyingWarps = 8;        // of a CTA whose copies one thread issues for all
constexpr unsigned kMostLoadingWarps = 32;  // of a CTA whose threads move for themselves

int largest_divisor(std::uint64_t of, int most) {
  int divisor = 1;
  for (int d = 2; d <= most; ++d)
    if (of % static_cast<unsigned>(d) == 0) divisor = d;
  return divisor;
}

}  // namespace

bool exists_on(const Mover& mover, Target target) { return has(target, mover.needs); }

std::vector<KernelUse> mover_kernels(std::span<const Mover* const> movers, Target target) {
  std::vector<KernelUse> uses;
  for (const Mover* mover : movers) {
    if (!exists_on(*mover, target)) continue;
    for (const MoverVariant& v : mover->variants) {
      const int in_loop = std::max(v.rows, 1);
      uses.push_back({.kernel = v.kernel_name, .sass = {{mover->opcode, in_loop, in_loop}}});
    }
  }
  return uses;
}

std::optional<Pipeline> plan_pipeline(const Mover& mover, std::uint64_t bytes_in_flight,
                                      std::uint32_t box_bytes, int ctas_per_sm) {
  if (bytes_in_flight % static_cast<unsigned>(ctas_per_sm) != 0) return std::nullopt;
  const std::uint64_t of_cta = bytes_in_flight / static_cast<unsigned>(ctas_per_sm);
  Pipeline plan{.ctas_per_sm = ctas_per_sm, .variant = &mover.variants.front()};
  if (mover.access_bytes == 0) {
    const std::uint64_t slots = of_cta / box_bytes;
    if (of_cta % box_bytes != 0 || slots == 0 || slots > kMostSlots) return std::nullopt;
    plan.warps = largest_divisor(slots, kMostCopyingWarps);
    plan.stages = static_cast<int>(slots / static_cast<unsigned>(plan.warps));
    plan.slot_bytes = box_bytes;
    return plan;
  }
  // As few accesses of each thread as the warps allow.
  plan.stages = std::max(mover.stages, 1);
  for (const MoverVariant& v : mover.variants) {
    const auto slot = static_cast<std::uint32_t>(32 * mover.access_bytes * v.rows);
    const std::uint64_t ring = std::uint64_t{slot} * static_cast<unsigned>(plan.stages);
    // By registers, of loads of more than 128 bytes by each thread.
    const bool many = mover.stages == 0 && slot / 32 > 128;
    const std::uint64_t warps = of_cta / ring;
    if (of_cta % ring != 0 || warps == 0 || warps > (many ? 24u : kMostLoadingWarps)) continue;
    plan.variant = &v;
    plan.warps = static_cast<int>(warps);
    plan.slot_bytes = slot;
    return plan;
  }
  return std::nullopt;
}

}  // namespace assay
