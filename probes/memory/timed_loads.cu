// SPDX-License-Identifier: Apache-2.0
// Latencies by another method, to tell method from chip: one thread reads the clock before and
// after each load of a chain i = table[i] and keeps every difference. That is how mt4g, whose
// figures of an H100 are published (github.com/caps-tum/mt4g, src/benchmarks/*/latency), takes
// them: constant, shared, L1 and L2 walk along neighbouring words of 1 KiB, memory goes over 1 GiB
// in random order, by ld.cv with a membar.gl between the readings.
//
// In L1 and shared memory the word is stored to shared memory before the second reading, which a
// warp, issuing in order, can only come to when it is there: store and reading are counted. In the
// others nothing makes the second reading wait: the warp meets the load's latency where the next
// address is wanted, in part before the first reading, so that what the code between two loads
// takes is missing. An unbroken chain (memory/*/latency) has neither fault.
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/stopwatch.cuh"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/memory/ring.hpp"

namespace {

constexpr int kLoads = 256;
constexpr std::uint32_t kSmall = 256;  // words walked one after another
enum Kind : int { kConstant, kShared, kL1, kL2, kMemory, kMemoryFenced };

__constant__ std::uint32_t constant_table[kSmall];

// table[i * stride] names the index to go on with.
template <int kKind>
__global__ void time_each(const std::uint32_t* table, std::uint32_t* index, std::uint32_t* cycles) {
  __shared__ std::uint32_t shared_table[kSmall], taken[kLoads];
  __shared__ volatile std::uint32_t seen;
  if constexpr (kKind == kShared)
    for (std::uint32_t i = 0; i < kSmall; ++i) shared_table[i] = table[i];
  std::uint32_t at = *index;
  const auto load = [&] {
    if constexpr (kKind == kConstant) {
      at = *const_cast<const volatile std::uint32_t*>(&constant_table[at]);
    } else if constexpr (kKind == kShared) {
      at = *const_cast<const volatile std::uint32_t*>(&shared_table[at]);
    } else if constexpr (kKind == kL1) {
      at = assay::ptx::load_u32_l1(table + at);
    } else if constexpr (kKind == kL2) {
      at = assay::ptx::load_u32_l2(table + at);
    } else {
      at = assay::ptx::load_u32_volatile(table + at);
      if constexpr (kKind == kMemoryFenced) assay::ptx::fence_sc<assay::ptx::FenceScope::gpu>();
    }
  };
  if constexpr (kKind < kMemory)
#pragma unroll 1
    for (int i = 0; i < kLoads; ++i) load();
#pragma unroll 1
  for (int i = 0; i < kLoads; ++i) {
    const std::uint32_t start = assay::ptx::clock32();
    load();
    if constexpr (kKind == kShared || kKind == kL1) seen = at;
    taken[i] = assay::ptx::clock32() - start;
  }
  for (int i = 0; i < kLoads; ++i) cycles[i] = taken[i];
  *index = at;
}

struct Variant {
  const char *name, *kernel_name, *sass;
  void (*kernel)(const std::uint32_t*, std::uint32_t*, std::uint32_t*);
  bool memory;
};
constexpr Variant kVariants[] = {
    {"constant", "time_each<0>", "LDC", time_each<kConstant>, false},
    {"shared", "time_each<1>", "LDS", time_each<kShared>, false},
    {"l1", "time_each<2>", "LDG.E", time_each<kL1>, false},
    {"l2", "time_each<3>", "LDG.E.STRONG.GPU", time_each<kL2>, false},
    {"dram", "time_each<4>", "LDG.E.STRONG.SYS", time_each<kMemory>, true},
    {"dram_fenced", "time_each<5>", "LDG.E.STRONG.SYS", time_each<kMemoryFenced>, true}};

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find(kVariants, c.text("level"), &Variant::name);
}

// Word t of a walk: one after another, or one of each KiB in pseudo-random order.
struct Table {
  std::uint32_t count, stride, shuffled;
  __host__ __device__ std::uint32_t word(std::uint32_t step) const {
    step %= count;
    return (shuffled ? assay::shuffle_within(step, count) : step) * stride;
  }
};

__global__ void lay(Table table, std::uint32_t* words) {
  for (std::uint32_t step = blockIdx.x * blockDim.x + threadIdx.x; step < table.count;
       step += gridDim.x * blockDim.x)
    words[table.word(step)] = table.word(step + 1);
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  constexpr std::size_t kGiB = std::size_t{1} << 30;
  if (v.memory && 8 * s.device().l2_bytes > kGiB)
    s.skip("L2 is so large that it would hold much of the 1 GiB");
  const Table table = v.memory ? Table{kGiB / 1024, 256, 1} : Table{kSmall, 1, 0};
  auto* words = s.allocate<std::uint32_t>(std::size_t{table.count} * table.stride);
  auto* index = s.allocate<std::uint32_t>(1);
  auto* cycles = s.allocate<std::uint32_t>(kLoads);
  lay<<<1024, 256, 0, s.stream()>>>(table, words);
  assay::check(cudaGetLastError());
  if (!v.memory)
    assay::check(cudaMemcpyToSymbolAsync(constant_table, words, sizeof(constant_table), 0,
                                         cudaMemcpyDeviceToDevice, s.stream()));
  // Each launch goes on where the last one came to; those before the second may meet cold code.
  std::vector<double> all;
  std::uint32_t steps = 0;
  assay::check(cudaMemsetAsync(index, 0, sizeof(*index), s.stream()));
  for (int launch = 0; launch < 9; ++launch) {
    v.kernel<<<1, 1, 0, s.stream()>>>(words, index, cycles);
    assay::check(cudaGetLastError());
    steps += v.memory ? kLoads : 2 * kLoads;
    const std::uint32_t found = assay::download(index, 1, s.stream()).front();
    s.require(found == table.word(steps), "a chain ended at word " + std::to_string(found) +
                                              ", not " + std::to_string(table.word(steps)));
    if (launch > 0)
      for (const std::uint32_t c : assay::download(cycles, kLoads, s.stream())) all.push_back(c);
  }
  std::ranges::sort(all);
  double sum = 0;
  for (const double c : all) sum += c;
  using assay::Better;
  s.add_exact("mean_cycles", "cycle", Better::lower, sum / static_cast<double>(all.size()));
  s.add_exact("median_cycles", "cycle", Better::lower, assay::median(all));
  s.add_exact("p95_cycles", "cycle", Better::lower, all[all.size() * 95 / 100]);
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const Variant& v : kVariants)
    all.push_back({.name = v.name, .params = {{"level", v.name}}, .suite = assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "memory/timed_loads",
    .question = "What do latencies look like when each load is timed by itself, as some published "
                "ones were?",
    .metrics =
        {{"mean_cycles", "Mean of the differences between the clock after a load and before it."},
         {"median_cycles",
          "Median of the differences between the clock after a load and before it."},
         {"p95_cycles",
          "The 95th percentile of the differences between the clock after a load and before it."}},
    .cases = cases(),
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const Variant& v = variant_of(c);
          return std::vector<assay::KernelUse>{
              {.kernel = v.kernel_name, .sass = {{v.sass, 1, INT_MAX, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
