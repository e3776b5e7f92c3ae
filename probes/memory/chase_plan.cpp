// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/chase_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/device.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {

constexpr int kWalks = 3, kIterations = 256, kSteps = kIterations * kChaseUnroll;
constexpr const char* kEntry = "chase";

// What L2 was full of is forgotten when four times as much was read.
constexpr std::uint64_t kForgotten = 4;

// What a walk reads before the clock starts, and what it leaves.
struct WalkStart {
  std::uint64_t at, base, warm_steps;
  std::uint64_t visit_steps,
      chains;  // of each chain; where kVisitLoads addresses lie, their starts
};
struct WalkEnd {
  std::uint64_t at, ones;
  std::uint64_t seen;  // so that what is visited is wanted
};

// One step: address register %a, offset base %base, count %ones.
std::string step_text(const ChaseLoad& load) {
  switch (load.bytes) {
    case 4:
      return fmt::format(
          "  {} %offset, [%a];\n  cvt.u64.u32 %wide, %offset;\n  add.u64 %a, %base, %wide;\n",
          load.load);
    case 8:
      return fmt::format("  {} %a, [%a];\n", load.load);
    case 16:
      return fmt::format("  {} {{%a, %q}}, [%a];\n  add.u64 %ones, %ones, %q;\n", load.load);
    default:  // that the last word is wanted keeps the load as wide as it is
      return fmt::format("  {} {{%a, %r, %s, %q}}, [%a];\n  add.u64 %ones, %ones, %q;\n",
                         load.load);
  }
}

std::string for_each_chain(std::string_view instruction) {
  std::string text;
  for (int i = 0; i < kVisitLoadsOfLane; ++i)
    text += fmt::format(fmt::runtime(instruction), i, 8 * i);
  return text;
}

// One step of each of a lane's chains, past L1.
std::string visit_text(const ChaseLoad& load) {
  return for_each_chain(
             fmt::format("  ld.global.cg.u64 %chain{{0}}, [%chain{{0}}+{}];\n", kSkipAt)) +
         (load.bytes == 4 ? for_each_chain("  add.u64 %chain{0}, %chain{0}, %base;\n") : "");
}

}  // namespace

KernelUse chase_use(const ChaseLoad& load, Target target) {
  PtxKernel kernel{.target = target, .entry = kEntry, .threads = 32};
  kernel.declarations =
      "  .reg .b64 %a, %base, %warm, %wide, %ones, %q, %r, %s;\n  .reg .b32 %offset;\n"
      "  .reg .pred %cold;\n  .reg .b64 %visit, %seen, %chain<8>;\n";
  // The SM that chases has read all itself: in an L2 of partitions, what one SM has nearby another
  // has far away.
  kernel.setup =
      "  ld.global.u64 %a, [%in];\n  ld.global.u64 %base, [%in+8];\n"
      "  ld.global.u64 %warm, [%in+16];\n  mov.u64 %seen, 0;\n"
      "  ld.global.u64 %wide, [%in+32];\n  cvt.u64.u32 %q, %thread;\n"
      "  shl.b64 %q, %q, 6;\n  add.u64 %wide, %wide, %q;\n"
      "  ld.global.u64 %visit, [%in+24];\n"
      "  setp.eq.u64 %cold, %visit, 0;\n  @%cold bra visited;\n" +
      for_each_chain("  ld.global.u64 %chain{0}, [%wide+{1}];\n") + "visit:\n" + visit_text(load) +
      "  sub.u64 %visit, %visit, 1;\n  setp.ne.u64 %cold, %visit, 0;\n  @%cold bra visit;\n" +
      for_each_chain("  xor.b64 %seen, %seen, %chain{0};\n") +
      "visited:\n"
      "  setp.eq.u64 %cold, %warm, 0;\n  @%cold bra walk;\nwarm:\n" +
      step_text(load) +
      "  sub.u64 %warm, %warm, 1;\n  setp.ne.u64 %cold, %warm, 0;\n  @%cold bra warm;\nwalk:\n"
      "  mov.u64 %ones, 0;\n";
  for (int i = 0; i < kChaseUnroll; ++i) kernel.loop += step_text(load);
  kernel.finish =
      "  @%lead st.global.u64 [%out], %a;\n  @%lead st.global.u64 [%out+8], %ones;\n"
      "  @%lead st.global.u64 [%out+16], %seen;\n";
  return {.kernel = kEntry,
          .sass = {{load.sass, kChaseUnroll, kChaseUnroll}, {"LDG", kChaseUnroll, kChaseUnroll}},
          .ptx = ptx_text(kernel)};
}

std::vector<double> chase_points(State& s, const ChaseLoad& load,
                                 const std::vector<ChasePoint>& points, int rounds) {
  const void* kernel = s.generated_kernel(kEntry);
  // All of what L1 and shared memory divide between them, to L1; else the driver keeps some back.
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxL1));
  const std::size_t walks = points.size() * kWalks;
  std::vector<WalkStart> starts;
  std::vector<std::uint64_t> chains;  // kVisitLoads of each walk that is visited
  const auto visited = std::ranges::count(points, true, &ChasePoint::visited);
  auto* chains_there =
      s.allocate<std::uint64_t>(static_cast<std::size_t>(visited) * kWalks * kVisitLoads);
  const std::uint64_t most = kForgotten * s.device().l2_bytes / sizeof(Line);
  std::vector<std::uint64_t> ends;
  for (const ChasePoint& point : points) {
    PlaceLayout by_address = point.layout;
    by_address.by_offset = false;
    const auto base = reinterpret_cast<std::uint64_t>(point.layout.base);
    const std::uint32_t count = point.layout.count;
    const std::uint64_t warm =
        point.walked ? std::uint64_t{count} * static_cast<unsigned>(rounds) : 0;
    const std::uint64_t visit = point.visited ? visit_steps(count, most, rounds) : 0;
    for (int walk = 0; walk < kWalks; ++walk) {
      const auto first =
          static_cast<std::uint32_t>((std::uint64_t{count} * static_cast<unsigned>(walk)) / kWalks);
      starts.push_back({by_address.at_step(first), base, warm, visit,
                        reinterpret_cast<std::uint64_t>(chains_there + chains.size())});
      for (std::uint32_t chain = 0; visit > 0 && chain < kVisitLoads; ++chain)
        chains.push_back(by_address.at_step(visit_begin(count, first, visit, chain)));
      ends.push_back(
          by_address.at_step(static_cast<std::uint32_t>((first + warm + kSteps) % count)));
    }
  }
  auto* in = s.allocate<WalkStart>(walks);
  auto* out = s.allocate<WalkEnd>(walks);
  auto* records = s.allocate<StopwatchRecord>(walks);
  check(cudaMemsetAsync(records, 0, walks * sizeof(*records), s.stream()));
  check(
      cudaMemcpyAsync(in, starts.data(), walks * sizeof(*in), cudaMemcpyHostToDevice, s.stream()));
  if (!chains.empty())
    check(cudaMemcpyAsync(chains_there, chains.data(), chains.size() * sizeof(chains[0]),
                          cudaMemcpyHostToDevice, s.stream()));
  std::size_t walk = 0;
  for (const ChasePoint& point : points) {
    PlaceLayout layout = point.layout;
    layout.by_offset = load.bytes == 4;
    tie_places(layout, s.stream());
    for (int i = 0; i < kWalks; ++i, ++walk)
      launch_generated(kernel, 1, 32, {s.stream(), kIterations, records + walk}, in + walk,
                       out + walk);
  }
  const auto stopped = download(records, walks, s.stream());
  const auto found = download(out, walks, s.stream());
  const std::uint64_t ones = load.bytes > 8 ? kSteps : 0;
  std::vector<double> cycles;
  for (std::size_t point = 0; point < points.size(); ++point) {
    std::array<double, kWalks> of_walks = {};
    for (std::size_t i = 0; i < kWalks; ++i) {
      const std::size_t at = point * kWalks + i;
      s.require(found[at].at == ends[at],
                fmt::format("a chase over {} places ended at {:#x}, not at {:#x}",
                            points[point].layout.count, found[at].at, ends[at]));
      s.require(found[at].ones == ones, "a wide load did not bring all its words");
      of_walks[i] = static_cast<double>(stopped[at].stop_clock - stopped[at].start_clock) / kSteps;
    }
    cycles.push_back(median({of_walks.begin(), of_walks.end()}));
  }
  return cycles;
}

std::vector<Settled> chase_until_steady(State& s, const ChaseLoad& load,
                                        const std::vector<ChasePoint>& points) {
  return until_steady(points.size(), [&](const std::vector<std::size_t>& which, int rounds) {
    std::vector<ChasePoint> again;
    for (const std::size_t i : which) again.push_back(points[i]);
    return chase_points(s, load, again, rounds);
  });
}

std::vector<std::uint64_t> footprints(std::uint64_t low, std::uint64_t high, int per_octave) {
  std::vector<std::uint64_t> all;
  for (int i = 0;; ++i) {
    const double wanted = static_cast<double>(low) * std::exp2(static_cast<double>(i) / per_octave);
    const auto bytes = static_cast<std::uint64_t>(std::llround(wanted / 128)) * 128;
    if (bytes > high) return all;
    if (all.empty() || bytes > all.back()) all.push_back(bytes);
  }
}

}  // namespace assay
