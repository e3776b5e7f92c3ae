// SPDX-License-Identifier: Apache-2.0
// What comes along with a load. A first load brings its line's sector from DRAM; how long a second
// takes, so many bytes further on, shows where that was: in L1, which keeps sectors, in L2, which
// fetches more of the line than was asked for, or still in memory. Prefetch hints of the first load
// (PTX ISA 9.0, "ld": .level::prefetch_size) make L2 fetch more.
//
// And how many lines L1 holds by their stride: bytes held grow with the stride once it passes the
// line, and the count falls where lines meet in the same sets. A cache of W ways whose sets are
// plain bits of the address would hold W of them at a stride of its size or more.
#include <algorithm>
#include <cmath>
#include <string>

#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/stopwatch.cuh"
#include "harness/statistics.hpp"
#include "probes/memory/chase_plan.hpp"

namespace {

using namespace assay;

constexpr std::uint32_t kApart = 16 << 10;  // bytes from one first load to the next: all else fresh
constexpr int kSamples = 64;
constexpr std::uint32_t kDistances[] = {4,   16,  32,  48,  64,  96,  128,  160,  192,
                                        224, 256, 320, 384, 512, 768, 1024, 2048, 4096};
constexpr int kDistanceCount = static_cast<int>(std::size(kDistances));

struct Distances {
  std::uint32_t bytes[kDistanceCount];
};

template <int kPrefetch>
__device__ std::uint32_t first_load(const char* at) {
  const auto* word = reinterpret_cast<const std::uint32_t*>(at);
  if constexpr (kPrefetch == 0)
    return ptx::load_u32(word);
  else
    return ptx::load_u32_prefetching<kPrefetch>(word);
}

// All words are kWord. Samples of all distances take turns.
constexpr std::uint32_t kWord = 0x01010101;

template <int kPrefetch>
__global__ void time_second(const char* data, Distances distances, std::uint32_t* cycles,
                            std::uint32_t* wrong) {
  for (int sample = 0; sample < kSamples; ++sample)
    for (int d = 0; d < kDistanceCount; ++d) {
      const int place = sample * kDistanceCount + d;
      const char* first = data + std::size_t(place) * kApart;
      // Neither a later load nor the clock goes ahead of the branches on what was loaded; what L2
      // fetches on its own has half a microsecond to come.
      if (first_load<kPrefetch>(first) != kWord) atomicAdd(wrong, 1);
      for (const std::uint64_t begin = ptx::clock64(); ptx::clock64() - begin < 1000;) {
      }
      const std::uint64_t start = ptx::clock64();
      if (first_load<0>(first + distances.bytes[d]) != kWord) atomicAdd(wrong, 1);
      cycles[place] = static_cast<std::uint32_t>(ptx::clock64() - start);
    }
}

using Kernel = void (*)(const char*, Distances, std::uint32_t*, std::uint32_t*);
struct Variant {
  const char *prefetch, *name, *sass;
  Kernel kernel;
};
constexpr Variant kVariants[] = {{"none", "time_second<0>", "LDG.E", time_second<0>},
                                 {"64", "time_second<64>", "LDG.E.LTC64B", time_second<64>},
                                 {"128", "time_second<128>", "LDG.E.LTC128B", time_second<128>},
                                 {"256", "time_second<256>", "LDG.E.LTC256B", time_second<256>}};

void run_fill(State& s) {
  constexpr int kPlaces = kSamples * kDistanceCount;
  auto* data = s.allocate<char>(std::size_t{kPlaces} * kApart);
  auto* cycles = s.allocate<std::uint32_t>(kPlaces);
  auto* wrong = s.allocate<std::uint32_t>(1);
  const std::size_t flush_bytes = 2 * s.device().l2_bytes;
  auto* flush = s.allocate<char>(flush_bytes);
  check(cudaMemsetAsync(data, kWord & 0xff, std::size_t{kPlaces} * kApart, s.stream()));
  check(cudaMemsetAsync(wrong, 0, sizeof(*wrong), s.stream()));
  Distances distances = {};
  std::ranges::copy(kDistances, distances.bytes);
  Series series{"latency_cycles", "cycle", {{"prefetch", {}}, {"distance_bytes", {}}}, {}};
  for (const std::uint32_t bytes : kDistances)
    series.axes[1].points.emplace_back(std::int64_t{bytes});
  for (const Variant& v : kVariants) {
    series.axes[0].points.emplace_back(std::string(v.prefetch));
    overwrite(flush, flush_bytes, s.stream());
    v.kernel<<<1, 1, 0, s.stream()>>>(data, distances, cycles, wrong);
    check(cudaGetLastError());
    const auto found = download(cycles, kPlaces, s.stream());
    s.require(download(wrong, 1, s.stream()).front() == 0, "a load did not bring what lies there");
    for (int d = 0; d < kDistanceCount; ++d) {
      std::vector<double> samples;
      for (int i = 0; i < kSamples; ++i) samples.push_back(found[i * kDistanceCount + d]);
      series.add(estimate(samples));
    }
  }
  // The levels are known: the same word is in L1, the farthest in memory.
  const double l1 = series.values.front(), memory = series.values[kDistanceCount - 1];
  const auto reach = [&](std::size_t row, double above) {
    for (std::size_t d = 0; d < kDistanceCount; ++d)
      if (series.values[row * kDistanceCount + d] > above)
        return static_cast<double>(kDistances[d]);
    return static_cast<double>(kDistances[kDistanceCount - 1]);
  };
  s.add_exact("sector_bytes", "byte", Better::higher, reach(0, 2 * l1));
  for (std::size_t row = 0; row < std::size(kVariants); ++row)
    s.add_exact(row == 0 ? std::string("l2_fill_bytes")
                         : "l2_fill_bytes_of_" + std::string(kVariants[row].prefetch),
                "byte", Better::higher, reach(row, 0.75 * memory));
  s.add_series(std::move(series));
}

constexpr ChaseLoad kLoad = {"ca", "ld.global.ca.u64", 8, "LDG.E.64"};

void run_held(State& s) {
  constexpr std::uint64_t kMostStride = 1 << 20;
  const std::uint64_t l1_at_most = s.device().shared_bytes_per_sm + (64 << 10);
  const std::uint64_t bytes =
      std::min<std::uint64_t>(std::uint64_t{4} << 30, s.device().memory_bytes / 8);
  auto* base = s.allocate<char>(bytes);
  const auto latency = [&](std::uint32_t count, std::uint64_t stride) {
    return chase_points(s, kLoad, {{{base, count, stride}, true, false}}).front();
  };
  const double hit = latency(16, 128);
  Series series{"lines_held", "", {{"stride_bytes", {}}}, {}};
  double least = INFINITY, bytes_held = 0, most_lines = 0;
  for (std::uint64_t stride = 32; stride <= kMostStride; stride *= 2) {
    // Halving: of `low` nearly all are hits (a miss in fifty adds 15%), of `high` not.
    std::uint32_t low = 1;
    auto high = static_cast<std::uint32_t>(
        std::min(l1_at_most / std::min<std::uint64_t>(stride, 128), bytes / stride));
    while (high - low > std::max(low / 64, 1u)) {
      const std::uint32_t middle = (low + high) / 2;
      (latency(middle, stride) < 1.15 * hit ? low : high) = middle;
    }
    series.axes[0].points.emplace_back(static_cast<std::int64_t>(stride));
    series.values.push_back(low);
    if (stride == 32) bytes_held = 32. * low;
    if (stride >= 256) most_lines = std::max(most_lines, static_cast<double>(low));
    least = std::min(least, static_cast<double>(low));
  }
  s.add_exact("capacity_bytes", "byte", Better::higher, bytes_held);
  s.add_exact("line_bytes", "byte", Better::higher,
              std::exp2(std::round(std::log2(bytes_held / most_lines))));
  s.add_exact("fewest_lines_held", "", Better::higher, least);
  s.add_series(std::move(series));
}

const Registration fill{{
    .name = "memory/lines/fill",
    .question = "How many bytes does a load bring to L1, and how many to L2?",
    .metrics = {{"latency_cycles",
                 "Cycles of a second load by its distance from the first, for each prefetch hint "
                 "of the first."},
                {"sector_bytes", "Bytes that a load brings to L1."},
                {"l2_fill_bytes", "Bytes that a load without a hint brings to L2."},
                {"l2_fill_bytes_of_*",
                 "Bytes that a load with a prefetch hint of * bytes brings to L2."}},
    .cases = {{.suite = Suite::full}},
    .pace = Pace::dram,
    .kernels =
        [](const Case&, Target) {
          std::vector<KernelUse> uses;
          for (const Variant& v : kVariants)
            uses.push_back({.kernel = v.name, .sass = {{v.sass, 1}}});
          return uses;
        },
    .run = run_fill,
}};
const Registration held{{
    .name = "memory/lines/l1",
    .question = "How many lines does L1 hold by the distance between them, how long is one, and "
                "do plain bits of the address choose its set?",
    .metrics = {{"lines_held", "Places that L1 holds at once, by the distance between them."},
                {"capacity_bytes", "Bytes that L1 holds."},
                {"line_bytes",
                 "Length of a line, from how many places L1 holds at wide distances."},
                {"fewest_lines_held", "Fewest places that L1 holds at any distance."}},
    .cases = {{.suite = Suite::full}},
    .kernels = [](const Case&, Target target) { return std::vector{chase_use(kLoad, target)}; },
    .run = run_held,
}};

}  // namespace
