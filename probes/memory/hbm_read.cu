// SPDX-License-Identifier: Apache-2.0
// Reading device memory: every word is combined into a checked exclusive or, one atomic per warp.
#include "probes/memory/hbm.cuh"

namespace {

using assay::HbmArrays;

template <int kVectors, int kStreaming>
__global__ void __launch_bounds__(assay::kHbmThreads) read(HbmArrays arrays) {
  const uint4* source = arrays.in + assay::hbm_first<kVectors>();
  uint4 v[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i)
    v[i] = assay::hbm_load<kStreaming>(source + i * assay::kHbmThreads);
  std::uint32_t bits = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) bits ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
  bits = __reduce_xor_sync(~0u, bits);
  const unsigned warp = (blockIdx.x * assay::kHbmThreads + threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0) atomicXor(&arrays.sums[warp % assay::kHbmSums], bits);
}

constexpr assay::HbmVariant kVariants[] = {
    {"read<16, 0>", 16, 0, read<16, 0>}, {"read<8, 0>", 8, 0, read<8, 0>},
    {"read<4, 0>", 4, 0, read<4, 0>},    {"read<1, 1>", 1, 1, read<1, 1>},
    {"read<2, 1>", 2, 1, read<2, 1>},    {"read<4, 1>", 4, 1, read<4, 1>},
    {"read<8, 1>", 8, 1, read<8, 1>}};

const assay::Registration registration{{
    .name = "memory/hbm/read",
    .question = "How fast can all SMs together read device memory?",
    .cases = assay::hbm_cases(kVariants),
    .pace = assay::Pace::dram,
    .kernels = [](const assay::Case& c,
                  assay::Target) { return assay::hbm_kernel_uses(kVariants, c, 1, 0); },
    .run =
        [](assay::State& s) {
          assay::measure_hbm(
              s, 1, 0, assay::hbm_launch(kVariants, s.which()), [&](const HbmArrays& arrays) {
                s.require(assay::combined_bits(s, arrays.sums, assay::kHbmSums * 4) ==
                              assay::combined_bits(s, arrays.in, arrays.vectors * sizeof(uint4)),
                          "what was read does not combine to the bits of the array");
              });
        },
}};

}  // namespace
