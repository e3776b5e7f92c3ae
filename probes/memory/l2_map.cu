// SPDX-License-Identifier: Apache-2.0
// The L2 as each SM sees it: how long atomics take from every SM to lines all over an array.
// Atomics are carried out where a line is at home, so that no copy in the nearer partition hides
// the way (probes/memory/l2_latency.cu). SMs take the lines in turns, each starting at another, and
// hardly ever meet on one.
#include <algorithm>
#include <numeric>

#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/state.hpp"
#include "probes/memory/partition_map.hpp"

namespace {

constexpr int kLines = 256, kShown = 64;
// The home changes every 4 KiB on H100; lines lie further apart than that, and not by a power of
// two, so that they come from many places of the hash.
constexpr std::size_t kApart = 128 * 1031;
constexpr int kAtomics = 16, kAttempts = 3;

// The least of the attempts, in cycles an atomic: [sm][line]. A word that holds its own address
// makes a chain of atomics.
__global__ void time_atomics(char* array, int lines, float* cycles, std::uint32_t* wrong) {
  const auto sm = static_cast<int>(assay::ptx::smid());
  for (int i = 0; i < lines; ++i) {
    const int line = (i + sm) % lines;
    const auto home = reinterpret_cast<std::uint64_t>(array + line * kApart);
    std::uint64_t at = home;
    const auto visit = [&at] {
      at = assay::ptx::fetch_or(reinterpret_cast<std::uint64_t*>(at), 0);
    };
    visit();
    float best = INFINITY;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      visit();
      const std::uint64_t begin = assay::ptx::clock64();
#pragma unroll
      for (int n = 0; n < kAtomics; ++n) visit();
      best = fminf(best, static_cast<float>(assay::ptx::clock64() - begin) / kAtomics);
    }
    cycles[sm * lines + line] = best;
    if (at != home) atomicAdd(wrong, 1);
  }
}
__global__ void name_lines(char* array) {
  auto* line =
      reinterpret_cast<std::uint64_t*>(array + (blockIdx.x * blockDim.x + threadIdx.x) * kApart);
  *line = reinterpret_cast<std::uint64_t>(line);
}

struct Map {
  std::vector<std::int64_t> sms;  // that were seen
  std::vector<double> cycles;     // [sms][kLines]
};

Map measure(assay::State& s, char* array) {
  auto* cycles = s.allocate<float>(std::size_t{assay::kMaxSms} * kLines);
  auto* wrong = s.allocate<std::uint32_t>(1);
  assay::check(
      cudaMemsetAsync(cycles, 0, std::size_t{assay::kMaxSms} * kLines * sizeof(float), s.stream()));
  assay::check(cudaMemsetAsync(wrong, 0, sizeof(*wrong), s.stream()));
  time_atomics<<<s.device().sm_count, 1, 0, s.stream()>>>(array, kLines, cycles, wrong);
  assay::check(cudaGetLastError());
  s.require(assay::download(wrong, 1, s.stream()).front() == 0,
            "a chain of atomics on one line left it");
  Map map;
  const auto all = assay::download(cycles, std::size_t{assay::kMaxSms} * kLines, s.stream());
  for (std::size_t sm = 0; sm < assay::kMaxSms; ++sm) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(sm * kLines);
    if (*row == 0) continue;
    map.sms.push_back(static_cast<std::int64_t>(sm));
    map.cycles.insert(map.cycles.end(), row, row + kLines);
  }
  return map;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

void run(assay::State& s) {
  auto* array = s.allocate<char>(kLines * kApart);
  name_lines<<<kLines / 64, 64, 0, s.stream()>>>(array);
  assay::check(cudaGetLastError());
  const Map map = measure(s, array), again = measure(s, array);
  s.require(map.sms == again.sms, "two launches did not run on the same SMs");
  using assay::Better;

  assay::Series latency{"latency_cycles", "cycle", {{"sm", {}}, {"byte", {}}}, {}};
  for (const std::int64_t sm : map.sms) latency.axes[0].points.emplace_back(sm);
  for (std::int64_t i = 0; i < kShown; ++i)
    latency.axes[1].points.emplace_back(i * static_cast<std::int64_t>(kApart));
  for (std::size_t sm = 0; sm < map.sms.size(); ++sm)
    for (std::size_t i = 0; i < kShown; ++i) latency.values.push_back(map.cycles[sm * kLines + i]);
  s.add_series(std::move(latency));

  const auto parts = assay::partition_map(map.cycles, kLines);
  const auto parts_again = assay::partition_map(again.cycles, kLines);
  s.add_exact("partitions", "", Better::higher, parts ? 2 : 1);
  if (!parts || !parts_again) return;
  assay::Series near{"near_partition", "", {{"sm", {}}}, {}};
  std::size_t same = 0, first = 0;
  for (std::size_t sm = 0; sm < map.sms.size(); ++sm) {
    near.axes[0].points.emplace_back(map.sms[sm]);
    near.values.push_back(parts->of_sm[sm]);
    same += parts->of_sm[sm] == parts_again->of_sm[sm];
    first += parts->of_sm[sm] == 0;
  }
  s.add_series(std::move(near));
  std::vector<double> near_cycles, far_cycles;
  for (std::size_t i = 0; i < map.cycles.size(); ++i)
    (parts->of_sm[i / kLines] == parts->of_line[i % kLines] ? near_cycles : far_cycles)
        .push_back(map.cycles[i]);
  const auto sms = static_cast<double>(map.sms.size());
  s.add_exact("explained_readings", "", Better::higher, parts->agreement);
  s.add_exact("sms_mapped_alike_twice", "", Better::higher, static_cast<double>(same) / sms);
  s.add_exact("sms_of_partition_0", "", Better::higher, static_cast<double>(first));
  s.add_exact("sms_of_partition_1", "", Better::higher, sms - static_cast<double>(first));
  s.add_exact("lines_of_partition_0", "", Better::higher,
              static_cast<double>(std::ranges::count(parts->of_line, 0)) / kLines);
  s.add_exact("near_atomic_cycles", "cycle", Better::lower, mean(near_cycles));
  s.add_exact("far_atomic_cycles", "cycle", Better::lower, mean(far_cycles));
}

const assay::Registration registration{{
    .name = "memory/l2_map",
    .question = "Which partition of L2 is each SM near, and how far is each line from it?",
    .metrics = {{"latency_cycles", "Cycles of an atomic from each SM to lines all over an array."},
                {"partitions", "Partitions of L2 that latencies tell apart: 1 or 2."},
                {"near_partition", "Partition of L2 that each SM is near."},
                {"explained_readings", "Share of the latencies that the two partitions explain."},
                {"sms_mapped_alike_twice",
                 "Share of the SMs that a second measurement puts near the same partition."},
                {"sms_of_partition_*", "SMs near partition *."},
                {"lines_of_partition_0", "Share of the lines that are at home in partition 0."},
                {"near_atomic_cycles",
                 "Mean latency of an atomic on a line in the nearer partition."},
                {"far_atomic_cycles",
                 "Mean latency of an atomic on a line in the farther partition."}},
    .cases = {{.suite = assay::Suite::full}},
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "time_atomics",
               .sass = {{"ATOMG.E.OR.64", kAtomics + 1, INT_MAX, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
