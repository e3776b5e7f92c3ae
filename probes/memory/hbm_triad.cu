// SPDX-License-Identifier: Apache-2.0
// STREAM's triad (McCalpin, 1995) in f32: out = in + scalar * in2. Two streams in, one out.
#include "probes/memory/hbm.cuh"

namespace {

using assay::HbmArrays;

__device__ std::uint32_t multiply_add(std::uint32_t b, std::uint32_t c) {
  return __float_as_uint(fmaf(3.0f, __uint_as_float(c), __uint_as_float(b)));
}
__device__ uint4 multiply_add(const uint4& b, const uint4& c) {
  return {multiply_add(b.x, c.x), multiply_add(b.y, c.y), multiply_add(b.z, c.z),
          multiply_add(b.w, c.w)};
}

template <int kVectors, int kStreaming>
__global__ void __launch_bounds__(assay::kHbmThreads) triad(HbmArrays arrays) {
  const std::size_t first = assay::hbm_first<kVectors>();
  uint4 b[kVectors], c[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    b[i] = assay::hbm_load<kStreaming>(arrays.in + first + i * assay::kHbmThreads);
    c[i] = assay::hbm_load<kStreaming>(arrays.in2 + first + i * assay::kHbmThreads);
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i)
    assay::hbm_store<kStreaming>(arrays.out + first + i * assay::kHbmThreads,
                                 multiply_add(b[i], c[i]));
}

// Bits are compared, not values: random bits hold NaNs, which the same operation makes alike.
__global__ void count_different(HbmArrays arrays) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < arrays.vectors; i += stride)
    if (!assay::same_bits(arrays.out[i], multiply_add(arrays.in[i], arrays.in2[i])))
      atomicAdd(arrays.sums, 1);
}

constexpr assay::HbmVariant kVariants[] = {
    {"triad<1, 0>", 1, 0, triad<1, 0>}, {"triad<2, 0>", 2, 0, triad<2, 0>},
    {"triad<4, 0>", 4, 0, triad<4, 0>}, {"triad<1, 1>", 1, 1, triad<1, 1>},
    {"triad<2, 1>", 2, 1, triad<2, 1>}, {"triad<4, 1>", 4, 1, triad<4, 1>}};

const assay::Registration registration{{
    .name = "memory/hbm/triad",
    .question = "How fast do all SMs together run a = b + s * c over device memory?",
    .cases = assay::hbm_cases(kVariants),
    .pace = assay::Pace::dram,
    .kernels = [](const assay::Case& c,
                  assay::Target) { return assay::hbm_kernel_uses(kVariants, c, 2, 1); },
    .run =
        [](assay::State& s) {
          assay::measure_hbm(s, 2, 1, assay::hbm_launch(kVariants, s.which()),
                             [&](const HbmArrays& arrays) {
                               count_different<<<1024, 256, 0, s.stream()>>>(arrays);
                               s.require(assay::download(arrays.sums, 1, s.stream()).front() == 0,
                                         "a sum is not b + s * c");
                             });
        },
}};

}  // namespace
