// SPDX-License-Identifier: Apache-2.0
// What the time of a fence at GPU scope is made of. fence.acq_rel.gpu is a MEMBAR, which waits
// until the GPU sees what was written before, and CCTL.IVALL, which empties L1. The release of a
// word in shared memory has the MEMBAR alone, and an acquire there CCTL.IVALL alone.
//
// What leaves the SM takes longer from some SMs than from others (the spread), and after a store to
// some lines of L2 than to others; what stays in the SM takes as long everywhere. Whether a fence
// waits for stores that are under way, or for any since the fence before, tells a store that is
// read back before the fence: it is done by then. The same loop without the fence is taken off.
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/state.hpp"

namespace {

constexpr int kFences = 4, kWarp = 32, kMostStores = 16;
constexpr int kLineWords = 32;  // a store of a warp fills a line
// Of the map by line: lines lie 33 x 4 KiB apart, since the home changes every 4 KiB, and a
// distance that is no power of two brings them from many places of the hash
// (probes/memory/l2_map.cu).
constexpr int kLines = 64, kApartWords = 33 * 1024;
enum Part : int { kAcqRel, kSc, kRelease, kAcquire, kNothing };
constexpr int kReadBack = 2;  // in place of a number of stores: one, and the line read from L2

template <int kPart>
__device__ void part(std::uint32_t* word) {
  using assay::ptx::FenceScope;
  if constexpr (kPart == kAcqRel) assay::ptx::fence_acq_rel<FenceScope::gpu>();
  if constexpr (kPart == kSc) assay::ptx::fence_sc<FenceScope::gpu>();
  if constexpr (kPart == kRelease) assay::ptx::increment_release_shared(word);
  if constexpr (kPart == kAcquire) assay::ptx::load_acquire_shared(word);
}

template <int kPart, int kStores>
__global__ void __launch_bounds__(kWarp)
    parts(std::int64_t iterations, std::uint32_t* lines, assay::StopwatchRecord* records) {
  __shared__ std::uint32_t words[kFences];
  std::uint32_t* mine = lines + blockIdx.x * kMostStores * kLineWords + threadIdx.x;
  std::uint32_t count = 0;
  words[threadIdx.x % kFences] = 0;
  __syncwarp();
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int n = 0; n < kFences; ++n) {
      ++count;
#pragma unroll
      for (int k = 0; k < (kStores == kReadBack ? 1 : kStores); ++k)
        *const_cast<volatile std::uint32_t*>(mine + k * kLineWords) = count;
      if constexpr (kStores == kReadBack) count = assay::ptx::load_relaxed(mine);
      part<kPart>(&words[n]);
    }
  }
  stopwatch.stop(records);
}

// Page-locked memory of the CPU.
class CpuWords {
 public:
  explicit CpuWords(std::size_t count) {
    assay::check(cudaMallocHost(&words_, count * sizeof(std::uint32_t)));
  }
  ~CpuWords() { cudaFreeHost(words_); }
  CpuWords(const CpuWords&) = delete;  // one owner
  CpuWords& operator=(const CpuWords&) = delete;
  std::uint32_t* data() const { return words_; }

 private:
  std::uint32_t* words_ = nullptr;
};

using Kernel = void (*)(std::int64_t, std::uint32_t*, assay::StopwatchRecord*);
struct Variant {
  const char *name, *sass;
  Kernel none, one, four, sixteen, read_back;
};
template <int kPart>
constexpr Variant variant(const char* name, const char* sass) {
  return {name,
          sass,
          parts<kPart, 0>,
          parts<kPart, 1>,
          parts<kPart, 4>,
          parts<kPart, 16>,
          parts<kPart, kReadBack>};
}
constexpr Variant kVariants[] = {
    variant<kAcqRel>("acq_rel", "MEMBAR.ALL.GPU"), variant<kSc>("sc", "MEMBAR.SC.GPU"),
    variant<kRelease>("release", "MEMBAR.ALL.GPU"), variant<kAcquire>("acquire", "CCTL.IVALL")};

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find(kVariants, c.name, [](const Variant& v) { return v.name; });
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  const int ctas = s.device().sm_count;
  const std::size_t words = std::max<std::size_t>(
      std::size_t{kMostStores} * kLineWords * static_cast<unsigned>(ctas), kLines * kApartWords);
  auto* const memory = s.allocate<std::uint32_t>(words);
  const CpuWords of_cpu(words);
  std::int64_t last = 0;  // iterations of the last launch
  const auto with = [&last](Kernel kernel, int grid, std::uint32_t* lines) {
    return [=, &last](const assay::Launch& l) {
      kernel<<<grid, kWarp, 0, l.stream>>>(last = l.iterations, lines, l.records);
    };
  };
  s.cycles({.steps = kFences}, with(v.none, ctas, memory));
  const auto once = [&](Kernel kernel, int grid, std::uint32_t* lines) {
    const assay::Estimate cycles = s.cycles_once(with(kernel, grid, lines)) / kFences;
    std::uint32_t found = 0;
    assay::check(cudaMemcpy(&found, lines, sizeof found, cudaMemcpyDefault));
    s.require(kernel == v.none || found == static_cast<std::uint32_t>(last * kFences),
              "the last store is not what memory holds");
    return cycles;
  };
  const auto add = [&s](const char* name, double cycles) {
    s.add_exact(name, "cycle", assay::Better::lower, cycles);
  };
  add("latency_cycles_on_one_sm", once(v.none, 1, memory));
  const double loop = once(parts<kNothing, kReadBack>, ctas, memory);
  add("latency_cycles_of_store_and_load", loop);
  s.may_be_negative("latency_cycles_after_settled_store");
  add("latency_cycles_after_settled_store", once(v.read_back, ctas, memory) - loop);

  assay::Series by_stores{
      .name = "latency_cycles_by_stores",
      .unit = "cycle",
      .axes = {{"memory", {std::string("gpu"), std::string("cpu")}},
               {"stores", {std::int64_t{1}, std::int64_t{4}, std::int64_t{16}}}}};
  for (auto* lines : {memory, of_cpu.data()})
    for (const Kernel kernel : {v.one, v.four, v.sixteen}) by_stores.add(once(kernel, ctas, lines));
  s.add_series(std::move(by_stores));
  assay::Series by_line{.name = "latency_cycles_by_line", .unit = "cycle", .axes = {{"line", {}}}};
  for (int line = 0; line < kLines; ++line) {
    by_line.axes[0].points.emplace_back(std::int64_t{line});
    by_line.add(once(v.one, 1, memory + std::ptrdiff_t{line} * kApartWords));
  }
  s.add_series(std::move(by_line));
}

const assay::Registration registration{{
    .name = "sync/fence_parts",
    .question = "Which part of a fence at GPU scope takes how long, and does it leave the SM?",
    .metrics =
        {{"latency_cycles", "Cycles of that part of a fence, of one warp with nothing under way."},
         {"latency_cycles_on_one_sm",
          "The same while no other SM does anything: what SMs cost one another is not in it."},
         {"latency_cycles_of_store_and_load",
          "Cycles of a store to global memory and of a load from L2 that reads it back, without a "
          "fence."},
         {"latency_cycles_after_settled_store",
          "Cycles that it adds to a store and a load that reads it back, so that nothing is under "
          "way any more."},
         {"latency_cycles_by_stores",
          "Cycles of so many stores to lines of the GPU's or the CPU's memory, and of that part."},
         {"latency_cycles_by_line",
          "Cycles from a store of one SM until it is done, by line of memory."}},
    .cases = {{.name = "acq_rel", .suite = assay::Suite::full},
              {.name = "sc", .suite = assay::Suite::full},
              {.name = "release",
               .targets = assay::targets_with(assay::Feature::clusters),
               .suite = assay::Suite::full},
              {.name = "acquire",
               .targets = assay::targets_with(assay::Feature::clusters),
               .suite = assay::Suite::full}},
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const Variant& v = variant_of(c);
          const std::string index = std::to_string(&v - kVariants);
          std::vector<assay::KernelUse> uses;
          for (const int stores : {0, 1, 4, 16, kReadBack}) {
            assay::KernelUse use{.kernel = "parts<" + index + ", " + std::to_string(stores) + ">",
                                 .sass = {{v.sass, kFences, kFences}}};
            const int written = kFences * (stores == kReadBack ? 1 : stores);
            use.sass.push_back({"STG", written, written});
            const int read = stores == kReadBack ? kFences : 0;
            use.sass.push_back({"LDG", read, read});
            // One half of a fence has nothing of the other.
            if (v.name == std::string("release")) use.sass.push_back({"CCTL.IVALL", 0, 0});
            if (v.name == std::string("acquire")) use.sass.push_back({"MEMBAR", 0, 0});
            uses.push_back(std::move(use));
          }
          uses.push_back({.kernel = "parts<4, 2>",
                          .sass = {{"LDG", kFences, kFences}, {"STG", kFences, kFences}}});
          return uses;
        },
    .run = run,
}};

}  // namespace
