// SPDX-License-Identifier: Apache-2.0
#include "probes/link/sm_copy.hpp"

#include "harness/cuda.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "probes/memory/chase.hpp"

namespace assay {
namespace {

constexpr int kThreads = 512, kCtasPerSm = 4, kVectors = 4;
constexpr std::uint64_t kStayNs = 20'000;  // far longer than placing a CTA on each SM takes

// Rows of one vector a thread, kVectors of them under way in each.
__global__ void __launch_bounds__(kThreads)
    copy_far(uint4* to, const uint4* from, std::size_t vectors) {
  const std::size_t row = std::size_t{gridDim.x} * kThreads;
  std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
#pragma unroll 1
  for (; i + (kVectors - 1) * row < vectors; i += kVectors * row) {
    uint4 v[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) v[k] = ptx::load_v4(from + i + k * row);
#pragma unroll
    for (int k = 0; k < kVectors; ++k) ptx::store_v4(to + i + k * row, v[k]);
  }
#pragma unroll 1
  for (; i < vectors; i += row) to[i] = from[i];
}

// The same both ways at once: even warps copy up, odd ones down.
__global__ void __launch_bounds__(kThreads) copy_far_both_ways(FarCopy up, FarCopy down) {
  const unsigned warp = (blockIdx.x * kThreads + threadIdx.x) / 32;
  const FarCopy& mine = warp % 2 == 0 ? up : down;
  const std::size_t row = std::size_t{gridDim.x} * kThreads / 2, vectors = mine.bytes / 16;
  auto* to = static_cast<uint4*>(mine.to);
  const auto* from = static_cast<const uint4*>(mine.from);
#pragma unroll 1
  for (std::size_t i = std::size_t{warp / 2} * 32 + threadIdx.x % 32; i < vectors;
       i += kVectors * row) {
    uint4 v[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      if (i + k * row < vectors) v[k] = ptx::load_v4(from + i + k * row);
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      if (i + k * row < vectors) ptx::store_v4(to + i + k * row, v[k]);
  }
}

__global__ void count_differing(const unsigned char* a, const unsigned char* b, std::size_t bytes,
                                unsigned long long* count) {
  std::size_t mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += a[i] != b[i];
  if (mine) atomicAdd(count, mine);
}

__global__ void chase_far(std::int64_t rounds, const void* first, std::uint64_t* end) {
  auto at = reinterpret_cast<std::uint64_t>(first);
#pragma unroll 1
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma unroll
    for (int step = 0; step < kFarSteps; ++step)
      at = ptx::load_relaxed_sys(reinterpret_cast<const std::uint64_t*>(at));
  }
  *end = at;
}

__host__ __device__ std::uint32_t first_step(int cta) {
  return static_cast<std::uint32_t>(cta) * 97u;
}

// The one load before brings the translation of the page. Who does not walk stays a while, so that
// no other CTA comes to its SM while some are still to be placed.
__global__ void chase_far_by_sms(bool all, std::uint32_t only, std::int64_t rounds,
                                 PlaceLayout ring, FarWalk* walks) {
  const std::uint32_t sm = ptx::smid();
  const std::uint64_t begin_ns = ptx::globaltimer();
  FarWalk walk{0, 0, sm, 0};
  if (all || sm == only) {
    std::uint64_t at = ring.at_step(first_step(static_cast<int>(blockIdx.x)));
    at = ptx::load_relaxed_sys(reinterpret_cast<const std::uint64_t*>(at));
    if (at == 0) return;  // never: waits for the load
    const std::uint64_t start_ns = ptx::globaltimer();
#pragma unroll 1
    for (std::int64_t i = 0; i < rounds; ++i) {
#pragma unroll
      for (int step = 0; step < kFarSteps; ++step)
        at = ptx::load_relaxed_sys(reinterpret_cast<const std::uint64_t*>(at));
    }
    if (at == 0) return;  // likewise
    walk = {at, ptx::globaltimer() - start_ns, sm, 0};
  } else {
    while (ptx::globaltimer() - begin_ns < kStayNs) {
    }
  }
  if (threadIdx.x == 0) walks[blockIdx.x] = walk;
}

// Each adds one, but cannot know that before it has the last one's result: counts stay below 2^63.
__global__ void add_in_chain(std::int64_t rounds, std::uint64_t* counter, std::uint64_t* end) {
  std::uint64_t before = 0;
#pragma unroll 1
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma unroll
    for (int step = 0; step < kFarSteps; ++step)
      before = ptx::fetch_add_sys(counter, (before >> 63) + 1);
  }
  *end = before + 1;
}

PlaceLayout ring_of(const FarChain& chain) {
  return {.base = static_cast<char*>(chain.memory), .count = chain.lines, .stride = sizeof(Line)};
}

}  // namespace

void copy_by_sms(void* to, const void* from, std::size_t bytes, int sm_count, cudaStream_t stream) {
  copy_far<<<sm_count * kCtasPerSm, kThreads, 0, stream>>>(
      static_cast<uint4*>(to), static_cast<const uint4*>(from), bytes / sizeof(uint4));
  check(cudaGetLastError());
}

void copy_both_ways_by_sms(const FarCopy& up, const FarCopy& down, int sm_count,
                           cudaStream_t stream) {
  copy_far_both_ways<<<sm_count * kCtasPerSm, kThreads, 0, stream>>>(up, down);
  check(cudaGetLastError());
}

std::vector<KernelUse> copy_both_ways_by_sms_use() {
  return {{.kernel = "copy_far_both_ways",
           .sass = {{"LDG.E.128", kVectors, kVectors}, {"STG.E.128", kVectors, kVectors}}}};
}

std::vector<KernelUse> copy_by_sms_use() {
  return {{.kernel = "copy_far",
           .sass = {{"LDG.E.128", kVectors, kVectors}, {"STG.E.128", kVectors, kVectors}}}};
}

std::uint64_t differing_bytes(const void* a, const void* b, std::size_t bytes,
                              cudaStream_t stream) {
  const Buffer count(sizeof(unsigned long long));
  check(cudaMemsetAsync(count.data(), 0, count.bytes(), stream));
  count_differing<<<1024, 256, 0, stream>>>(static_cast<const unsigned char*>(a),
                                            static_cast<const unsigned char*>(b), bytes,
                                            count.as<unsigned long long>());
  check(cudaGetLastError());
  return download(count.as<unsigned long long>(), 1, stream)[0];
}

std::vector<KernelUse> far_chain_use(FarAccess access) {
  if (access == FarAccess::load)
    return {{.kernel = "chase_far", .sass = {{"LDG.E.64.STRONG.SYS", kFarSteps, kFarSteps}}}};
  return {
      {.kernel = "add_in_chain", .sass = {{"ATOMG.E.ADD.64.STRONG.SYS", kFarSteps, kFarSteps}}}};
}

void FarChain::tie(cudaStream_t stream) const {
  if (access == FarAccess::load)
    tie_places(ring_of(*this), stream);
  else
    check(cudaMemsetAsync(memory, 0, sizeof(std::uint64_t), stream));
}

void FarChain::walk(std::int64_t rounds, cudaStream_t stream) const {
  if (access == FarAccess::load)
    chase_far<<<1, 1, 0, stream>>>(rounds, reinterpret_cast<const void*>(ring_of(*this).at_step(0)),
                                   end);
  else
    add_in_chain<<<1, 1, 0, stream>>>(rounds, static_cast<std::uint64_t*>(memory), end);
  check(cudaGetLastError());
}

std::uint64_t FarChain::expected_end(std::int64_t rounds) const {
  const std::int64_t steps = rounds * kFarSteps;
  if (access == FarAccess::atomic) return static_cast<std::uint64_t>(steps);
  return ring_of(*this).at_step(static_cast<std::uint32_t>(steps % lines));
}

void FarChain::walk_by_sms(std::optional<std::uint32_t> only, std::int64_t rounds, FarWalk* walks,
                           int ctas, cudaStream_t stream) const {
  chase_far_by_sms<<<ctas, 32, 0, stream>>>(!only, only.value_or(0), rounds, ring_of(*this), walks);
  check(cudaGetLastError());
}

std::uint64_t FarChain::expected_end(int cta, std::int64_t rounds) const {
  const auto steps = static_cast<std::uint32_t>(rounds * kFarSteps) + 1;
  return ring_of(*this).at_step((first_step(cta) + steps) % lines);
}

std::vector<KernelUse> walk_by_sms_use() {
  return {{.kernel = "chase_far_by_sms", .sass = {{"LDG.E.64.STRONG.SYS", kFarSteps, kFarSteps}}}};
}

}  // namespace assay
