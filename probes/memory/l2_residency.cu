// SPDX-License-Identifier: Apache-2.0
// What keeps data in L2: an array of a quarter of L2 is read, then one of four times L2 is streamed
// past it, then the first is read again against the clock. How fast that goes shows how much of it
// stayed: with no hint, with the stream marked evict_first, with the array marked evict_last, and
// with a persisting access policy window over the array (CUDA C++ Programming Guide, "L2
// set-aside"). Beside them the upper end: nothing streamed. The time is from the first CTA's start
// to the last one's stop, since a launch takes longer than such a read.
#include <algorithm>
#include <string>

#include "harness/device.hpp"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/memory/hbm.cuh"

namespace {

constexpr int kThreads = 512;

struct Span {
  unsigned long long start_ns, stop_ns;
};

enum Hint : int { kNormal, kFirst, kLast };

__global__ void __launch_bounds__(kThreads)
    read_hinted(const uint4* data, std::size_t vectors, int hint, std::uint32_t* sums, Span* span) {
  if (threadIdx.x == 0) atomicMin(&span->start_ns, assay::ptx::globaltimer());
  std::uint64_t normal, first, last;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
  const std::uint64_t policy = hint == kFirst ? first : hint == kLast ? last : normal;
  std::uint32_t bits = 0;
#pragma unroll 4
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vectors;
       i += std::size_t{gridDim.x} * kThreads) {
    uint4 v;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(data + i), "l"(policy)
                 : "memory");
    bits ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  bits = __reduce_xor_sync(~0u, bits);
  if (threadIdx.x % 32 == 0)
    atomicXor(&sums[(blockIdx.x * kThreads + threadIdx.x) / 32 % assay::kHbmSums], bits);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&span->stop_ns, assay::ptx::globaltimer());
}

struct Way {
  const char* name;
  Hint array, stream;
  bool window, streamed;
};
constexpr Way kWays[] = {{"undisturbed", kNormal, kNormal, false, false},
                         {"no_hint", kNormal, kNormal, false, true},
                         {"stream_evict_first", kNormal, kFirst, false, true},
                         {"array_evict_last", kLast, kNormal, false, true},
                         {"both_hints", kLast, kFirst, false, true},
                         {"persisting_window", kNormal, kNormal, true, true}};

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

void run(assay::State& s) {
  const std::size_t bytes = s.device().l2_bytes / 4 >> 20 << 20;
  const std::size_t streamed = 4 * s.device().l2_bytes;
  auto* array = s.allocate<uint4>(bytes / sizeof(uint4));
  auto* stream = s.allocate<uint4>(streamed / sizeof(uint4));
  auto* sums = s.allocate<std::uint32_t>(assay::kHbmSums);
  auto* span = s.allocate<Span>(1);
  s.fill_random_bits(array, bytes, 1);
  s.fill_random_bits(stream, streamed, 2);
  s.set_param("array_bytes", static_cast<std::int64_t>(bytes));
  s.set_param("streamed_bytes", static_cast<std::int64_t>(streamed));
  const std::uint32_t right = assay::combined_bits(s, array, bytes);
  const auto ctas = static_cast<unsigned>(s.device().sm_count * 4);
  const auto read = [&](const uint4* data, std::size_t count, Hint hint) {
    read_hinted<<<ctas, kThreads, 0, s.stream()>>>(data, count / sizeof(uint4), hint, sums, span);
  };
  assay::check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes));
  assay::Series series{"bandwidth_gb_per_s", "GB/s", {{"way", {}}}, {}};
  for (const Way& way : kWays) {
    if (way.window) set_window(s, array, bytes);
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
      read(array, bytes, way.array);
      if (way.streamed) read(stream, streamed, way.stream);
      assay::check(cudaMemsetAsync(sums, 0, assay::kHbmSums * sizeof(*sums), s.stream()));
      constexpr Span kNone = {~0ull, 0};
      assay::check(
          cudaMemcpyAsync(span, &kNone, sizeof(kNone), cudaMemcpyHostToDevice, s.stream()));
      read(array, bytes, way.array);
      const Span found = assay::download(span, 1, s.stream()).front();
      times.push_back(static_cast<double>(found.stop_ns - found.start_ns));
      s.require(assay::combined_bits(s, sums, assay::kHbmSums * sizeof(*sums)) == right,
                "what was read does not combine to the bits of the array");
    }
    if (way.window) set_window(s, nullptr, 0);
    assay::check(cudaCtxResetPersistingL2Cache());
    series.axes[0].points.emplace_back(std::string(way.name));
    series.values.push_back(static_cast<double>(bytes) / assay::median(times));
    s.add_exact(std::string(way.name) + "_gb_per_s", "GB/s", assay::Better::higher,
                series.values.back());
  }
  assay::check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
  s.add_series(std::move(series));
}

const assay::Registration registration{{
    .name = "memory/l2_residency",
    .question = "How much of an array stays in L2 while others stream past it, with eviction hints "
                "and with a persisting window?",
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "read_hinted", .sass = {{"LDG.E", 4, 4}}}};
        },
    .run = run,
}};

}  // namespace
