// SPDX-License-Identifier: Apache-2.0
// Adding up an array that lies in L2, by how the partial sums meet: every thread's by an atomic in
// global memory, every warp's, every CTA's by way of atomics in shared memory, every CTA's by way
// of shuffles, and every CTA's written to a place of its own for a second launch to add up.
#include <stdexcept>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/state.hpp"
#include "probes/memory/vector_sum.hpp"

namespace {

constexpr int kThreads = 256, kVectors = 4;
enum Way : int { kThreadAtomics, kWarpAtomics, kSharedAtomics, kShuffles, kPartials };

template <int kWay>
__global__ void __launch_bounds__(kThreads)
    reduce(const uint4* data, std::uint32_t* total, std::uint32_t* partials, unsigned zero) {
  const uint4* mine = data + std::size_t{blockIdx.x} * kThreads * kVectors + threadIdx.x;
  uint4 v[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) v[i] = assay::ptx::load_v4(mine + i * kThreads);
  std::uint32_t sum = 0;
#pragma unroll
  for (const uint4& vector : v) sum += assay::vector_sum(vector);
  if constexpr (kWay == kThreadAtomics) {
    // Zero only at run time: ptxas would make one atomic of a warp's.
    atomicAdd(total + threadIdx.x * zero, sum);
    return;
  }
  const std::uint32_t of_warp = kWay == kSharedAtomics ? 0 : __reduce_add_sync(~0u, sum);
  const bool lead = threadIdx.x % 32 == 0;
  if constexpr (kWay == kWarpAtomics) {
    if (lead) atomicAdd(total, of_warp);
    return;
  }
  __shared__ std::uint32_t of_warps[kThreads / 32];
  if constexpr (kWay == kSharedAtomics) {
    if (threadIdx.x == 0) of_warps[0] = 0;
    __syncthreads();
    atomicAdd(of_warps, sum);  // ptxas makes one of a warp's
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, of_warps[0]);
  } else {
    if (lead) of_warps[threadIdx.x / 32] = of_warp;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    const std::uint32_t of_cta =
        __reduce_add_sync(~0u, threadIdx.x < kThreads / 32 ? of_warps[threadIdx.x] : 0);
    if (threadIdx.x > 0) return;
    if constexpr (kWay == kShuffles)
      atomicAdd(total, of_cta);
    else
      partials[blockIdx.x] = of_cta;
  }
}

__global__ void add_partials(const std::uint32_t* partials, unsigned count, std::uint32_t* total) {
  std::uint32_t sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) sum += partials[i];
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

struct Variant {
  const char *way, *name;
  void (*kernel)(const uint4*, std::uint32_t*, std::uint32_t*, unsigned);
  const char* sass;
};
constexpr Variant kVariants[] = {
    {"thread_atomics", "reduce<0>", reduce<kThreadAtomics>, "LDG.E.128"},
    {"warp_atomics", "reduce<1>", reduce<kWarpAtomics>, "REDUX.SUM"},
    {"shared_atomics", "reduce<2>", reduce<kSharedAtomics>, "ATOMS"},
    {"shuffles", "reduce<3>", reduce<kShuffles>, "REDUX.SUM"},
    {"partials", "reduce<4>", reduce<kPartials>, "REDUX.SUM"}};

const Variant& variant_of(const assay::Case& c) {
  for (const Variant& v : kVariants)
    if (c.text("way") == v.way) return v;
  throw std::logic_error("a case of an unknown way");
}

void run(assay::State& s) {
  const Variant& v = variant_of(s.which());
  constexpr std::size_t kTile = std::size_t{kThreads} * kVectors;
  const auto ctas = static_cast<unsigned>(s.device().l2_bytes / 4 / (kTile * sizeof(uint4)));
  const std::size_t vectors = ctas * kTile;
  auto* data = s.allocate<uint4>(vectors);
  auto* total = s.allocate<std::uint32_t>(1);
  auto* partials = s.allocate<std::uint32_t>(ctas);
  s.fill_random_bits(data, vectors * sizeof(uint4));
  s.set_param("array_bytes", static_cast<std::int64_t>(vectors * sizeof(uint4)));
  const auto launch = [&](cudaStream_t stream) {
    v.kernel<<<ctas, kThreads, 0, stream>>>(data, total, partials, 0);
    if (v.kernel == reduce<kPartials>) add_partials<<<1, 1024, 0, stream>>>(partials, ctas, total);
  };
  assay::check(cudaMemsetAsync(total, 0, sizeof(*total), s.stream()));
  launch(s.stream());
  assay::check(cudaGetLastError());
  std::uint32_t expected = 0;
  for (const uint4& vector : assay::download(data, vectors, s.stream()))
    expected += assay::vector_sum(vector);
  const std::uint32_t found = assay::download(total, 1, s.stream()).front();
  s.require(found == expected,
            "the sum is " + std::to_string(found) + ", not " + std::to_string(expected));
  s.time({.bytes = static_cast<double>(vectors * sizeof(uint4))}, launch);
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const Variant& v : kVariants)
    all.push_back({.name = v.way, .params = {{"way", v.way}}, .suite = assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "memory/reduction",
    .question = "What does it cost to let the partial sums of a reduction meet in global memory, "
                "in shared memory, by shuffles, or in a second launch?",
    .metrics = {{"bandwidth_gb_per_s", "Bytes of the array added up in a second."}},
    .cases = cases(),
    .pace = assay::Pace::l2,
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const Variant& v = variant_of(c);
          return std::vector<assay::KernelUse>{
              {.kernel = v.name,
               .sass = {{v.sass, 1, INT_MAX, assay::SassWhere::kernel},
                        {"REDUX", 0, c.text("way") == "thread_atomics" ? 0 : INT_MAX,
                         assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
