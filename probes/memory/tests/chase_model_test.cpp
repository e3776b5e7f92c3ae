// SPDX-License-Identifier: Apache-2.0
// The chase of the latency curves, run by the host model: its visits go along the skips, and its
// walk ends where the ring leads.
#include <gtest/gtest.h>

#include <cstring>

#include "harness/model/model.hpp"
#include "probes/memory/chase_plan.hpp"

namespace assay {
namespace {

constexpr std::uint32_t kCount = 600, kFirst = 77, kWarm = 5, kIterations = 2;
constexpr std::uint64_t kStride = 64;
constexpr int kRounds = 3;

struct Left {
  std::uint64_t at, ones, seen;
};

// What the kernel leaves, and where the ring begins.
Left walked(const ChaseLoad& load, std::uint64_t* begin) {
  model::Gpu gpu(chase_use(load, Target::sm_90a).ptx);
  const auto ring = gpu.allocate("ring", kCount * kStride);
  *begin = ring;
  PlaceLayout layout{.base = reinterpret_cast<char*>(static_cast<std::uintptr_t>(ring)),
                     .count = kCount,
                     .stride = kStride};
  const PlaceLayout by_address = layout;
  layout.by_offset = load.bytes == 4;
  std::vector<std::uint64_t> words(kCount * kStride / sizeof(std::uint64_t));
  for (std::uint32_t step = 0; step < kCount; ++step) {
    const Place place{layout.at_step(step + 1), 1, layout.at_step(step + kVisitLoads), 1};
    std::memcpy(&words[layout.offset(shuffle_within(step, kCount)) / 8], &place, sizeof(place));
  }
  gpu.write(ring, words);
  const std::uint64_t steps = visit_steps(kCount, kCount, kRounds);
  std::vector<std::uint64_t> chains;
  for (std::uint32_t chain = 0; chain < kVisitLoads; ++chain)
    chains.push_back(by_address.at_step(visit_begin(kCount, kFirst, steps, chain)));
  const auto starts = gpu.allocate("chains", chains.size() * 8);
  gpu.write(starts, chains);
  const auto in = gpu.allocate("in", 5 * 8), out = gpu.allocate("out", sizeof(Left));
  const auto records = gpu.allocate("records", sizeof(StopwatchRecord));
  gpu.write(in, std::vector<std::uint64_t>{by_address.at_step(kFirst), ring, kWarm, steps, starts});
  gpu.write(records, std::vector<std::uint64_t>(sizeof(StopwatchRecord) / 8));
  model::Arguments arguments;
  arguments.push(records).push(in).push(out).push(kIterations).push(std::uint32_t{0});
  const auto outcome = gpu.launch("chase", {.block = {32, 1, 1}}, arguments, {});
  for (const auto& finding : outcome.findings) ADD_FAILURE() << model::to_text(finding);
  const auto found = gpu.read<std::uint64_t>(out, 3);
  return {found[0], found[1], found[2]};
}

TEST(Chase, EndsWhereTheRingLeadsWithEveryLoad) {
  for (const auto& load :
       {ChaseLoad{"ca", "ld.global.ca.u64", 8, ""}, ChaseLoad{"b32", "ld.global.ca.u32", 4, ""},
        ChaseLoad{"b128", "ld.global.ca.v2.u64", 16, ""}}) {
    std::uint64_t begin = 0;
    const Left left = walked(load, &begin);
    constexpr std::uint32_t kSteps = kIterations * kChaseUnroll;
    const auto address = [&](std::uint64_t step) {
      return begin + kStride * shuffle_within(static_cast<std::uint32_t>(step % kCount), kCount);
    };
    EXPECT_EQ(left.at, address(kFirst + kWarm + kSteps)) << load.name;
    EXPECT_EQ(left.ones, load.bytes > 8 ? kSteps : 0) << load.name;
    std::uint64_t seen = 0;  // by the first lane, when its chains are where the walk begins
    for (std::uint32_t chain = 0; chain < kVisitLoadsOfLane; ++chain)
      seen ^= address(kFirst + chain);
    EXPECT_EQ(left.seen, seen) << load.name;
  }
}

}  // namespace
}  // namespace assay
