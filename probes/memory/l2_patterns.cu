// SPDX-License-Identifier: Apache-2.0
// What the read bandwidth of L2 depends on: which SM reads what in which order, the footprint, the
// kind and number of loads under way, how many threads, and how many SMs take part. The patterns
// are those of probes/memory/l2_shapes.hpp.
//
// memory/l2/read_chunks samples "chunks" at footprints that others published, by loads that no L1
// may serve, with "chunks_32kib" at the same footprint beside it.
//
// Loads through L1 are there beside: where CTAs of an SM read the same chunk some of them are hits
// in L1, so that through_l1_gb_per_s is more than L2 delivers.
//
// How addresses fall on the slices of L2 is a matter of the physical pages, so that arrays differ:
// figures are medians over several.
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/memory/l2_shapes.hpp"
#include "probes/memory/vector_sum.hpp"

namespace {

using assay::Shape;
using assay::Walk;

constexpr int kMaxThreads = 1024, kArrays = 3, kSums = 1024;
enum Load : int { kPastL1, kThroughL1, kNotKept };

template <int kBytes, int kLoad>
__device__ void load_words(const char* at, uint4& v) {
  if constexpr (kBytes == 8) {
    const uint2 half = assay::ptx::load_v2_l2(reinterpret_cast<const uint2*>(at));
    v = {half.x, half.y, 0, 0};
  } else if constexpr (kLoad == kPastL1) {
    v = assay::ptx::load_v4_l2(reinterpret_cast<const uint4*>(at));
  } else if constexpr (kLoad == kThroughL1) {
    v = assay::ptx::load_v4(reinterpret_cast<const uint4*>(at));
  } else {
    v = assay::ptx::load_v4_constant_not_to_l1(reinterpret_cast<const uint4*>(at));
  }
}

template <int kVectors, int kBytes, int kLoad>
__global__ void __launch_bounds__(kMaxThreads)
    read_rows(const char* data, Walk walk, std::uint32_t* sums) {
  const std::uint32_t row_bytes = blockDim.x * kBytes;
  std::uint32_t row = blockIdx.x % walk.wrap * walk.apart % walk.rows;
  const std::uint32_t limit = walk.own ? row + walk.span : walk.span;
  const char* mine = data + threadIdx.x * kBytes;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < walk.loads; i += kVectors) {
    uint4 v[kVectors];
#pragma unroll
    for (uint4& vector : v) {
      load_words<kBytes, kLoad>(mine + std::size_t{row} * row_bytes, vector);
      row += walk.step;
      row = row >= limit ? row - walk.span : row;
    }
#pragma unroll
    for (const uint4& vector : v) sum += assay::vector_sum(vector);
  }
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(&sums[(blockIdx.x * 32 + threadIdx.x / 32) % kSums], sum);
}

__global__ void add_words(const std::uint32_t* words, std::size_t count, std::uint32_t* sum) {
  std::uint32_t mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += words[i];
  atomicAdd(sum, mine);
}

struct Variant {
  const char *name, *kernel_name, *sass;
  void (*kernel)(const char*, Walk, std::uint32_t*);
  int vectors, bytes;
};
constexpr Variant kVariants[] = {
    {"8x16B", "read_rows<8, 16, 0>", "LDG.E.128.STRONG.GPU", read_rows<8, 16, kPastL1>, 8, 16},
    {"4x16B", "read_rows<4, 16, 0>", "LDG.E.128.STRONG.GPU", read_rows<4, 16, kPastL1>, 4, 16},
    {"2x16B", "read_rows<2, 16, 0>", "LDG.E.128.STRONG.GPU", read_rows<2, 16, kPastL1>, 2, 16},
    {"1x16B", "read_rows<1, 16, 0>", "LDG.E.128.STRONG.GPU", read_rows<1, 16, kPastL1>, 1, 16},
    {"8x8B", "read_rows<8, 8, 0>", "LDG.E.64.STRONG.GPU", read_rows<8, 8, kPastL1>, 8, 8},
    {"4x8B", "read_rows<4, 8, 0>", "LDG.E.64.STRONG.GPU", read_rows<4, 8, kPastL1>, 4, 8},
    {"8x16B_through_l1", "read_rows<8, 16, 1>", "LDG.E.128", read_rows<8, 16, kThroughL1>, 8, 16},
    {"8x16B_not_kept", "read_rows<8, 16, 2>", "LDG.E.NA.128.CONSTANT", read_rows<8, 16, kNotKept>,
     8, 16},
};
constexpr const Variant &kUsual = kVariants[0], &kCached = kVariants[6], &kUncached = kVariants[7];

// One launch of many passes through the array.
struct Job {
  const Variant* variant;
  std::string pattern;
  int threads;
  std::uint32_t row_bytes;
  Shape shape;

  double bytes() const { return static_cast<double>(shape.ctas) * shape.walk.loads * row_bytes; }
  std::size_t footprint() const { return std::size_t{shape.walk.rows} * row_bytes; }
};

class Bench {
 public:
  explicit Bench(assay::State& s)
      : s_(s),
        apart_(s.device().l2_bytes),
        data_(s.allocate<char>(apart_ * kArrays)),
        sums_(s.allocate<std::uint32_t>(kSums)) {
    s.fill_random_bits(data_, apart_ * kArrays);
  }

  // A pattern on all SMs, or as many CTAs as `sms` of them hold; see assay::shape_of() for
  // `per_cta`.
  Job job(const Variant& v, const std::string& pattern, int threads, int ctas_per_sm,
          std::uint32_t per_cta, int sms = 0) const {
    const auto resident = static_cast<std::uint32_t>((sms ? sms : s_.device().sm_count)) *
                          static_cast<std::uint32_t>(ctas_per_sm);
    const auto row_bytes = static_cast<std::uint32_t>(threads * v.bytes);
    return {&v, pattern, threads, row_bytes,
            assay::shape_of(pattern, resident, per_cta, row_bytes)};
  }

  void launch(const Job& job, int array, cudaStream_t stream) {
    job.variant->kernel<<<job.shape.ctas, job.threads, 0, stream>>>(array_of(array), job.shape.walk,
                                                                    sums_);
    assay::check(cudaGetLastError());
  }

  // What the SMs receive from each of the arrays, GB/s, after a check of what they read.
  std::vector<double> rates(const Job& job) {
    const auto& [ctas, walk] = job.shape;
    std::vector<double> rates;
    for (int array = 0; array < kArrays; ++array) {
      Job warm = job;  // a short one first: what it reads lies in L2
      warm.shape.ctas = std::min<std::uint32_t>(ctas, 8192);
      warm.shape.walk.loads = std::min(walk.loads, 8 * walk.span);
      launch(warm, array, s_.stream());
      assay::check(cudaMemsetAsync(sums_, 0, kSums * sizeof(*sums_), s_.stream()));
      assay::delay(20'000, s_.stream());
      begin_.record(s_.stream());
      launch(job, array, s_.stream());
      end_.record(s_.stream());
      rates.push_back(job.bytes() / assay::elapsed_ns(begin_, end_));
      const std::uint32_t found = sum_of(sums_, kSums);
      const auto times = static_cast<std::uint32_t>(std::uint64_t{ctas} * walk.loads / walk.rows);
      const std::uint32_t right = times * sum_of(array_of(array), job.footprint() / 4);
      s_.require(found == right, job.pattern + ": what was read adds up to " +
                                     std::to_string(found) + ", not " + std::to_string(right));
    }
    return rates;
  }
  double rate(const Job& job) { return assay::median(rates(job)); }

 private:
  const char* array_of(int array) const { return data_ + static_cast<std::size_t>(array) * apart_; }
  std::uint32_t sum_of(const void* words, std::size_t count) {
    const assay::Buffer sum(sizeof(std::uint32_t));
    assay::check(cudaMemsetAsync(sum.data(), 0, sum.bytes(), s_.stream()));
    add_words<<<256, 256, 0, s_.stream()>>>(static_cast<const std::uint32_t*>(words), count,
                                            sum.as<std::uint32_t>());
    return assay::download(sum.as<const std::uint32_t>(), 1, s_.stream()).front();
  }

  assay::State& s_;
  std::size_t apart_;
  char* data_;
  std::uint32_t* sums_;
  assay::Event begin_, end_;
};

using assay::Better;
using assay::Series;

constexpr int kThreads = 256, kCtasPerSm = 4;  // where only the pattern varies

int even_sms(assay::State& s) {
  const int sms = s.device().sm_count / 2 * 2;
  if (sms == 0) s.skip("this GPU has only one SM, which shares with none");
  return sms;
}
// The footprint of one row of each resident CTA: 2.06 MiB on 132 SMs.
std::uint64_t row_of_all(int sms) {
  return std::uint64_t{kThreads} * kCtasPerSm * 16 * static_cast<unsigned>(sms);
}

// One footprint, sampled: chunks that SMs share, and beside them lines that each SM has alone.
void run_chunks(assay::State& s) {
  const auto wanted = static_cast<std::uint64_t>(s.i64("footprint_mib")) << 20;
  if (wanted > s.device().l2_bytes) s.skip("the array is larger than L2");
  const int sms = even_sms(s);
  const std::uint64_t unit = row_of_all(sms);
  const auto per_cta = static_cast<std::uint32_t>(std::max((wanted + unit / 2) / unit, 1ul));
  Bench bench(s);
  const Job job = bench.job(kUncached, "chunks", kThreads, kCtasPerSm, per_cta, sms);
  s.set_param("footprint_bytes", static_cast<std::int64_t>(job.footprint()));
  bench.rates(job);  // for the check
  s.time({.bytes = job.bytes()}, [&](cudaStream_t stream) { bench.launch(job, 0, stream); });
  s.add_metric("each_line_to_one_sm_gb_per_s", "GB/s", Better::higher,
               bench.rates(bench.job(kUsual, "chunks_32kib", kThreads, kCtasPerSm, per_cta, sms)));
}

// Every pattern over the footprint, by where the loads may be served.
void run_patterns(assay::State& s) {
  Bench bench(s);
  const int sms = even_sms(s);
  const std::uint64_t unit = row_of_all(sms);
  Series series{
      "bandwidth_gb_per_s", "GB/s", {{"load", {}}, {"pattern", {}}, {"footprint_bytes", {}}}, {}};
  std::vector<std::uint32_t> parts;
  for (const std::uint32_t part : {2u, 4u, 6u, 8u, 10u, 12u, 14u, 16u, 20u, 24u})
    if (part * unit <= s.device().l2_bytes) parts.push_back(part);
  if (parts.empty()) s.skip("L2 is too small for two rows of each SM");
  for (const char* pattern : assay::kL2Patterns)
    series.axes[1].points.emplace_back(std::string(pattern));
  for (const std::uint32_t part : parts)
    series.axes[2].points.emplace_back(static_cast<std::int64_t>(part * unit));
  double best = 0, alone = 0, through_l1 = 0;
  for (const Variant* v : {&kUncached, &kUsual, &kCached}) {
    series.axes[0].points.emplace_back(std::string(v->name));
    for (const std::string pattern : assay::kL2Patterns)
      for (const std::uint32_t part : parts) {
        const double rate = bench.rate(bench.job(*v, pattern, kThreads, kCtasPerSm, part, sms));
        series.values.push_back(rate);
        const bool chunks = pattern.starts_with("chunks");
        if (part * unit < 20 << 20 || part * unit > 32 << 20) continue;
        if (v == &kCached) {
          if (chunks) through_l1 = std::max(through_l1, rate);
          continue;
        }
        if (assay::exclusive(pattern)) alone = std::max(alone, rate);
        if ((chunks || assay::exclusive(pattern)) && rate > best) {
          best = rate;
          s.set_param("pattern", pattern);
          s.set_param("loads", v->name);
          s.set_param("footprint_bytes", static_cast<std::int64_t>(part * unit));
        }
      }
  }
  if (best > 0) {  // at 20 to 32 MiB, which this L2 holds
    s.add_exact("bandwidth_gb_per_s", "GB/s", Better::higher, best);
    s.add_exact("each_line_to_one_sm_gb_per_s", "GB/s", Better::higher, alone);
    s.add_exact("through_l1_gb_per_s", "GB/s", Better::higher, through_l1);
  } else {
    s.add_exact("most_gb_per_s", "GB/s", Better::higher, std::ranges::max(series.values));
  }
  s.add_series(std::move(series));
}

// A third of L2, each line read by one SM: by what is under way, how, and on how many SMs.
void run_loads(assay::State& s) {
  Bench bench(s);
  const auto part_bytes = static_cast<std::uint32_t>(s.device().l2_bytes / 3 / s.device().sm_count);
  Series by_kernel{
      "bandwidth_gb_per_s", "GB/s", {{"pattern", {}}, {"loads", {}}, {"threads_per_sm", {}}}, {}};
  constexpr int kThreads[] = {256, 512, 1024, 2048};
  for (const int threads : kThreads) by_kernel.axes[2].points.emplace_back(std::int64_t{threads});
  double best = 0;
  for (const std::string pattern : {"own", "dealt"}) {
    by_kernel.axes[0].points.emplace_back(pattern);
    for (const Variant& v : kVariants) {
      if (&v == &kCached) continue;  // a part may fit L1
      if (by_kernel.axes[0].points.size() == 1)
        by_kernel.axes[1].points.emplace_back(std::string(v.name));
      for (const int threads : kThreads) {
        // CTAs dealt out fill the SM whatever is asked for.
        const bool dealt = pattern == "dealt";
        const int ctas = dealt ? 8 : threads > 512 ? 2 : 1, each = threads / ctas;
        int fit = 0;
        assay::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, v.kernel, each, 0));
        const auto rows = part_bytes / static_cast<std::uint32_t>(threads * v.bytes);
        const bool possible = rows > 0 && (dealt ? threads == 2048 : fit >= ctas);
        by_kernel.values.push_back(possible ? bench.rate(bench.job(v, pattern, each, ctas, rows))
                                            : NAN);
        if (possible && by_kernel.values.back() > best) {
          best = by_kernel.values.back();
          s.set_param("best",
                      pattern + ", " + v.name + ", " + std::to_string(threads) + " threads");
        }
      }
    }
  }
  Series by_sms{"gb_per_s_per_sm", "GB/s", {{"sms", {}}}, {}};
  for (int sms = 1;; sms = std::min(2 * sms, s.device().sm_count)) {
    const auto rows = part_bytes / (1024 * 16);
    by_sms.axes[0].points.emplace_back(std::int64_t{sms});
    by_sms.values.push_back(bench.rate(bench.job(kUsual, "own", 1024, 1, std::max(rows, 1u), sms)) /
                            sms);
    if (sms == s.device().sm_count) break;
  }
  s.add_exact("best_gb_per_s", "GB/s", Better::higher, best);
  s.add_exact("gb_per_s_of_one_sm", "GB/s", Better::higher, by_sms.values.front());
  s.add_exact("gb_per_s_per_sm_of_all", "GB/s", Better::higher, by_sms.values.back());
  s.add_series(std::move(by_kernel));
  s.add_series(std::move(by_sms));
}

std::vector<assay::KernelUse> uses_of(std::initializer_list<const Variant*> variants) {
  std::vector<assay::KernelUse> uses;
  for (const Variant* v : variants)
    uses.push_back({.kernel = v->kernel_name, .sass = {{v->sass, v->vectors, v->vectors}}});
  return uses;
}

assay::Case chunks_of(int mib, assay::Suite suite) {
  return {.name = std::to_string(mib) + "mib", .params = {{"footprint_mib", mib}}, .suite = suite};
}

const assay::Registration chunks{{
    .name = "memory/l2/read_chunks",
    .question = "How fast do all SMs together read an array that fits in L2: in chunks that "
                "several read at about the same time, and each line by one SM alone?",
    .metrics = {{"each_line_to_one_sm_gb_per_s",
                 "Bandwidth at the same footprint when each line is read by one SM alone."}},
    .cases = {chunks_of(8, assay::Suite::full), chunks_of(20, assay::Suite::quick),
              chunks_of(30, assay::Suite::full)},
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return uses_of({&kUncached, &kUsual});
        },
    .run = run_chunks,
}};
const assay::Registration patterns{{
    .name = "memory/l2/read_patterns",
    .question = "How does the read bandwidth of L2 depend on the footprint and on which SMs read "
                "the same, with and without L1?",
    .metrics = {{"bandwidth_gb_per_s",
                 "Bytes read in a second by all SMs; the figure is the best pattern at 20 to 32 "
                 "MiB that L2 alone serves."},
                {"each_line_to_one_sm_gb_per_s",
                 "Best bandwidth at 20 to 32 MiB when each line is read by one SM alone."},
                {"through_l1_gb_per_s",
                 "Best bandwidth of chunks at 20 to 32 MiB by loads that L1 may serve: more than "
                 "L2 delivers."},
                {"most_gb_per_s",
                 "Best bandwidth at any footprint, where L2 does not hold 20 MiB."}},
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return uses_of({&kUsual, &kUncached, &kCached});
        },
    .run = run_patterns,
}};
const assay::Registration loads{{
    .name = "memory/l2/read_loads",
    .question = "Which loads, how many under way and on how many SMs does it take to get all that "
                "L2 gives?",
    .metrics =
        {{"bandwidth_gb_per_s",
          "Bytes read in a second by all SMs, by pattern, kind of load and threads of an SM."},
         {"best_gb_per_s", "Best bandwidth of any pattern, kind of load and number of threads."},
         {"gb_per_s_per_sm", "Bytes that one SM reads from L2 in a second, by how many SMs read."},
         {"gb_per_s_of_one_sm", "Bytes that one SM reads from L2 in a second when no other reads."},
         {"gb_per_s_per_sm_of_all", "Bytes that one SM reads from L2 in a second when all read."}},
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          std::vector<assay::KernelUse> uses;
          for (const Variant& v : kVariants) uses.push_back(uses_of({&v}).front());
          return uses;
        },
    .run = run_loads,
}};

}  // namespace
