// SPDX-License-Identifier: Apache-2.0
#include "probes/tma/movers.hpp"

#include <climits>

namespace assay {
namespace {

constexpr int kMostCopyingWarps = 8;   // of a CTA whose copies one thread issues for all
constexpr int kMostLoadingWarps = 32;  // of a CTA whose threads move for themselves

int largest_divisor(std::uint64_t of, int most) {
  int divisor = 1;
  for (int d = 2; d <= most; ++d)
    if (of % static_cast<unsigned>(d) == 0) divisor = d;
  return divisor;
}

}  // namespace

bool exists_on(const Mover& mover, Target target) { return target >= mover.oldest; }

std::vector<KernelUse> mover_kernels(std::span<const Mover* const> movers, Target target) {
  std::vector<KernelUse> uses;
  for (const Mover* mover : movers) {
    if (!exists_on(*mover, target)) continue;
    for (const MoverVariant& v : mover->variants)
      uses.push_back(
          {.kernel = v.kernel_name,
           .sass = {{v.opcode, v.in_loop ? v.in_loop : 1, v.in_loop ? v.in_loop : INT_MAX}}});
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
  // What all lanes of a warp move at once.
  const auto row = static_cast<std::uint64_t>(32) * static_cast<unsigned>(mover.access_bytes);
  if (plan.variant->in_loop == 0) {  // cp.async: the stages are fixed, what a slot holds is not
    plan.stages = plan.variant->vectors;
    const std::uint64_t rows = of_cta / (row * static_cast<unsigned>(plan.stages));
    if (rows == 0 || of_cta % (row * static_cast<unsigned>(plan.stages)) != 0) return std::nullopt;
    plan.warps = largest_divisor(rows, kMostLoadingWarps);
    plan.slot_bytes = static_cast<std::uint32_t>(row * (rows / static_cast<unsigned>(plan.warps)));
    return plan;
  }
  // Plain loads: as few of each thread as the warps allow.
  for (const MoverVariant& v : mover.variants) {
    const std::uint64_t slot = row * static_cast<unsigned>(v.vectors);
    const int most = slot / 32 > 128 ? 24 : kMostLoadingWarps;  // by registers
    if (of_cta % slot != 0 || of_cta / slot == 0 || of_cta / slot > static_cast<unsigned>(most))
      continue;
    plan.variant = &v;
    plan.warps = static_cast<int>(of_cta / slot);
    plan.slot_bytes = static_cast<std::uint32_t>(slot);
    return plan;
  }
  return std::nullopt;
}

}  // namespace assay
