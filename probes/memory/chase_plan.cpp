// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/chase_plan.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {

constexpr int kWalks = 3, kIterations = 64, kSteps = kIterations * kChaseUnroll;
constexpr const char* kEntry = "chase";

// What a walk reads before the clock starts, and what it leaves.
struct WalkStart {
  std::uint64_t at, base, warm_steps;
  std::uint64_t visit_end, stride;  // what the warp reads first, from base on
};
constexpr std::uint32_t kVisitedAtOnce = 32 * 8;  // lanes, loads under way
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

// Eight loads of each lane, past L1.
std::string visit_text() {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text +=
        fmt::format("  ld.global.cg.u32 %seen{}, [%visit];\n  add.u64 %visit, %visit, %hop;\n", i);
  for (int i = 0; i < 8; ++i) text += fmt::format("  xor.b32 %seen8, %seen8, %seen{};\n", i);
  return text;
}

}  // namespace

KernelUse chase_use(const ChaseLoad& load, Target target) {
  PtxKernel kernel{.target = target, .entry = kEntry, .threads = 32};
  kernel.declarations =
      "  .reg .b64 %a, %base, %warm, %wide, %ones, %q, %r, %s;\n  .reg .b32 %offset;\n"
      "  .reg .pred %cold;\n  .reg .b64 %visit, %visit_end, %hop;\n  .reg .b32 %own, %seen<9>;\n";
  // The SM that chases has read all itself: in an L2 of partitions, what one SM has nearby another
  // has far away.
  kernel.setup =
      "  ld.global.u64 %a, [%in];\n  ld.global.u64 %base, [%in+8];\n"
      "  ld.global.u64 %warm, [%in+16];\n  ld.global.u64 %visit_end, [%in+24];\n"
      "  ld.global.u64 %hop, [%in+32];\n  mov.u32 %seen8, 0;\n"
      "  cvt.u64.u32 %visit, %thread;\n  mad.lo.u64 %visit, %visit, %hop, %base;\n"
      "  shl.b64 %hop, %hop, 5;\n"
      "  setp.ge.u64 %cold, %visit, %visit_end;\n  @%cold bra visited;\nvisit:\n" +
      visit_text() +
      "  setp.lt.u64 %cold, %visit, %visit_end;\n  @%cold bra visit;\nvisited:\n"
      "  setp.eq.u64 %cold, %warm, 0;\n  @%cold bra walk;\nwarm:\n" +
      step_text(load) +
      "  sub.u64 %warm, %warm, 1;\n  setp.ne.u64 %cold, %warm, 0;\n  @%cold bra warm;\nwalk:\n"
      "  mov.u64 %ones, 0;\n";
  for (int i = 0; i < kChaseUnroll; ++i) kernel.loop += step_text(load);
  kernel.finish =
      "  @%lead st.global.u64 [%out], %a;\n  @%lead st.global.u64 [%out+8], %ones;\n"
      "  @%lead st.global.u32 [%out+16], %seen8;\n";
  return {.kernel = kEntry,
          .sass = {{load.sass, kChaseUnroll, kChaseUnroll}, {"LDG", kChaseUnroll, kChaseUnroll}},
          .ptx = ptx_text(kernel)};
}

std::vector<double> chase_points(State& s, const ChaseLoad& load,
                                 const std::vector<ChasePoint>& points) {
  const void* kernel = s.generated_kernel(kEntry);
  // All of what L1 and shared memory divide between them, to L1; else the driver keeps some back.
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxL1));
  const std::size_t walks = points.size() * kWalks;
  std::vector<WalkStart> starts;
  std::vector<std::uint64_t> ends;
  for (const ChasePoint& point : points)
    for (int walk = 0; walk < kWalks; ++walk) {
      const auto first = static_cast<std::uint32_t>(
          (std::uint64_t{point.layout.count} * static_cast<unsigned>(walk)) / kWalks);
      PlaceLayout by_address = point.layout;
      by_address.by_offset = false;
      const auto base = reinterpret_cast<std::uint64_t>(point.layout.base);
      const std::uint32_t visited =
          point.visited ? point.layout.count / kVisitedAtOnce * kVisitedAtOnce : 0;
      starts.push_back({by_address.at_step(first), base, point.warm_steps,
                        base + visited * point.layout.stride, point.layout.stride});
      ends.push_back(by_address.at_step(first + point.warm_steps + kSteps));
    }
  auto* in = s.allocate<WalkStart>(walks);
  auto* out = s.allocate<WalkEnd>(walks);
  auto* records = s.allocate<StopwatchRecord>(walks);
  check(cudaMemsetAsync(records, 0, walks * sizeof(*records), s.stream()));
  check(
      cudaMemcpyAsync(in, starts.data(), walks * sizeof(*in), cudaMemcpyHostToDevice, s.stream()));
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
