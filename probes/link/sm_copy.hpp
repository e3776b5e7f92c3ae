// SPDX-License-Identifier: Apache-2.0
// Kernels that reach over a link: copies, comparisons and chains of dependent accesses, of memory
// of the CPU or of another GPU, by its address in the unified address space.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/probe.hpp"

namespace assay {

// Copies `bytes` (a multiple of 16) by 16-byte loads and stores of all `sm_count` SMs of the
// current GPU.
void copy_by_sms(void* to, const void* from, std::size_t bytes, int sm_count, cudaStream_t stream);
std::vector<KernelUse> copy_by_sms_use();

struct FarCopy {
  void* to;
  const void* from;
  std::size_t bytes;  // a multiple of 16
};
// Both at once by one kernel on all SMs, every other warp the one way: no SM then waits for one
// direction alone.
void copy_both_ways_by_sms(const FarCopy& up, const FarCopy& down, int sm_count,
                           cudaStream_t stream);
std::vector<KernelUse> copy_both_ways_by_sms_use();

// How many of `bytes` bytes differ. Both must be where the current GPU reaches them.
std::uint64_t differing_bytes(const void* a, const void* b, std::size_t bytes, cudaStream_t stream);

// Dependent accesses of one thread, kFarSteps * rounds of them, coherent over the whole system.
enum class FarAccess : std::uint8_t { load, atomic };
inline constexpr int kFarSteps = 16;  // in one round of the loop
std::vector<KernelUse> far_chain_use(FarAccess access);

// What a CTA found: where its walk came to (0: it did not walk), from where, and how long it took.
struct FarWalk {
  std::uint64_t end, ns;
  std::uint32_t sm, unused;
};

// A random ring of `lines` 128-byte lines in `memory`, tied by the current GPU, for loads; one
// counter of zero for atomics.
struct FarChain {
  FarAccess access;
  void* memory;
  std::uint32_t lines;
  std::uint64_t* end;  // memory of the current GPU: where a walk came to, or the counter's value

  std::size_t bytes() const { return std::size_t{lines} * 128; }
  void tie(cudaStream_t stream) const;
  void walk(std::int64_t rounds, cudaStream_t stream) const;  // from the ring's first place
  // What `end` must hold after one walk of a chain just tied.
  std::uint64_t expected_end(std::int64_t rounds) const;

  // Of loads: a walk by one CTA of each of `ctas` SMs, or only by those on the SM `only`, each from
  // a place of its own. All of walks[ctas] is written.
  void walk_by_sms(std::optional<std::uint32_t> only, std::int64_t rounds, FarWalk* walks, int ctas,
                   cudaStream_t stream) const;
  std::uint64_t expected_end(int cta, std::int64_t rounds) const;
};
std::vector<KernelUse> walk_by_sms_use();

}  // namespace assay
