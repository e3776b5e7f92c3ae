// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/hbm.cuh"

#include <algorithm>

#include "harness/machine/dram_limit.hpp"

namespace assay {
namespace {

constexpr std::size_t kGranule = std::size_t{64} << 20;  // a multiple of every tile

__global__ void combine(const std::uint32_t* words, std::size_t count, std::uint32_t* result) {
  std::uint32_t mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine ^= words[i];
  atomicXor(result, mine);
}

__global__ void count_different(HbmArrays arrays) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < arrays.vectors; i += stride)
    if (!same_bits(arrays.out[i], arrays.in[i])) atomicAdd(arrays.sums, 1);
}

const HbmVariant& variant_of(std::span<const HbmVariant> variants, const Case& c) {
  return *std::ranges::find_if(variants, [&](const HbmVariant& v) {
    return v.vectors == c.i64("vectors") && v.streaming == c.i64("streaming");
  });
}

}  // namespace

std::vector<Case> hbm_cases(std::span<const HbmVariant> variants) {
  std::vector<Case> cases;
  for (const HbmVariant& v : variants) {
    const bool best = cases.empty();
    std::string name;
    if (!best)
      name.append("x").append(std::to_string(v.vectors)) += v.streaming ? "_streaming" : "_cached";
    cases.push_back({.name = name,
                     .params = {{"vectors", v.vectors}, {"streaming", v.streaming}},
                     .suite = best ? Suite::quick : Suite::full});
  }
  // The best again under lasting load, for its power.
  cases.push_back(cases.front());
  cases.back().name = "sustained";
  cases.back().params["state"] = "sustained";
  cases.back().suite = Suite::full;
  return cases;
}

std::vector<KernelUse> hbm_kernel_uses(std::span<const HbmVariant> variants, const Case& c,
                                       int loads, int stores) {
  const HbmVariant& v = variant_of(variants, c);
  KernelUse use{.kernel = v.name};
  const std::string load = v.streaming ? "LDG.E.NA.LTC256B.128.CONSTANT" : "LDG.E.128";
  const std::string store = v.streaming ? "STG.E.EF.128" : "STG.E.128";
  for (const auto& [opcode, count] : {std::pair(load, loads), std::pair(store, stores)})
    use.sass.push_back({opcode, count * v.vectors, count * v.vectors, SassWhere::kernel});
  return {use};
}

HbmLaunch hbm_launch(std::span<const HbmVariant> variants, const Case& c) {
  return [v = variant_of(variants, c)](const HbmArrays& arrays, cudaStream_t stream) {
    const auto ctas = static_cast<unsigned>(arrays.vectors / (kHbmThreads * v.vectors));
    v.kernel<<<ctas, kHbmThreads, 0, stream>>>(arrays);
  };
}

void measure_hbm(State& s, int inputs, int outputs, const HbmLaunch& launch,
                 const Callable<void(const HbmArrays&)>& check_result) {
  // A sixteenth of memory each, 4 GiB at most: what is left in L2 from the pass before is nothing.
  const std::size_t wanted =
      std::min(s.device().memory_bytes / 16, std::uint64_t{4} << 30) / kGranule * kGranule;
  const std::size_t bytes = std::max(wanted, kGranule);
  const auto array = [&](bool used, std::uint64_t salt) -> uint4* {
    if (!used) return nullptr;
    auto* memory = s.allocate<uint4>(bytes / sizeof(uint4));
    s.fill_random_bits(memory, bytes, salt);
    return memory;
  };
  const HbmArrays arrays{array(outputs > 0, 1), array(inputs > 0, 2), array(inputs > 1, 3),
                         s.allocate<std::uint32_t>(kHbmSums), bytes / sizeof(uint4)};
  check(cudaMemsetAsync(arrays.sums, 0, kHbmSums * sizeof(*arrays.sums), s.stream()));
  s.set_param("bytes_per_array", static_cast<std::int64_t>(bytes));

  launch(arrays, s.stream());
  check(cudaGetLastError());
  check_result(arrays);
  s.time(
      {.bytes = static_cast<double>(bytes) * (inputs + outputs), .limit = dram_limit(s.device())},
      [&](cudaStream_t stream) { launch(arrays, stream); });
}

void require_copied(State& s, const HbmArrays& arrays) {
  count_different<<<1024, 256, 0, s.stream()>>>(arrays);
  check(cudaGetLastError());
  s.require(download(arrays.sums, 1, s.stream()).front() == 0, "the copy differs from its source");
}

std::uint32_t combined_bits(State& s, const void* memory, std::size_t bytes) {
  auto* result = s.allocate<std::uint32_t>(1);
  check(cudaMemsetAsync(result, 0, sizeof(*result), s.stream()));
  combine<<<1024, 256, 0, s.stream()>>>(static_cast<const std::uint32_t*>(memory), bytes / 4,
                                        result);
  check(cudaGetLastError());
  return download(result, 1, s.stream()).front();
}

}  // namespace assay
