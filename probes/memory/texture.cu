// SPDX-License-Identifier: Apache-2.0
// The texture path: linear memory read by tex1Dfetch. Latency is of i = texture[i] over the
// footprint, so a step is the fetch and nothing else: its coordinate is the index. For bandwidth
// all SMs fetch four-component texels, from what L1 (which is the texture cache too) holds and from
// an array that only L2 holds: no fetch goes past L1, so that each SM goes round ten times what it
// holds. Those parts overlap, and what SMs want of one line at about the same time is merged on its
// way: more arrives than L2 gives, as in memory/l2/read_chunks.
#include <algorithm>
#include <cmath>
#include <string>

#include "harness/device.hpp"
#include "harness/state.hpp"
#include "probes/memory/plateaus.hpp"
#include "probes/memory/rate.hpp"
#include "probes/memory/ring.hpp"
#include "probes/memory/vector_sum.hpp"

namespace {

constexpr int kSteps = 64, kThreads = 1024, kFetches = 4;
constexpr std::uint32_t kWordsOfLine = 32;
constexpr std::uint32_t kPartsOfSm = 16;  // together ten times L1

__global__ void chase_texture(std::int64_t iterations, cudaTextureObject_t texture,
                              std::uint32_t warm_steps, std::uint32_t* place,
                              assay::StopwatchRecord* records) {
  auto at = static_cast<int>(*place);
#pragma unroll 1
  for (std::uint32_t i = 0; i < warm_steps; ++i) at = tex1Dfetch<int>(texture, at);
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) at = tex1Dfetch<int>(texture, at);
  }
  stopwatch.stop(records);
  if (threadIdx.x == 0) *place = static_cast<std::uint32_t>(at);
}

// CTA b reads `rows` rows of kThreads texels from row b * apart, over and over.
__global__ void __launch_bounds__(kThreads)
    read_texture(std::int64_t iterations, cudaTextureObject_t texture, std::uint32_t apart,
                 std::uint32_t rows, std::uint32_t* sums, assay::StopwatchRecord* records) {
  const auto first = static_cast<int>(blockIdx.x * apart * kThreads + threadIdx.x);
  const auto end = static_cast<int>(rows * kThreads);
  std::uint32_t sum = 0;
  int at = 0;
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
    uint4 v[kFetches];
#pragma unroll
    for (uint4& texel : v) {
      texel = tex1Dfetch<uint4>(texture, first + at);
      at += kThreads;
      at = at == end ? 0 : at;
    }
#pragma unroll
    for (const uint4& texel : v) sum += assay::vector_sum(texel);
  }
  stopwatch.stop(records);
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

class Texture {
 public:
  Texture(void* data, std::size_t bytes, int components) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.sizeInBytes = bytes;
    resource.res.linear.desc =
        components == 4 ? cudaChannelFormatDesc{32, 32, 32, 32, cudaChannelFormatKindUnsigned}
                        : cudaChannelFormatDesc{32, 0, 0, 0, cudaChannelFormatKindSigned};
    const cudaTextureDesc texture = {};
    assay::check(cudaCreateTextureObject(&object_, &resource, &texture, nullptr));
  }
  ~Texture() { cudaDestroyTextureObject(object_); }
  Texture(const Texture&) = delete;  // one owner
  Texture& operator=(const Texture&) = delete;
  operator cudaTextureObject_t() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

// One word of each line, in pseudo-random order.
assay::Estimate latency_at(assay::State& s, std::uint32_t* data, std::uint32_t* place,
                           std::uint32_t lines) {
  std::vector<std::uint32_t> words(std::size_t{lines} * kWordsOfLine);
  const auto word = [&](std::uint32_t step) {
    return assay::shuffle_within(step % lines, lines) * kWordsOfLine;
  };
  for (std::uint32_t step = 0; step < lines; ++step) words[word(step)] = word(step + 1);
  std::uint32_t at = word(0);
  std::uint64_t steps = 0;
  assay::check(cudaMemcpyAsync(data, words.data(), words.size() * sizeof(words[0]),
                               cudaMemcpyHostToDevice, s.stream()));
  assay::check(cudaMemcpyAsync(place, &at, sizeof(at), cudaMemcpyHostToDevice, s.stream()));
  assay::check(cudaStreamSynchronize(s.stream()));
  const Texture texture(data, words.size() * sizeof(words[0]), 1);
  const std::uint32_t warm = std::min(2 * lines, 16384u);
  const assay::Estimate cycles = s.cycles_once([&](const assay::Launch& l) {
    chase_texture<<<1, 32, 0, l.stream>>>(l.iterations, texture, warm, place, l.records);
    steps += warm + static_cast<std::uint64_t>(l.iterations) * kSteps;
  });
  const std::uint32_t found = assay::download(place, 1, s.stream()).front();
  const std::uint32_t right = word(static_cast<std::uint32_t>(steps % lines));
  s.require(found == right,
            "a chase ended on texel " + std::to_string(found) + ", not " + std::to_string(right));
  return cycles / kSteps;
}

void run_latency(assay::State& s) {
  constexpr std::uint32_t kMostBytes = 4 << 20;
  auto* data = s.allocate<std::uint32_t>(kMostBytes / 4);
  auto* place = s.allocate<std::uint32_t>(1);
  assay::Series series{"latency_cycles", "cycle", {{"footprint_bytes", {}}}, {}};
  for (std::uint32_t bytes = 8 << 10; bytes <= kMostBytes; bytes += bytes < 64 << 10    ? 8 << 10
                                                                    : bytes < 512 << 10 ? 32 << 10
                                                                                        : bytes) {
    series.axes[0].points.emplace_back(std::int64_t{bytes});
    series.add(latency_at(s, data, place, bytes / (kWordsOfLine * 4)));
  }
  const auto levels = assay::plateaus(series.values);
  s.add_exact("latency_cycles", "cycle", assay::Better::lower, series.values.front());
  s.add_exact("l2_latency_cycles", "cycle", assay::Better::lower, series.values.back());
  if (!levels.empty() && levels.front().last + 1 < series.values.size())
    s.add_exact(
        "l1_capacity_bytes", "byte", assay::Better::higher,
        static_cast<double>(std::get<std::int64_t>(series.axes[0].points[levels.front().last])));
  s.add_series(std::move(series));
}

void run_read(assay::State& s) {
  const auto ctas = static_cast<std::uint32_t>(s.device().sm_count);
  const bool l1 = s.text("level") == "l1";
  // 64 KiB for all, or a third of L2 in parts that no L1 holds: each SM reads kPartsOfSm.
  const std::uint32_t part =
      l1 ? 4
         : std::max<std::uint32_t>(
               static_cast<std::uint32_t>(s.device().l2_bytes / 3 / ctas / (kThreads * 16)), 1);
  const std::uint32_t apart = l1 ? 0 : part, rows = l1 ? part : kPartsOfSm * part;
  const std::size_t texels = std::size_t{kThreads} * (l1 ? part : part * (ctas + kPartsOfSm - 1));
  auto* data = s.allocate<uint4>(texels);
  auto* sums = s.allocate<std::uint32_t>(std::size_t{ctas} * kThreads);
  s.fill_random_bits(data, texels * sizeof(uint4));
  s.set_param("footprint_bytes", static_cast<std::int64_t>(texels * sizeof(uint4)));
  const Texture texture(data, texels * sizeof(uint4), 4);
  std::int64_t iterations = 0;
  s.cycles({.bytes = double{kFetches} * kThreads * sizeof(uint4)}, [&](const assay::Launch& l) {
    read_texture<<<ctas, kThreads, 0, l.stream>>>(l.iterations, texture, apart, rows, sums,
                                                  l.records);
    iterations = l.iterations;
  });
  const auto host = assay::download(data, texels, s.stream());
  const auto found = assay::download(sums, std::size_t{ctas} * kThreads, s.stream());
  const auto fetches = static_cast<std::uint64_t>(iterations) * kFetches;
  for (std::size_t cta = 0; cta < ctas; ++cta)
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      std::uint32_t right = 0;
      for (std::uint32_t row = 0; row < rows; ++row)
        right += static_cast<std::uint32_t>(fetches / rows + (row < fetches % rows ? 1 : 0)) *
                 assay::vector_sum(host[(cta * apart + row) * kThreads + thread]);
      s.require(found[cta * kThreads + thread] == right,
                "a thread's sum is not that of the texels it should have read");
    }
}

const assay::Registration latency{{
    .name = "memory/texture/latency",
    .question = "How many cycles does a dependent fetch through the texture path take?",
    .metrics = {{"latency_cycles",
                 "Cycles of a dependent fetch over the footprint; the figure is in L1."},
                {"l2_latency_cycles",
                 "Cycles of a dependent fetch at the largest footprint, which L2 holds."},
                {"l1_capacity_bytes", "Largest footprint that L1 still serves."}},
    .cases = {{.suite = assay::Suite::full}},
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{{.kernel = "chase_texture",
                                                .sass = {{"TLD", kSteps, kSteps}},
                                                .role = assay::Role::latency}};
        },
    .run = run_latency,
}};
const assay::Registration read{{
    .name = "memory/texture/read",
    .question = "How many bytes does an SM read through the texture path in a cycle?",
    .cases = {{.name = "l1", .params = {{"level", "l1"}}, .suite = assay::Suite::full},
              {.name = "l2", .params = {{"level", "l2"}}, .suite = assay::Suite::full}},
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "read_texture", .sass = {{"TLD", kFetches, kFetches}}}};
        },
    .run = run_read,
}};

}  // namespace
