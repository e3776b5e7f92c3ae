// SPDX-License-Identifier: Apache-2.0
// L2 hit latency by where a line is at home. From Ampere on, the L2 of the large chips is two
// partitions; each address has its home in one, and an SM is beside one. Atomics are carried out at
// home, so their time tells near from far: each SM times lines of a slice of its own (the home
// changes every 4 KiB on H100; nothing here relies on it), parts them into two groups, and chases
// round a ring of one group with loads that L1 may not serve.
//
// A far line that is read again comes from a copy that the near partition keeps; that is the case
// "replicated". To see the far hit itself (published: 414 cycles beside 258, arXiv:2501.12084
// table 4), memory/l2_far/latency spoils the copy: in the shadow of each load, an atomic that adds
// no bits goes to the line before, whose copies are then stale.
//
// The cases "miss_latency" go once round such a ring after L2 was overwritten: what a miss takes by
// where its line is at home.
#include <algorithm>

#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/statistics.hpp"
#include "probes/memory/chase.hpp"
#include "probes/memory/two_clusters.hpp"

namespace {

using assay::kChaseSteps;
using assay::kMaxSms;
using assay::Line;

constexpr int kCandidates = 1024;  // lines that an SM times, one of each KiB of its slice
constexpr int kLinesPerKiB = 1024 / sizeof(Line);
constexpr int kSlice = kCandidates * kLinesPerKiB;
constexpr int kRingBits = 8;
constexpr std::uint32_t kRing = 1 << kRingBits;  // lines: 32 KiB per SM
constexpr int kAtomics = 16;                     // timed for each candidate, one after another

// A line that names itself makes a chain of atomics: each result is the next one's address. The
// best of three attempts stands, so that nothing rare makes a group of its own.
__global__ void time_lines(Line* slices, std::uint32_t* sms, float* cycles) {
  sms[blockIdx.x] = assay::ptx::smid();
  for (int i = 0; i < kCandidates; ++i) {
    Line* line = slices + std::size_t{blockIdx.x} * kSlice + i * kLinesPerKiB;
    line->next = line;
    const auto visit = [&line] {
      line = reinterpret_cast<Line*>(
          assay::ptx::fetch_or(reinterpret_cast<std::uint64_t*>(&line->next), 0));
    };
    visit();  // brings the line into L2
    float best = INFINITY;
    for (int attempt = 0; attempt < 3; ++attempt) {
      visit();  // waits for the one before; the clock is read right behind it
      const std::uint64_t begin = assay::ptx::clock64();
#pragma unroll
      for (int n = 0; n < kAtomics; ++n) visit();
      best = fminf(best, static_cast<float>(assay::ptx::clock64() - begin) / kAtomics);
    }
    cycles[blockIdx.x * kCandidates + i] = best;
  }
}

template <bool kSpoil>
__device__ void chase(std::int64_t iterations, Line** cursors, assay::StopwatchRecord* records) {
  Line* line = cursors[assay::ptx::smid()];
  if (!line) return;  // no ring for this SM
  Line* last = line;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kChaseSteps; ++step) {
      Line* next = assay::ptx::load_pointer_l2(&line->next);
      if (kSpoil) assay::ptx::reduce_or(reinterpret_cast<std::uint64_t*>(&last->next), 0);
      last = line;
      line = next;
    }
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0) cursors[assay::ptx::smid()] = line;
}
__global__ void chase_l2(std::int64_t iterations, Line** cursors, assay::StopwatchRecord* records) {
  chase<false>(iterations, cursors, records);
}
__global__ void chase_l2_spoiling(std::int64_t iterations, Line** cursors,
                                  assay::StopwatchRecord* records) {
  chase<true>(iterations, cursors, records);
}

__global__ void tie_rings(Line* const* lines) {  // [sm][kRing]; null where an SM has none
  Line* const* ring = lines + blockIdx.x * kRing;
  const std::uint32_t here = assay::shuffle(threadIdx.x, kRingBits);
  if (ring[here]) ring[here]->next = ring[assay::shuffle(threadIdx.x + 1, kRingBits)];
}

// Lines of one home for the ring of each SM: [kMaxSms][kRing], null for SMs without.
std::vector<Line*> choose_lines(assay::State& s, bool far) {
  const int ctas = s.device().sm_count;
  auto* slices = s.allocate<Line>(std::size_t{kSlice} * ctas);
  auto* sms = s.allocate<std::uint32_t>(ctas);
  auto* cycles = s.allocate<float>(std::size_t{kCandidates} * ctas);
  time_lines<<<ctas, 1, 0, s.stream()>>>(slices, sms, cycles);
  assay::check(cudaGetLastError());
  const auto sm_of = assay::download(sms, ctas, s.stream());
  const auto seen = assay::download(cycles, std::size_t{kCandidates} * ctas, s.stream());

  std::vector<std::optional<assay::TwoClusters>> clusters;
  for (int cta = 0; cta < ctas; ++cta) {
    const auto first = seen.begin() + std::ptrdiff_t{cta} * kCandidates;
    clusters.push_back(assay::two_clusters(std::vector<double>(first, first + kCandidates)));
  }
  const auto parted = std::ranges::count_if(clusters, [](const auto& c) { return c.has_value(); });
  const bool one_partition = 2 * parted < ctas;
  if (one_partition && far) s.skip("the lines of this L2 are all equally far from an SM");
  s.set_param("partitions", one_partition ? 1 : 2);

  std::vector<Line*> lines(std::size_t{kMaxSms} * kRing);
  for (int cta = 0; cta < ctas; ++cta) {
    std::vector<Line*> chosen;
    for (int i = 0; i < kCandidates && chosen.size() < kRing; ++i) {
      const double time = seen[std::size_t{kCandidates} * cta + i];
      if (one_partition || (clusters[cta] && (time >= clusters[cta]->boundary) == far))
        chosen.push_back(slices + std::size_t{kSlice} * cta + i * kLinesPerKiB);
    }
    if (chosen.size() == kRing)
      std::ranges::copy(chosen, lines.begin() + std::ptrdiff_t{kRing} * sm_of[cta]);
  }
  return lines;
}

// Once round each ring with nothing of it in L2: the median over SMs.
void measure_misses(assay::State& s, Line** cursors, const std::vector<Line*>& start) {
  const int ctas = s.device().sm_count;
  const std::size_t flush_bytes = 2 * s.device().l2_bytes;
  auto* flush = s.allocate<char>(flush_bytes);
  auto* records = s.allocate<assay::StopwatchRecord>(ctas);
  std::vector<double> cycles;
  s.sample({.steps = kRing}, [&] {
    assay::overwrite(flush, flush_bytes, s.stream());
    assay::check(cudaMemsetAsync(records, 0, ctas * sizeof(*records), s.stream()));
    chase_l2<<<ctas, 32, 0, s.stream()>>>(kRing / kChaseSteps, cursors, records);
    assay::check(cudaGetLastError());
    std::vector<double> of_sms, ns_of_sms;
    for (const assay::StopwatchRecord& r : assay::download(records, ctas, s.stream())) {
      if (r.stop_clock == 0) continue;
      of_sms.push_back(static_cast<double>(r.stop_clock - r.start_clock));
      ns_of_sms.push_back(static_cast<double>(r.stop_ns - r.start_ns));
    }
    s.require(!of_sms.empty(), "no SM has lines enough of that partition");
    cycles.push_back(assay::median(of_sms) / kRing);
    return assay::median(ns_of_sms);
  });
  s.require(assay::download(cursors, kMaxSms, s.stream()) == start,
            "a walk once round the ring did not end where it began");
  s.add_metric("latency_cycles", "cycle", assay::Better::lower, cycles);
  s.lead_with("latency_cycles");
}

void run(assay::State& s) {
  const std::vector<Line*> lines = choose_lines(s, s.text("home") == "far");
  const auto kernel = s.text("copies") == "spoiled" ? chase_l2_spoiling : chase_l2;
  auto* rings = s.allocate<Line*>(lines.size());
  auto* cursors = s.allocate<Line*>(kMaxSms);
  const auto upload = [&](Line** to, const std::vector<Line*>& from) {
    assay::check(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(Line*),
                                 cudaMemcpyHostToDevice, s.stream()));
  };
  std::vector<Line*> start(kMaxSms);
  for (int sm = 0; sm < kMaxSms; ++sm) start[sm] = lines[std::size_t{kRing} * sm];
  upload(rings, lines);
  upload(cursors, start);
  tie_rings<<<kMaxSms, kRing, 0, s.stream()>>>(rings);
  assay::check(cudaGetLastError());

  if (s.text("copies") == "none") return measure_misses(s, cursors, start);
  std::uint32_t steps = 0;  // wraps at a multiple of the ring's length
  s.cycles({.steps = kChaseSteps}, [&](const assay::Launch& l) {
    kernel<<<s.device().sm_count, 32, 0, l.stream>>>(l.iterations, cursors, l.records);
    steps += static_cast<std::uint32_t>(l.iterations) * kChaseSteps;
  });
  const auto end = assay::download(cursors, kMaxSms, s.stream());
  const std::uint32_t place = assay::shuffle(steps, kRingBits);
  for (int sm = 0; sm < kMaxSms; ++sm)
    s.require(end[sm] == lines[std::size_t{kRing} * sm + place] || end[sm] == start[sm],
              "a chase ended on another line than its steps lead to");
}

std::vector<assay::KernelUse> kernels(const assay::Case& c, assay::Target target) {
  const char* atomic = assay::has(target, assay::Feature::redg) ? "REDG.E.OR.64" : "RED.E.OR.64";
  const bool spoiled = c.text("copies") == "spoiled";
  const int atomics = spoiled ? kChaseSteps : 0;
  return {{.kernel = spoiled ? "chase_l2_spoiling" : "chase_l2",
           .sass = {{"LDG.E.64.STRONG.GPU", kChaseSteps, kChaseSteps}, {atomic, atomics, atomics}},
           .role = spoiled ? assay::Role::none : assay::Role::latency}};
}

const assay::Registration near{{
    .name = "memory/l2_near",
    .question = "How many cycles does a dependent load take when it hits in the SM's own half of "
                "L2?",
    .cases = {{.name = "latency", .params = {{"home", "near"}, {"copies", "kept"}}},
              {.name = "latency_spoiled",
               .params = {{"home", "near"}, {"copies", "spoiled"}},
               .suite = assay::Suite::full},
              {.name = "miss_latency",
               .params = {{"home", "near"}, {"copies", "none"}},
               .suite = assay::Suite::full}},
    .kernels = kernels,
    .run = run,
}};
const assay::Registration far{{
    .name = "memory/l2_far",
    .question = "How many cycles does a dependent load take when it hits in the other half of L2?",
    .cases = {{.name = "latency", .params = {{"home", "far"}, {"copies", "spoiled"}}},
              {.name = "latency_replicated",
               .params = {{"home", "far"}, {"copies", "kept"}},
               .suite = assay::Suite::full},
              {.name = "miss_latency",
               .params = {{"home", "far"}, {"copies", "none"}},
               .suite = assay::Suite::full}},
    .kernels = kernels,
    .run = run,
}};

}  // namespace
