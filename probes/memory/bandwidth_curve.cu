// SPDX-License-Identifier: Apache-2.0
// Bandwidth of reading, writing, copying and a triad (one word from two) over the footprint, by
// access width: from L1 over L2 to the memory behind it, all SMs at once, each on a part of its
// own, over and over.
//
// A thread has 32 to 64 bytes under way, an SM 32 to 64 KiB: what Little's law asks for at the
// memory's loaded latency (probes/memory/hbm.cuh). Loads are ordinary ones that L1 may serve, in
// part also where it holds less than what is read; stores go through to L2. So what L2 alone gives
// is for memory/l2/read to say, and shows here where stores bound the rate.
//
// Parts of their own are as many streams through memory as there are SMs. "copy/b128_front" copies
// the same with all SMs at one moving front, SM b at every b-th round of the array, as memory/hbm
// does: what that gains beyond L2 is DRAM's pages being used up before they are closed.
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/ptx/load_store.cuh"
#include "probes/memory/rate.hpp"

namespace {

constexpr int kThreads = 1024;
constexpr std::uint64_t kGranule = 64 << 10;  // bytes: a multiple of every round of a CTA

template <int kBytes>
struct Words {
  std::uint32_t word[kBytes / 4];
};

// Accesses of 32 bytes exist on sm_100 and newer only; elsewhere their kernels are empty.
template <int kBytes>
__device__ constexpr bool exists() {
#if __CUDA_ARCH__ >= 1000
  return true;
#else
  return kBytes < 32;
#endif
}

template <int kBytes>
__device__ Words<kBytes> load(const char* address) {
  Words<kBytes> v = {};
  if constexpr (exists<kBytes>()) assay::ptx::load_words(v.word, address);
  return v;
}

template <int kBytes>
__device__ void store(char* address, const Words<kBytes>& v) {
  if constexpr (exists<kBytes>()) assay::ptx::store_words(address, v.word);
}

// CTA b has bytes b * part .. of the arrays, or at a front each so many-th round of them; `part`
// is a multiple of kGranule.
struct Parts {
  const char *in, *in2;
  char* out;
  std::uint64_t part;
  std::uint32_t* sums;  // one of each thread
};

template <int kBytes>
constexpr int kUnroll = kBytes == 4    ? 8
                        : kBytes == 32 ? 2
                                       : 64 / kBytes;

// Calls `body` with the offset of this thread's first access of each round of its CTA.
template <int kBytes, bool kFront = false, class F>
__device__ void each_round(std::int64_t passes, std::uint64_t part, const F& body) {
  constexpr std::uint64_t kRound = std::uint64_t{kThreads} * kBytes * kUnroll<kBytes>;
  const std::uint64_t first = blockIdx.x * (kFront ? kRound : part) + threadIdx.x * kBytes;
  const std::uint64_t ctas = kFront ? gridDim.x : 1;
#pragma unroll 1
  for (std::int64_t pass = 0; pass < passes; ++pass)
#pragma unroll 1
    for (std::uint64_t at = first; at < first + part * ctas; at += kRound * ctas) body(at);
}

template <int kBytes>
__global__ void __launch_bounds__(kThreads)
    read_parts(std::int64_t passes, Parts p, assay::StopwatchRecord* records) {
  std::uint32_t sum = 0;
  const assay::Stopwatch stopwatch;
  each_round<kBytes>(passes, p.part, [&](std::uint64_t at) {
    Words<kBytes> v[kUnroll<kBytes>];
#pragma unroll
    for (int i = 0; i < kUnroll<kBytes>; ++i)
      v[i] = load<kBytes>(p.in + at + i * kThreads * kBytes);
#pragma unroll
    for (const auto& words : v)
#pragma unroll
      for (const std::uint32_t word : words.word) sum += word;
  });
  stopwatch.stop(records);
  p.sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

// Every word is its own index, modulo 2^32.
template <int kBytes>
__global__ void __launch_bounds__(kThreads)
    write_parts(std::int64_t passes, Parts p, assay::StopwatchRecord* records) {
  const assay::Stopwatch stopwatch;
  each_round<kBytes>(passes, p.part, [&](std::uint64_t at) {
#pragma unroll
    for (int i = 0; i < kUnroll<kBytes>; ++i) {
      const std::uint64_t here = at + i * kThreads * kBytes;
      Words<kBytes> v;
#pragma unroll
      for (int w = 0; w < kBytes / 4; ++w) v.word[w] = static_cast<std::uint32_t>(here / 4) + w;
      store<kBytes>(p.out + here, v);
    }
  });
  stopwatch.stop(records);
}

template <int kBytes, bool kFront>
__global__ void __launch_bounds__(kThreads)
    copy_parts(std::int64_t passes, Parts p, assay::StopwatchRecord* records) {
  const assay::Stopwatch stopwatch;
  each_round<kBytes, kFront>(passes, p.part, [&](std::uint64_t at) {
    Words<kBytes> v[kUnroll<kBytes>];
#pragma unroll
    for (int i = 0; i < kUnroll<kBytes>; ++i)
      v[i] = load<kBytes>(p.in + at + i * kThreads * kBytes);
#pragma unroll
    for (int i = 0; i < kUnroll<kBytes>; ++i)
      store<kBytes>(p.out + at + i * kThreads * kBytes, v[i]);
  });
  stopwatch.stop(records);
}

constexpr std::uint32_t kFactor = 3;

template <int kBytes>
__global__ void __launch_bounds__(kThreads)
    triad_parts(std::int64_t passes, Parts p, assay::StopwatchRecord* records) {
  const assay::Stopwatch stopwatch;
  each_round<kBytes>(passes, p.part, [&](std::uint64_t at) {
    Words<kBytes> a[kUnroll<kBytes>], b[kUnroll<kBytes>];
#pragma unroll
    for (int i = 0; i < kUnroll<kBytes>; ++i) {
      a[i] = load<kBytes>(p.in + at + i * kThreads * kBytes);
      b[i] = load<kBytes>(p.in2 + at + i * kThreads * kBytes);
    }
#pragma unroll
    for (int i = 0; i < kUnroll<kBytes>; ++i) {
#pragma unroll
      for (int w = 0; w < kBytes / 4; ++w) a[i].word[w] += kFactor * b[i].word[w];
      store<kBytes>(p.out + at + i * kThreads * kBytes, a[i]);
    }
  });
  stopwatch.stop(records);
}

// Adds to `wrong` what of the last launch is not as it must be; plain code, a word at a time.
__global__ void check_sums(Parts p, int bytes, std::uint32_t passes, std::uint32_t* wrong) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(p.in + blockIdx.x * p.part);
  const std::uint64_t apart = std::uint64_t{kThreads} * bytes / 4;
  std::uint32_t once = 0;
  for (std::uint64_t at = std::uint64_t{threadIdx.x} * bytes / 4; at < p.part / 4; at += apart)
    for (int w = 0; w < bytes / 4; ++w) once += words[at + w];
  if (p.sums[blockIdx.x * kThreads + threadIdx.x] != once * passes) atomicAdd(wrong, 1);
}
__global__ void check_words(Parts p, std::uint32_t* wrong) {
  const auto* in = reinterpret_cast<const std::uint32_t*>(p.in);
  const auto* in2 = reinterpret_cast<const std::uint32_t*>(p.in2);
  const std::uint64_t first = blockIdx.x * p.part / 4;
  for (std::uint64_t at = first + threadIdx.x; at < first + p.part / 4; at += kThreads) {
    const auto found = reinterpret_cast<const std::uint32_t*>(p.out)[at];
    const auto expected =
        in ? in[at] + (in2 ? kFactor * in2[at] : 0) : static_cast<std::uint32_t>(at);
    if (found != expected) atomicAdd(wrong, 1);
  }
}

using Kernel = void (*)(std::int64_t, Parts, assay::StopwatchRecord*);
struct Variant {
  const char* operation;
  int bytes;
  const char* name;
  Kernel kernel;
  bool front = false;
};
constexpr Variant kVariants[] = {{"read", 16, "read_parts<16>", read_parts<16>},
                                 {"read", 8, "read_parts<8>", read_parts<8>},
                                 {"read", 4, "read_parts<4>", read_parts<4>},
                                 {"read", 32, "read_parts<32>", read_parts<32>},
                                 {"write", 16, "write_parts<16>", write_parts<16>},
                                 {"write", 8, "write_parts<8>", write_parts<8>},
                                 {"write", 4, "write_parts<4>", write_parts<4>},
                                 {"write", 32, "write_parts<32>", write_parts<32>},
                                 {"copy", 16, "copy_parts<16, false>", copy_parts<16, false>},
                                 {"copy", 16, "copy_parts<16, true>", copy_parts<16, true>, true},
                                 {"copy", 8, "copy_parts<8, false>", copy_parts<8, false>},
                                 {"copy", 4, "copy_parts<4, false>", copy_parts<4, false>},
                                 {"copy", 32, "copy_parts<32, false>", copy_parts<32, false>},
                                 {"triad", 16, "triad_parts<16>", triad_parts<16>},
                                 {"triad", 8, "triad_parts<8>", triad_parts<8>},
                                 {"triad", 4, "triad_parts<4>", triad_parts<4>},
                                 {"triad", 32, "triad_parts<32>", triad_parts<32>}};

// Arrays read and written.
int inputs(const std::string& operation) {
  return operation == "write" ? 0 : operation == "triad" ? 2 : 1;
}
int outputs(const std::string& operation) { return operation != "read"; }

const Variant& variant_of(const assay::Case& c) {
  return *std::ranges::find_if(kVariants, [&](const Variant& v) {
    return v.operation == c.text("operation") && v.bytes == c.i64("access_bytes") &&
           v.front == (c.text("order") == "front");
  });
}

// Bytes of one SM: fine steps where L1 and L2 are full, then powers of two.
std::vector<std::uint64_t> parts_to(std::uint64_t most) {
  std::vector<std::uint64_t> parts;
  for (std::uint64_t granules = 1; granules <= 12 && granules * kGranule <= most; ++granules)
    parts.push_back(granules * kGranule);
  for (std::uint64_t part = 16 * kGranule; part <= most; part *= 2) parts.push_back(part);
  return parts;
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  const std::string operation = v.operation;
  const int read = inputs(operation), written = outputs(operation), moved = read + written;
  const auto ctas = static_cast<unsigned>(s.device().sm_count);
  const std::uint64_t most =
      std::min(s.device().memory_bytes / 16, std::uint64_t{4} << 30) / ctas / kGranule * kGranule;
  const std::vector<std::uint64_t> parts = parts_to(std::max(most, kGranule));
  const std::uint64_t array = parts.back() * ctas;
  const auto input = [&](bool used, std::uint64_t salt) -> const char* {
    if (!used) return nullptr;
    char* data = s.allocate<char>(array);
    s.fill_random_bits(data, array, salt);
    return data;
  };
  Parts p{.in = input(read > 0, 0),
          .in2 = input(read > 1, 1),
          .out = written ? s.allocate<char>(array) : nullptr,
          .sums = s.allocate<std::uint32_t>(std::size_t{ctas} * kThreads)};
  auto* wrong = s.allocate<std::uint32_t>(1);

  assay::Series gb_per_s{"bandwidth_gb_per_s", "GB/s", {{"footprint_bytes", {}}}, {}};
  assay::Series per_clock{"bytes_per_clock_per_sm", "B/clk/SM", {{"footprint_bytes", {}}}, {}};
  for (const std::uint64_t part : parts) {
    p.part = part;
    if (written) assay::check(cudaMemsetAsync(p.out, 0xff, part * ctas, s.stream()));
    std::int64_t passes = 0;
    const assay::Rate rate = assay::rate_once(s, [&](const assay::Launch& l) {
      v.kernel<<<ctas, kThreads, 0, l.stream>>>(l.iterations, p, l.records);
      passes = l.iterations;
    });
    assay::check(cudaMemsetAsync(wrong, 0, sizeof(*wrong), s.stream()));
    if (written)
      check_words<<<ctas, kThreads, 0, s.stream()>>>(p, wrong);
    else
      check_sums<<<ctas, kThreads, 0, s.stream()>>>(p, v.bytes, static_cast<std::uint32_t>(passes),
                                                    wrong);
    assay::check(cudaGetLastError());
    s.require(assay::download(wrong, 1, s.stream()).front() == 0,
              "of " + std::to_string(part) + " bytes per SM, not all arrived as they should");

    const double bytes = static_cast<double>(part) * moved;
    for (assay::Series* series : {&gb_per_s, &per_clock})
      series->axes[0].points.emplace_back(static_cast<std::int64_t>(part * ctas));
    gb_per_s.add(bytes * ctas / rate.ns);
    per_clock.add(bytes / rate.cycles);
  }
  // Well inside L2, the best of what no L1 bounds; and the largest footprint.
  double l2 = 0;
  for (std::size_t i = 0; i < parts.size() && written; ++i)
    if (parts[i] * ctas * moved >= s.device().l2_bytes / 3 &&
        parts[i] * ctas * moved <= s.device().l2_bytes * 2 / 3)
      l2 = std::max(l2, gb_per_s.values[i]);
  s.limit("memory_gb_per_s", assay::dram_limit(s.device()));
  s.add_exact("memory_gb_per_s", "GB/s", assay::Better::higher, gb_per_s.values.back());
  if (l2 > 0) s.add_exact("l2_gb_per_s", "GB/s", assay::Better::higher, l2);
  s.add_exact("smallest_bytes_per_clock_per_sm", "B/clk/SM", assay::Better::higher,
              per_clock.values.front());
  s.add_series(std::move(gb_per_s));
  s.add_series(std::move(per_clock));
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const Variant& v : kVariants) {
    all.push_back({.name = std::string(v.operation) + "/b" + std::to_string(v.bytes * 8) +
                           (v.front ? "_front" : ""),
                   .params = {{"operation", v.operation},
                              {"access_bytes", v.bytes},
                              {"order", v.front ? "front" : "parts"}},
                   .suite = assay::Suite::full});
    if (v.bytes == 32) all.back().targets = assay::targets_with(assay::Feature::wide_loads);
  }
  return all;
}

const assay::Registration registration{{
    .name = "memory/bandwidth_curve",
    .question = "How does bandwidth fall with the footprint, from L1 to L2 to memory, by access "
                "width, for reading, writing, copying and a triad?",
    .metrics =
        {{"bandwidth_gb_per_s",
          "Bytes read and written in a second by all SMs, over the footprint."},
         {"bytes_per_clock_per_sm",
          "Bytes read and written in a cycle by one SM, over the footprint."},
         {"memory_gb_per_s", "Bandwidth at the largest footprint, far beyond L2."},
         {"l2_gb_per_s",
          "Best bandwidth at footprints between a third and two thirds of L2, of what writes."},
         {"smallest_bytes_per_clock_per_sm",
          "Bytes that one SM moves in a cycle at the smallest footprint."}},
    .cases = cases(),
    .pace = assay::Pace::dram,
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const Variant& v = variant_of(c);
          const int unroll = v.bytes == 4 ? 8 : v.bytes == 32 ? 2 : 64 / v.bytes;
          const int loads = inputs(v.operation) * unroll, stores = outputs(v.operation) * unroll;
          return std::vector<assay::KernelUse>{
              {.kernel = v.name, .sass = {{"LDG", loads, loads}, {"STG", stores, stores}}}};
        },
    .run = run,
}};

}  // namespace
