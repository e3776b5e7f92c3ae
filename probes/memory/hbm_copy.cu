// SPDX-License-Identifier: Apache-2.0
// Copying device memory: bytes read plus bytes written. Beside memory/hbm/read and memory/hbm/write
// it shows what turning from one to the other costs DRAM.
#include "probes/memory/hbm.cuh"

namespace {

using assay::HbmArrays;

template <int kVectors, int kStreaming>
__global__ void __launch_bounds__(assay::kHbmThreads) copy(HbmArrays arrays) {
  const std::size_t first = assay::hbm_first<kVectors>();
  uint4 v[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i)
    v[i] = assay::hbm_load<kStreaming>(arrays.in + first + i * assay::kHbmThreads);
#pragma unroll
  for (int i = 0; i < kVectors; ++i)
    assay::hbm_store<kStreaming>(arrays.out + first + i * assay::kHbmThreads, v[i]);
}

constexpr assay::HbmVariant kVariants[] = {
    {"copy<1, 0>", 1, 0, copy<1, 0>}, {"copy<2, 0>", 2, 0, copy<2, 0>},
    {"copy<4, 0>", 4, 0, copy<4, 0>}, {"copy<8, 0>", 8, 0, copy<8, 0>},
    {"copy<1, 1>", 1, 1, copy<1, 1>}, {"copy<2, 1>", 2, 1, copy<2, 1>},
    {"copy<4, 1>", 4, 1, copy<4, 1>}, {"copy<8, 1>", 8, 1, copy<8, 1>}};

const assay::Registration registration{{
    .name = "memory/hbm/copy",
    .question = "How fast can all SMs together copy device memory?",
    .cases = assay::hbm_cases(kVariants),
    .pace = assay::Pace::dram,
    .kernels = [](const assay::Case& c,
                  assay::Target) { return assay::hbm_kernel_uses(kVariants, c, 1, 1); },
    .run =
        [](assay::State& s) {
          assay::measure_hbm(s, 1, 1, assay::hbm_launch(kVariants, s.which()),
                             [&](const HbmArrays& arrays) { assay::require_copied(s, arrays); });
        },
}};

}  // namespace
