// SPDX-License-Identifier: Apache-2.0
// What keeps data in L2: an array is read, then one of four times L2 is streamed past it, read or
// written, then the first is read again against the clock. How fast that goes shows how much of it
// stayed: with no hint, with the stream marked evict_first (or stored by st.cs), with the array
// marked evict_last, and with a persisting access policy window over the array (CUDA C++
// Programming Guide, "L2 set-aside"), which loads with a hint of their own would override. Each
// with nothing set aside for persisting lines, as much as the array, and all there may be; an L2 of
// two partitions that keeps copies in both needs twice the array. Beside them the upper end:
// nothing streamed. The time is from the first CTA's start to the last one's stop, since a launch
// takes longer than such a read.
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/cache_policy.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/memory/hbm.cuh"

namespace {

constexpr int kThreads = 512;

struct Span {
  unsigned long long start_ns, stop_ns;
};

enum Hint : int { kNone, kFirst, kLast, kStreaming };

__device__ std::uint64_t policy_of(int hint) {
  const auto first = assay::ptx::create_policy<assay::ptx::Eviction::first>();
  const auto last = assay::ptx::create_policy<assay::ptx::Eviction::last>();
  return hint == kFirst ? first : last;
}

template <bool kHinted>
__global__ void __launch_bounds__(kThreads)
    read_array(const uint4* data, std::size_t vectors, int hint, std::uint32_t* sums, Span* span) {
  if (threadIdx.x == 0) atomicMin(&span->start_ns, assay::ptx::globaltimer());
  [[maybe_unused]] const std::uint64_t policy = policy_of(hint);
  std::uint32_t bits = 0;
#pragma unroll 4
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vectors;
       i += std::size_t{gridDim.x} * kThreads) {
    uint4 v;
    if constexpr (kHinted)
      v = assay::ptx::load_v4_hinted(data + i, policy);
    else
      v = assay::ptx::load_v4_not_to_l1(data + i);
    bits ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  bits = __reduce_xor_sync(~0u, bits);
  if (threadIdx.x % 32 == 0)
    atomicXor(&sums[(blockIdx.x * kThreads + threadIdx.x) / 32 % assay::kHbmSums], bits);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&span->stop_ns, assay::ptx::globaltimer());
}

__global__ void __launch_bounds__(kThreads)
    write_array(uint4* data, std::size_t vectors, int hint, std::uint32_t word) {
  const uint4 v = {word, word, word, word};
  const std::uint64_t policy = policy_of(hint);
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vectors;
       i += std::size_t{gridDim.x} * kThreads) {
    if (hint == kNone)
      assay::ptx::store_v4(data + i, v);
    else if (hint == kStreaming)
      assay::ptx::store_v4_once(data + i, v);
    else
      assay::ptx::store_v4_hinted(data + i, v, policy);
  }
}

struct Way {
  const char* name;
  Hint array, stream;
  bool window, streamed, writes;
};
constexpr Way kWays[] = {{"undisturbed", kNone, kNone, false, false, false},
                         {"no_hint", kNone, kNone, false, true, false},
                         {"stream_evict_first", kNone, kFirst, false, true, false},
                         {"array_evict_last", kLast, kNone, false, true, false},
                         {"both_hints", kLast, kFirst, false, true, false},
                         {"persisting_window", kNone, kNone, true, true, false},
                         {"written_no_hint", kNone, kNone, false, true, true},
                         {"written_evict_first", kNone, kFirst, false, true, true},
                         {"written_streaming", kNone, kStreaming, false, true, true},
                         {"written_array_evict_last", kLast, kNone, false, true, true},
                         {"written_persisting_window", kNone, kNone, true, true, true}};

void set_window(assay::State& s, void* base, std::size_t bytes) {
  cudaStreamAttrValue value = {};
  value.accessPolicyWindow.base_ptr = base;
  value.accessPolicyWindow.num_bytes = bytes;
  value.accessPolicyWindow.hitRatio = bytes ? 1.f : 0.f;
  value.accessPolicyWindow.hitProp =
      bytes ? cudaAccessPropertyPersisting : cudaAccessPropertyNormal;
  value.accessPolicyWindow.missProp =
      bytes ? cudaAccessPropertyStreaming : cudaAccessPropertyNormal;
  assay::check(cudaStreamSetAttribute(s.stream(), cudaStreamAttributeAccessPolicyWindow, &value));
}

class Bench {
 public:
  explicit Bench(assay::State& s)
      : s_(s),
        streamed_(4 * s.device().l2_bytes),
        array_(s.allocate<uint4>(s.device().l2_bytes / sizeof(uint4))),
        stream_(s.allocate<uint4>(streamed_ / sizeof(uint4))),
        sums_(s.allocate<std::uint32_t>(assay::kHbmSums)),
        span_(s.allocate<Span>(1)) {
    s.fill_random_bits(array_, s.device().l2_bytes, 1);
    s.fill_random_bits(stream_, streamed_, 2);
    s.set_param("streamed_bytes", static_cast<std::int64_t>(streamed_));
  }

  // GB/s at which the first `bytes` of the array are read again.
  double again(const Way& way, std::size_t bytes) {
    const std::uint32_t right = assay::combined_bits(s_, array_, bytes);
    if (way.window) set_window(s_, array_, bytes);
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
      read(array_, bytes, way.array);
      if (way.streamed && way.writes)
        write_array<<<ctas(), kThreads, 0, s_.stream()>>>(stream_, streamed_ / sizeof(uint4),
                                                          way.stream, 5);
      else if (way.streamed)
        read(stream_, streamed_, way.stream);
      assay::check(cudaMemsetAsync(sums_, 0, assay::kHbmSums * sizeof(*sums_), s_.stream()));
      constexpr Span kUnset = {~0ull, 0};
      assay::check(
          cudaMemcpyAsync(span_, &kUnset, sizeof(kUnset), cudaMemcpyHostToDevice, s_.stream()));
      read(array_, bytes, way.array);
      const Span found = assay::download(span_, 1, s_.stream()).front();
      times.push_back(static_cast<double>(found.stop_ns - found.start_ns));
      s_.require(assay::combined_bits(s_, sums_, assay::kHbmSums * sizeof(*sums_)) == right,
                 "what was read does not combine to the bits of the array");
    }
    if (way.window) set_window(s_, nullptr, 0);
    assay::check(cudaCtxResetPersistingL2Cache());
    return static_cast<double>(bytes) / assay::median(times);
  }

 private:
  unsigned ctas() const { return static_cast<unsigned>(s_.device().sm_count * 4); }
  void read(const uint4* data, std::size_t bytes, Hint hint) {
    const auto kernel = hint == kNone ? read_array<false> : read_array<true>;
    kernel<<<ctas(), kThreads, 0, s_.stream()>>>(data, bytes / sizeof(uint4), hint, sums_, span_);
    assay::check(cudaGetLastError());
  }

  assay::State& s_;
  std::size_t streamed_;
  uint4 *array_, *stream_;
  std::uint32_t* sums_;
  Span* span_;
};

// Sets aside as much of L2 for persisting lines, or what of it there may be; returns how much.
std::size_t set_aside(std::size_t bytes) {
  std::size_t found = 0;
  assay::check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes));
  assay::check(cudaDeviceGetLimit(&found, cudaLimitPersistingL2CacheSize));
  return found;
}

void run(assay::State& s) {
  Bench bench(s);
  int most = 0;
  assay::check(
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, s.device().index));
  const std::size_t full = s.device().l2_bytes >> 20 << 20;
  assay::Series series{"bandwidth_gb_per_s",
                       "GB/s",
                       {{"array_bytes", {}}, {"set_aside_bytes", {}}, {"way", {}}},
                       {}};
  for (const Way& way : kWays) series.axes[2].points.emplace_back(std::string(way.name));
  constexpr std::size_t kSetAsides = 3;
  for (const std::size_t bytes : {full / 16, full / 4}) {
    series.axes[0].points.emplace_back(static_cast<std::int64_t>(bytes));
    for (const std::size_t aside : {std::size_t{0}, full / 4, static_cast<std::size_t>(most)}) {
      const std::size_t got = set_aside(std::min(aside, static_cast<std::size_t>(most)));
      if (series.axes[1].points.size() < kSetAsides)
        series.axes[1].points.emplace_back(static_cast<std::int64_t>(got));
      for (const Way& way : kWays) series.values.push_back(bench.again(way, bytes));
    }
  }
  set_aside(0);
  // A quarter of L2 with the most set aside.
  const auto* last = series.values.data() + series.values.size() - std::size(kWays);
  for (std::size_t i = 0; i < std::size(kWays); ++i)
    s.add_exact(std::string(kWays[i].name) + "_gb_per_s", "GB/s", assay::Better::higher, last[i]);
  s.add_exact("most_set_aside_bytes", "byte", assay::Better::higher, most);
  s.add_series(std::move(series));
}

const assay::Registration registration{{
    .name = "memory/l2_residency",
    .question = "How much of an array stays in L2 while others stream past it, with eviction hints "
                "and with a persisting window?",
    .metrics =
        {{"bandwidth_gb_per_s",
          "Bandwidth of reading the array again, by its size, the L2 set aside and the way to keep "
          "it."},
         {"undisturbed_gb_per_s",
          "Bandwidth of reading the array again with nothing streamed past it."},
         {"no_hint_gb_per_s",
          "Bandwidth of reading the array again after a stream was read without any hint."},
         {"stream_evict_first_gb_per_s",
          "Bandwidth of reading the array again after a stream was read that is marked "
          "evict_first."},
         {"array_evict_last_gb_per_s",
          "Bandwidth of reading the array again after a stream was read, the array marked "
          "evict_last."},
         {"both_hints_gb_per_s",
          "Bandwidth of reading the array again, itself marked evict_last and the stream "
          "evict_first."},
         {"persisting_window_gb_per_s",
          "Bandwidth of reading the array again after a stream was read, with a persisting window "
          "over the array."},
         {"written_no_hint_gb_per_s",
          "Bandwidth of reading the array again after a stream was written without any hint."},
         {"written_evict_first_gb_per_s",
          "Bandwidth of reading the array again after a stream was written that is marked "
          "evict_first."},
         {"written_streaming_gb_per_s",
          "Bandwidth of reading the array again after a stream was written by streaming stores, "
          "st.cs."},
         {"written_array_evict_last_gb_per_s",
          "Bandwidth of reading the array again after a stream was written, the array marked "
          "evict_last."},
         {"written_persisting_window_gb_per_s",
          "Bandwidth of reading the array again after a stream was written, with a persisting "
          "window over the array."},
         {"most_set_aside_bytes",
          "Bytes of L2 that may be set aside for persisting lines at most."}},
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "read_array<false>", .sass = {{"LDG.E", 4, 4}}},
              {.kernel = "read_array<true>", .sass = {{"LDG.E", 4, 4}}},
              {.kernel = "write_array",
               .sass = {{"STG.E", 3, INT_MAX, assay::SassWhere::kernel},
                        {"STG.E.EF", 1, INT_MAX, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
