// SPDX-License-Identifier: Apache-2.0
// Waves and the tail: the time of a grid of equal CTAs over how many there are, where an SM is kept
// busy by one of them. By how many fit an SM: they share it then, and each takes longer.
//
// A CTA goes to the first SM that has room, however much work that SM still holds. Where several
// share an SM and end one after another, some SMs thus end up with more CTAs than others: the grid
// takes as long as the SM with the most, which may be more than its share of whole waves.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "harness/device.hpp"
#include "harness/state.hpp"
#include "harness/statistics.hpp"

namespace {

using assay::Better;

constexpr int kThreads = 512, kChains = 4, kTurns = 2048, kRuns = 6, kWaves = 4;
constexpr std::size_t kReservedBytes = 1024;  // of each CTA's shared memory, by the system

struct Span {
  unsigned long long begin_ns, end_ns;
};
struct Result {  // of a CTA
  float sum;
  std::uint32_t sm;
};

// 16 warps of 4 chains fill all 128 lanes of an SM. Each thread begins elsewhere: what all threads
// of a warp have in common sm_120 would compute once, on its uniform datapath.
__global__ void __launch_bounds__(kThreads)
    busy(float factor, float term, Span* span, Result* results) {
  if (threadIdx.x == 0) atomicMin(&span->begin_ns, assay::ptx::globaltimer());
  float values[kChains];
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain)
    values[chain] = term + static_cast<float>(chain + threadIdx.x);
#pragma unroll 8
  for (int turn = 0; turn < kTurns; ++turn)
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) values[chain] = fmaf(values[chain], factor, term);
  float sum = 0;
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) sum += values[chain];
  __syncthreads();
  if (threadIdx.x > 0) return;
  results[blockIdx.x] = {sum, assay::ptx::smid()};
  atomicMax(&span->end_ns, assay::ptx::globaltimer());
}

// Nanoseconds from the first CTA's begin to the last one's end.
double once(assay::State& s, int ctas, std::size_t shared, Span* span, Result* results) {
  const Span empty{~0ull, 0};
  assay::check(cudaMemcpyAsync(span, &empty, sizeof empty, cudaMemcpyHostToDevice, s.stream()));
  assay::check(
      cudaMemsetAsync(results, 0, static_cast<std::size_t>(ctas) * sizeof *results, s.stream()));
  busy<<<ctas, kThreads, shared, s.stream()>>>(0.5f, 1.0f, span, results);
  assay::check(cudaGetLastError());
  const Span found = assay::download(span, 1, s.stream()).front();
  return static_cast<double>(found.end_ns - found.begin_ns);
}

// CTAs that the busiest SM worked on; fails the case if any has another result than it must.
int most_on_one_sm(assay::State& s, const Result* results, int ctas) {
  std::map<std::uint32_t, int> on_sm;
  int most = 0;
  for (const Result& r : assay::download(results, static_cast<std::size_t>(ctas), s.stream())) {
    s.require(r.sum == 2.0f * kChains,
              "x <- x / 2 + 1 must end at its fixed point, 2, in every CTA");
    most = std::max(most, ++on_sm[r.sm]);
  }
  return most;
}

void run(assay::State& s) {
  const int sms = s.device().sm_count;
  const auto residents = static_cast<int>(s.i64("residents"));
  const std::size_t share =
      s.device().shared_bytes_per_sm / static_cast<std::size_t>(residents) / 128 * 128;
  const std::size_t shared =
      std::min<std::size_t>(share - kReservedBytes, s.device().shared_bytes_per_block);
  assay::check(cudaFuncSetAttribute(busy, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared)));
  assay::check(cudaFuncSetAttribute(busy, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
  int fit = 0;
  assay::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, busy, kThreads, shared));
  if (fit != residents)
    s.skip("an SM of this GPU does not hold " + std::to_string(residents) + " CTAs of " +
           std::to_string(kThreads) + " threads");
  const int wave = sms * residents;
  std::set<int> sizes{1, sms / 4, sms / 2};
  for (int n = 1; n <= kWaves; ++n)
    for (const int ctas : {n * wave - 1, n * wave, n * wave + 1, n * wave + wave / 4,
                           n * wave + wave / 2, n * wave + 3 * wave / 4})
      if (ctas <= kWaves * wave + 1) sizes.insert(ctas);
  if (residents > 1)
    for (int n = 1; n < residents; ++n) sizes.insert({n * sms - 1, n * sms, n * sms + 1});

  auto* span = s.allocate<Span>(1);
  auto* results = s.allocate<Result>(static_cast<std::size_t>(kWaves * wave + 1));
  assay::Series time{"time_us", "us", {{"ctas", {}}}, {}};
  assay::Series efficiency{"efficiency", "", {{"ctas", {}}}, {}};
  assay::Series on_one_sm{"max_ctas_on_one_sm", "", {{"ctas", {}}}, {}};
  std::map<int, std::vector<double>> us;
  std::map<int, double> most;  // CTAs that the busiest SM worked on, the median of the runs
  for (const int ctas : sizes) {
    once(s, ctas, shared, span, results);  // warms up
    std::vector<double> on_busiest;
    for (int i = 0; i < kRuns; ++i) {
      us[ctas].push_back(1e-3 * once(s, ctas, shared, span, results));
      on_busiest.push_back(most_on_one_sm(s, results, ctas));
    }
    most[ctas] = assay::median(on_busiest);
  }
  // What one CTA for each SM takes is an SM's time for one CTA's work.
  const double each = assay::median(us.at(sms));
  for (const auto& [ctas, times] : us) {
    const assay::Estimate taken = assay::estimate(times);
    for (auto* series : {&time, &efficiency, &on_one_sm})
      series->axes[0].points.emplace_back(std::int64_t{ctas});
    time.add(taken);
    efficiency.add(each * ctas / sms / taken);
    on_one_sm.values.push_back(most.at(ctas));
  }
  const auto ratio = [&](int a, int b) {
    return assay::median(us.at(a)) / assay::median(us.at(b));
  };
  s.add_metric("time_us_one_cta_per_sm", "us", Better::lower, us.at(sms));
  s.add_metric("time_us_full_wave", "us", Better::lower, us.at(wave));
  s.add_exact("one_cta_more_over_full_wave", "", Better::lower, ratio(wave + 1, wave));
  s.add_exact("two_waves_over_one", "", Better::lower, ratio(2 * wave, wave));
  s.add_exact("max_ctas_on_one_sm_of_two_waves", "", Better::lower, most.at(2 * wave));
  const auto got = static_cast<int>(most.at(2 * wave));
  s.set_param("finding", "two full waves are " + std::to_string(2 * residents) +
                             " CTAs for each SM; the SM with the most got " + std::to_string(got) +
                             (got > 2 * residents ? ", and the grid waits for it" : "") +
                             (residents > 1 ? "; CTAs that share an SM take longer each" : ""));
  s.add_exact("efficiency_of_one_cta_more", "", Better::higher,
              each * (wave + 1) / sms / assay::median(us.at(wave + 1)));
  s.add_series(std::move(time));
  s.add_series(std::move(efficiency));
  s.add_series(std::move(on_one_sm));
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const int residents : {1, 2, 4})
    all.push_back({.name = std::to_string(residents),
                   .params = {{"residents", residents}},
                   .suite = residents == 1 ? assay::Suite::quick : assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "placement/waves",
    .question = "How long does a grid of equal CTAs take by how many there are, and what does one "
                "more than a full wave cost?",
    .metrics = {{"time_us", "Time of the grid, by its CTAs."},
                {"efficiency",
                 "Time that the CTAs' work would take spread evenly over all SMs, over the time "
                 "taken, by CTAs."},
                {"max_ctas_on_one_sm",
                 "CTAs that the busiest SM worked on, by the CTAs of the grid."},
                {"time_us_one_cta_per_sm", "Time of a grid of one CTA for each SM."},
                {"time_us_full_wave", "Time of a grid of as many CTAs as fit the GPU at once."},
                {"one_cta_more_over_full_wave",
                 "Time with one CTA more than a full wave over that of a full wave."},
                {"two_waves_over_one", "Time of two full waves over that of one."},
                {"max_ctas_on_one_sm_of_two_waves",
                 "CTAs that the busiest SM worked on in two full waves."},
                {"efficiency_of_one_cta_more",
                 "Efficiency of a grid with one CTA more than a full wave."}},
    .cases = cases(),
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "busy", .sass = {{"FFMA", 8 * kChains, 8 * kChains}}}};
        },
    .run = run,
}};

}  // namespace
