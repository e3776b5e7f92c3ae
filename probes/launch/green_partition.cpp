// SPDX-License-Identifier: Apache-2.0
// A GPU's SMs shared out between workers by green contexts: parts of 1/2, 1/4, 1/8 of them.
//
// That kernels stay inside is read off %smid. Throughput is that of kernels that fill such a part
// for 20 us times the number of parts, one queue for each part, beside that of as many ordinary
// streams: 50000 a second of them all, however many parts, were there nothing between two kernels.
// The gap between dependent kernels is measured in each part, too: it shows whether it matters
// where on the GPU a small kernel runs.
#include <fmt/format.h>

#include <algorithm>

#include "harness/device.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/chain.hpp"
#include "probes/launch/clock.hpp"
#include "probes/launch/crowd.hpp"
#include "probes/launch/green_context.hpp"

namespace {

using assay::Better;
using assay::check;
using assay::Tally;

constexpr double kFillUs = 20;  // times the parts: one CPU thread launches for all of them
constexpr int kRounds = 9, kKernels = 32;  // of each part

void run_green_context(assay::State& s) {
  const auto parts = static_cast<unsigned>(s.i64("parts"));
  const auto made = assay::SmPartitions::evenly(s.device().index, parts);
  if (!made) s.skip(made.reason());
  auto* tallies = s.allocate<Tally>(parts);
  std::vector<cudaStream_t> green;
  std::vector<assay::Stream> ordinary(parts);
  for (unsigned part = 0; part < parts; ++part) green.push_back(made->stream(part));

  const auto fill = [&](unsigned part, cudaStream_t stream) {
    assay::crowd_with_arithmetic(s.device(), 2 * static_cast<unsigned>(made->sms(part)),
                                 kFillUs * parts, tallies + part, stream);
  };
  // Kernels a second of all streams together.
  const auto rate = [&](const auto& streams) {
    check(cudaMemset(tallies, 0, parts * sizeof(Tally)));
    check(cudaDeviceSynchronize());
    const double begin = assay::host_us();
    for (int i = 0; i < kKernels; ++i)
      for (unsigned part = 0; part < parts; ++part) fill(part, streams[part]);
    for (unsigned part = 0; part < parts; ++part) check(cudaStreamSynchronize(streams[part]));
    return 1e6 * kKernels * parts / (assay::host_us() - begin);
  };
  std::vector<Tally> seen(parts);
  const auto look = [&] {
    for (unsigned part = 0; part < parts; ++part) {
      seen[part] = assay::read(tallies + part);
      const auto launched = static_cast<std::uint64_t>(kKernels * 2 * made->sms(part));
      s.require(cta_count(seen[part]) == launched,
                fmt::format("{} CTAs ran in part {}, expected {}", cta_count(seen[part]), part,
                            launched));
      s.require(seen[part].wrong == 0, "x <- x / 2 + 1 must stay at its fixed point, 2");
    }
  };
  std::vector<double> partitioned, together;
  for (int round = 0; round <= kRounds; ++round) {
    const double with = rate(green);
    look();
    for (unsigned a = 0; a < parts; ++a) {
      s.require(sm_count(seen[a]) <= made->sms(a), fmt::format("part {} of {} SMs ran CTAs on {}",
                                                               a, made->sms(a), sm_count(seen[a])));
      for (unsigned b = 0; b < a; ++b)
        s.require(on_separate_sms(seen[a], seen[b]), "two parts ran CTAs on one SM");
    }
    const double without = rate(ordinary);
    if (round == 0) continue;  // loads the kernel
    partitioned.push_back(with);
    together.push_back(without);
  }
  s.add_metric("kernels_per_s", "1/s", Better::higher, partitioned);
  s.add_metric("kernels_per_s_unpartitioned", "1/s", Better::higher, together);
  s.add_exact("sms_per_part", "", Better::higher, made->sms(0));
  s.add_exact("sms_seen_per_part", "", Better::higher, sm_count(seen[0]));
  s.add_exact("create_us", "us", Better::lower, made->create_us() / parts);
  assay::Chain chain(s, assay::kChainKernels, assay::kChainWorkNs, {});
  add_chain_metrics(s, [&] { return chain.run_in_stream(green[0]); });
  assay::Series gaps{"gpu_gap_us_of_part", "us", {{"part", {}}}, {}};
  for (unsigned part = 0; part < parts; ++part)
    gaps.axes[0].points.emplace_back(std::int64_t{part});
  assay::Series sms = gaps;
  sms.name = "sm_of_part";
  sms.unit = "";
  for (unsigned part = 0; part < parts; ++part) {
    std::vector<double> gap;
    for (int i = 0; i < assay::kChainRuns; ++i) {
      const assay::ChainRun found = chain.run_in_stream(green[part]);
      gap.push_back(found.gap_us);
      if (i == 0) sms.values.push_back(found.sm);
    }
    gaps.add(assay::estimate(gap));
  }
  s.add_exact("gpu_gap_us_fastest_part", "us", Better::lower, std::ranges::min(gaps.values));
  s.add_exact("gpu_gap_us_slowest_part", "us", Better::lower, std::ranges::max(gaps.values));
  s.add_series(std::move(gaps));
  s.add_series(std::move(sms));

  assay::Series map{"ctas", "", {{"part", {}}, {"sm", {}}}, {}};
  rate(green);
  look();
  for (int sm = 0; sm < s.device().sm_count; ++sm)
    map.axes[1].points.emplace_back(std::int64_t{sm});
  for (unsigned part = 0; part < parts; ++part) {
    map.axes[0].points.emplace_back(std::int64_t{part});
    for (int sm = 0; sm < s.device().sm_count; ++sm) map.values.push_back(seen[part].ctas[sm]);
  }
  s.add_series(std::move(map));
}

const assay::Registration green_context{{
    .name = "launch/green_context",
    .question = "Do kernels of a green context stay on its SMs, and what does it cost?",
    .metrics =
        {{"kernels_per_s",
          "Kernels of all parts together in a second, each filling its part for 20 us times the "
          "parts."},
         {"kernels_per_s_unpartitioned",
          "Kernels of as many ordinary streams together in a second, which share all SMs."},
         {"sms_per_part", "SMs that a part was given."},
         {"sms_seen_per_part", "SMs on which kernels of the first part really ran."},
         {"create_us", "CPU time to create one green context, splitting the SMs included."},
         {"cpu_us", "CPU time of one launch into the first part, while the GPU is busy."},
         {"gpu_gap_us",
          "Time from the end of one kernel's work to where the next may begin its own, in the "
          "first part."},
         {"gpu_gap_us_of_part",
          "Time from the end of one kernel's work to where the next may begin its own, in each "
          "part."},
         {"gpu_gap_us_*_part",
          "Time from one kernel's end to where the next may begin, in the * of the parts."},
         {"sm_of_part", "SM on which the kernels of one CTA ran, in each part."},
         {"ctas", "CTAs of each part's kernels that ran on each SM."}},
    .cases = {{.name = "2", .params = {{"parts", 2}}, .suite = assay::Suite::full},
              {.name = "4", .params = {{"parts", 4}}, .suite = assay::Suite::full},
              {.name = "8", .params = {{"parts", 8}}, .suite = assay::Suite::full}},
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "crowd_arithmetic", .sass = {{"FFMA", 64, 64}}}};
        },
    .run = run_green_context,
}};

}  // namespace
