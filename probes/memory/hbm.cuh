// SPDX-License-Identifier: Apache-2.0
// What the bandwidth probes of device memory share.
//
// Little's law sets the shape of their kernels: 4.8 TB/s at about 1 us under load wants some 5 MB
// in flight, 36 KiB on each of 132 SMs. A thread takes several 16-byte vectors at once, ptxas lets
// it ask for at least six before it uses the first, and SMs full of 512-thread CTAs have 64 to 192
// KiB under way. A CTA has one tile of consecutive bytes and ends: the hardware hands the next to
// whichever SM is free, so that nobody waits for the slowest. Streaming variants keep what is not
// used again from taking up caches.
#pragma once
#include <cstdint>
#include <span>

#include "harness/ptx/load_store.cuh"
#include "harness/state.hpp"

namespace assay {

inline constexpr int kHbmThreads = 512;

struct HbmArrays {
  uint4* out;             // random bits until a kernel writes it
  const uint4 *in, *in2;  // random bits
  std::uint32_t* sums;    // kHbmSums words of zeros
  std::size_t vectors;    // of 16 bytes, in each of the three
};
inline constexpr int kHbmSums = 1024;

// One kernel, by how many vectors a thread takes and whether it streams; `name` is as in source.
struct HbmVariant {
  const char* name;
  int vectors, streaming;
  void (*kernel)(HbmArrays);
};

// A case for each; the first is the best known, goes by the probe's own name and is quick.
std::vector<Case> hbm_cases(std::span<const HbmVariant> variants);

// The variant of a case: its kernel must load and store this many vectors for each it takes.
std::vector<KernelUse> hbm_kernel_uses(std::span<const HbmVariant> variants, const Case& c,
                                       int loads, int stores);

using HbmLaunch = Callable<void(const HbmArrays&, cudaStream_t)>;

// Launches the variant of a case over all of the arrays.
HbmLaunch hbm_launch(std::span<const HbmVariant> variants, const Case& c);

// Launches once, lets `check` judge what that left, then times it. `inputs` of `in` and `in2` are
// read, `outputs` of `out` are written.
void measure_hbm(State& s, int inputs, int outputs, const HbmLaunch& launch,
                 const Callable<void(const HbmArrays&)>& check);

// Fails the case unless `out` equals `in`.
void require_copied(State& s, const HbmArrays& arrays);

// Exclusive or of all 32-bit words, by a kernel as plain as can be.
std::uint32_t combined_bits(State& s, const void* memory, std::size_t bytes);

template <int kStreaming>
__device__ uint4 hbm_load(const uint4* address) {
  return kStreaming ? ptx::load_v4_once(address) : ptx::load_v4(address);
}
template <int kStreaming>
__device__ void hbm_store(uint4* address, const uint4& v) {
  kStreaming ? ptx::store_v4_once(address, v) : ptx::store_v4(address, v);
}

// The first vector of a thread; the others follow at distances of kHbmThreads.
template <int kVectors>
__device__ std::size_t hbm_first() {
  return std::size_t{blockIdx.x} * kHbmThreads * kVectors + threadIdx.x;
}

__device__ inline bool same_bits(const uint4& a, const uint4& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

}  // namespace assay
