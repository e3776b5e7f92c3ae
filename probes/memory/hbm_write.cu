// SPDX-License-Identifier: Apache-2.0
// Writing device memory with a pattern that differs in every vector, so that no word can stand for
// others.
#include "probes/memory/hbm.cuh"

namespace {

using assay::HbmArrays;

__device__ uint4 pattern(std::size_t i) {
  const auto x = static_cast<std::uint32_t>(i) * 2654435769u;
  return {x, x ^ 0x55555555u, ~x, x + 1};
}

template <int kVectors, int kStreaming>
__global__ void __launch_bounds__(assay::kHbmThreads) write(HbmArrays arrays) {
  const std::size_t first = assay::hbm_first<kVectors>();
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const std::size_t place = first + i * assay::kHbmThreads;
    assay::hbm_store<kStreaming>(arrays.out + place, pattern(place));
  }
}

__global__ void count_unwritten(HbmArrays arrays) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < arrays.vectors; i += stride)
    if (!assay::same_bits(arrays.out[i], pattern(i))) atomicAdd(arrays.sums, 1);
}

constexpr assay::HbmVariant kVariants[] = {
    {"write<1, 0>", 1, 0, write<1, 0>}, {"write<4, 0>", 4, 0, write<4, 0>},
    {"write<8, 0>", 8, 0, write<8, 0>}, {"write<1, 1>", 1, 1, write<1, 1>},
    {"write<4, 1>", 4, 1, write<4, 1>}, {"write<8, 1>", 8, 1, write<8, 1>}};

const assay::Registration registration{{
    .name = "memory/hbm/write",
    .question = "How fast can all SMs together write device memory?",
    .cases = assay::hbm_cases(kVariants),
    .pace = assay::Pace::dram,
    .kernels = [](const assay::Case& c,
                  assay::Target) { return assay::hbm_kernel_uses(kVariants, c, 0, 1); },
    .run =
        [](assay::State& s) {
          assay::measure_hbm(s, 0, 1, assay::hbm_launch(kVariants, s.which()),
                             [&](const HbmArrays& arrays) {
                               count_unwritten<<<1024, 256, 0, s.stream()>>>(arrays);
                               s.require(assay::download(arrays.sums, 1, s.stream()).front() == 0,
                                         "the array does not hold the pattern written to it");
                             });
        },
}};

}  // namespace
