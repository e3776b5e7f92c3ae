// SPDX-License-Identifier: Apache-2.0
// Latency of device memory under load: one SM chases while all others read or write at a set pace.
//
// The others' pace is set by a pause between rounds of 64 KiB an SM; what they moved while the
// chase went on is the achieved bandwidth beside its latency. Without a pause, and with part of the
// rounds writing, that is also the bandwidth of a mix of reads and writes.
#include <algorithm>

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/statistics.hpp"
#include "probes/memory/chase.hpp"

namespace {

using assay::Line;

constexpr int kThreads = 1024, kVectors = 4;
constexpr std::uint64_t kRound = std::uint64_t{kThreads} * kVectors * sizeof(uint4);
constexpr int kSteps = 2048;                 // of the chase
constexpr int kBits = 21;                    // of its ring of lines: 256 MiB, a part of it walked
constexpr std::uint32_t kWord = 0x01010101;  // what all of the array holds

struct Traffic {
  uint4* array;
  std::uint64_t part;          // bytes of each SM, a multiple of kRound
  std::uint32_t pause;         // cycles between rounds
  std::uint32_t writes_of_16;  // rounds of each 16 that write
};
// One of each CTA, on a line of its own: were there one for all, its slice of L2 would be busy with
// nothing else.
struct alignas(128) Phase {
  std::uint32_t now;
};
enum : std::uint32_t { kBefore, kDuring, kAfter };  // the chase

struct Signals {
  std::uint32_t started, wrong;
  std::uint64_t ns, cycles;  // of the chase
  Line* end;
};

// The answer to whether the chase goes on is asked for with a round's data and used after it.
__device__ void make_traffic(const Traffic& t, Signals* signals, Phase* phases,
                             std::uint64_t* rounds) {
  uint4* mine = t.array + blockIdx.x * (t.part / sizeof(uint4)) + threadIdx.x;
  const uint4 all = {kWord, kWord, kWord, kWord};
  std::uint64_t offset = 0, during = 0;
  std::uint32_t sum = 0, reads = 0;
  if (threadIdx.x == 0) atomicAdd(&signals->started, 1);
  for (std::uint32_t round = 0, phase = kBefore; phase != kAfter; ++round) {
    uint4* here = mine + offset / sizeof(uint4);
    phase = assay::ptx::load_relaxed(&phases[blockIdx.x].now);
    if (round % 16 < t.writes_of_16) {
#pragma unroll
      for (int i = 0; i < kVectors; ++i) assay::ptx::store_v4(here + i * kThreads, all);
    } else {
      uint4 v[kVectors];
#pragma unroll
      for (int i = 0; i < kVectors; ++i) v[i] = assay::ptx::load_v4(here + i * kThreads);
#pragma unroll
      for (const uint4& vector : v) sum += vector.x + vector.y + vector.z + vector.w;
      ++reads;
    }
    offset = offset + kRound < t.part ? offset + kRound : 0;
    during += phase == kDuring;
    for (const std::uint64_t begin = assay::ptx::clock64();
         assay::ptx::clock64() - begin < t.pause;) {
    }
  }
  if (sum != reads * kVectors * 4 * kWord) atomicAdd(&signals->wrong, 1);
  if (threadIdx.x % 32 == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&rounds[blockIdx.x]), during);
}

// CTA 0 chases, beginning when all others are at work; they end when it does.
__global__ void __launch_bounds__(kThreads, 1)
    load_and_chase(Traffic t, Line* line, Signals* signals, Phase* phases, std::uint64_t* rounds) {
  if (blockIdx.x > 0) return make_traffic(t, signals, phases, rounds);
  if (threadIdx.x > 0) return;
  const auto tell_all = [&](Phase phase) {
    for (unsigned cta = 1; cta < gridDim.x; ++cta) atomicExch(&phases[cta].now, phase.now);
  };
  while (assay::ptx::load_relaxed(&signals->started) < gridDim.x - 1) {
  }
  for (const std::uint64_t begin = assay::ptx::globaltimer();
       assay::ptx::globaltimer() - begin < 50'000;) {
  }  // until queues are as full as they get
  tell_all({kDuring});
  const std::uint64_t begin_ns = assay::ptx::globaltimer();
  const std::uint64_t begin = assay::ptx::clock64();
#pragma unroll 1
  for (int i = 0; i < kSteps; i += assay::kChaseSteps) {
#pragma unroll
    for (int step = 0; step < assay::kChaseSteps; ++step)
      line = assay::ptx::load_pointer_l2(&line->next);
  }
  signals->cycles = assay::ptx::clock64() - begin;
  signals->ns = assay::ptx::globaltimer() - begin_ns;
  signals->end = line;
  tell_all({kAfter});
}

struct Point {
  double gb_per_s, cycles;
};

class Bench {
 public:
  explicit Bench(assay::State& s) : s_(s) {
    const auto sms = static_cast<std::uint64_t>(s.device().sm_count);
    const std::uint64_t wanted = std::min(s.device().memory_bytes / 8, std::uint64_t{8} << 30);
    traffic_.part = wanted / sms / kRound * kRound;
    layout_ = {s.allocate<char>(std::size_t{sizeof(Line)} << kBits), 1u << kBits, sizeof(Line)};
    traffic_.array = s.allocate<uint4>(traffic_.part * sms / sizeof(uint4));
    signals_ = s.allocate<Signals>(1);
    phases_ = s.allocate<Phase>(sms);
    rounds_ = s.allocate<std::uint64_t>(sms);
    assay::check(cudaMemsetAsync(traffic_.array, kWord & 0xff, traffic_.part * sms, s.stream()));
    assay::tie_places(layout_, s.stream());
  }

  Point measure(std::uint32_t pause, std::uint32_t writes_of_16) {
    traffic_.pause = pause;
    traffic_.writes_of_16 = writes_of_16;
    const auto ctas = static_cast<unsigned>(s_.device().sm_count);
    std::vector<double> bandwidths, latencies;
    for (int i = 0; i < 3; ++i) {
      assay::check(cudaMemsetAsync(signals_, 0, sizeof(Signals), s_.stream()));
      assay::check(cudaMemsetAsync(phases_, 0, ctas * sizeof(Phase), s_.stream()));
      assay::check(cudaMemsetAsync(rounds_, 0, ctas * sizeof(*rounds_), s_.stream()));
      auto* first = reinterpret_cast<Line*>(layout_.at_step(steps_));
      Traffic traffic = traffic_;
      Signals* signals = signals_;
      Phase* phases = phases_;
      std::uint64_t* rounds = rounds_;
      void* arguments[] = {&traffic, &first, &signals, &phases, &rounds};
      // CTAs wait for one another: all must be on the GPU at once.
      assay::check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(load_and_chase), ctas,
                                               kThreads, arguments, 0, s_.stream()));
      const Signals found = assay::download(signals_, 1, s_.stream()).front();
      steps_ += kSteps;
      s_.require(reinterpret_cast<std::uint64_t>(found.end) == layout_.at_step(steps_),
                 "the chase ended on another line than its steps lead to");
      s_.require(found.wrong == 0, "a load of the traffic did not bring what the array holds");
      std::uint64_t all = 0;
      for (const std::uint64_t count : assay::download(rounds_, ctas, s_.stream())) all += count;
      bandwidths.push_back(static_cast<double>(all * (kRound / (kThreads / 32))) /
                           static_cast<double>(found.ns));
      latencies.push_back(static_cast<double>(found.cycles) / kSteps);
    }
    return {assay::median(bandwidths), assay::median(latencies)};
  }

 private:
  assay::State& s_;
  assay::PlaceLayout layout_ = {};
  Traffic traffic_ = {};
  Signals* signals_ = nullptr;
  Phase* phases_ = nullptr;
  std::uint64_t* rounds_ = nullptr;  // of each CTA's warps together
  std::uint32_t steps_ = 0;
};

void run_latency(assay::State& s) {
  Bench bench(s);
  assay::Series latency{"latency_cycles", "cycle", {{"pause_cycles", {}}}, {}};
  assay::Series bandwidth{"bandwidth_gb_per_s", "GB/s", {{"pause_cycles", {}}}, {}};
  s.limit("GB/s", assay::dram_limit(s.device()));
  const auto writes = static_cast<std::uint32_t>(s.i64("writes_of_16"));
  double half = 0;
  std::vector<Point> points;
  for (const std::uint32_t pause : {200000u, 65536u, 32768u, 16384u, 12288u, 8192u, 6144u, 5120u,
                                    4096u, 3584u, 3072u, 2560u, 2048u, 1536u, 1024u, 512u, 0u}) {
    points.push_back(bench.measure(pause, writes));
    for (assay::Series* series : {&latency, &bandwidth})
      series->axes[0].points.emplace_back(std::int64_t{pause});
    latency.values.push_back(points.back().cycles);
    bandwidth.values.push_back(points.back().gb_per_s);
  }
  const double most = std::ranges::max(bandwidth.values);
  for (const Point& point : points)
    if (point.gb_per_s <= 0.8 * most) half = point.cycles;
  using assay::Better;
  s.add_exact("idle_latency_cycles", "cycle", Better::lower, points.front().cycles);
  s.add_exact("latency_cycles_at_80_percent", "cycle", Better::lower, half);
  s.add_exact("full_load_latency_cycles", "cycle", Better::lower, points.back().cycles);
  s.add_exact("full_load_gb_per_s", "GB/s", Better::higher, most);
  s.add_series(std::move(latency));
  s.add_series(std::move(bandwidth));
}

void run_mix(assay::State& s) {
  Bench bench(s);
  assay::Series bandwidth{"bandwidth_gb_per_s", "GB/s", {{"writes_of_16", {}}}, {}};
  s.limit("GB/s", assay::dram_limit(s.device()));
  for (std::uint32_t writes = 0; writes <= 16; ++writes) {
    bandwidth.axes[0].points.emplace_back(std::int64_t{writes});
    bandwidth.values.push_back(bench.measure(0, writes).gb_per_s);
  }
  s.add_exact("read_gb_per_s", "GB/s", assay::Better::higher, bandwidth.values.front());
  s.add_exact("even_mix_gb_per_s", "GB/s", assay::Better::higher, bandwidth.values[8]);
  s.add_exact("write_gb_per_s", "GB/s", assay::Better::higher, bandwidth.values.back());
  s.add_series(std::move(bandwidth));
}

std::vector<assay::KernelUse> kernels(const assay::Case&, assay::Target) {
  return {{.kernel = "load_and_chase",
           .sass = {{"LDG.E.64.STRONG.GPU", assay::kChaseSteps, assay::kChaseSteps},
                    {"LDG.E.128", kVectors, kVectors, assay::SassWhere::kernel},
                    {"STG.E.128", kVectors, kVectors, assay::SassWhere::kernel}}}};
}

const assay::Registration loaded{{
    .name = "memory/loaded_latency",
    .question = "How long does a load from device memory take, by the bandwidth that other SMs "
                "use meanwhile?",
    .metrics = {{"latency_cycles",
                 "Cycles of a dependent load, by the pause that sets the pace of the other SMs."},
                {"bandwidth_gb_per_s",
                 "Bandwidth that the other SMs achieve, by the pause that sets their pace."},
                {"idle_latency_cycles", "Latency at the slowest pace, with next to no traffic."},
                {"latency_cycles_at_80_percent",
                 "Latency at the last pace whose bandwidth is no more than 80% of the best."},
                {"full_load_latency_cycles", "Latency while the other SMs never pause."},
                {"full_load_gb_per_s", "Best bandwidth of the other SMs at any pace."}},
    .cases = {{.name = "read", .params = {{"writes_of_16", 0}}, .suite = assay::Suite::full},
              {.name = "mixed", .params = {{"writes_of_16", 8}}, .suite = assay::Suite::full}},
    .pace = assay::Pace::dram,
    .kernels = kernels,
    .run = run_latency,
}};
const assay::Registration mix{{
    .name = "memory/read_write_mix",
    .question = "What bandwidth does device memory give to reads and writes at once?",
    .metrics = {{"bandwidth_gb_per_s",
                 "Bytes read and written in a second by all SMs, by the share of writes."},
                {"read_gb_per_s", "Bandwidth of reading alone."},
                {"even_mix_gb_per_s", "Bandwidth when half of the traffic is writes."},
                {"write_gb_per_s", "Bandwidth of writing alone."}},
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::dram,
    .kernels = kernels,
    .run = run_mix,
}};

}  // namespace
