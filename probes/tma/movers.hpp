// SPDX-License-Identifier: Apache-2.0
// The ways to bring an array from global memory to the SMs, with so many bytes in flight on each.
//
// All share one scheme: every warp has a ring of `stages` slots of its own and refills each as soon
// as it has seen it full, so that bytes in flight per SM are CTAs x warps x stages x slot bytes.
// TMA's slots are filled by one copy each, those of cp.async by its threads' copies of a group;
// plain loads have one slot, in registers, used up before it is filled again.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/probe.hpp"
#include "probes/tma/box_plan.hpp"

namespace assay {

inline constexpr int kMostSlots = 256;  // of one CTA's TMA rings

// What a launch reads. The array is cut into as many parts as there are CTAs, each of `tiles`
// tiles, a slot full each. A CTA's warps take those of a part in turn; with more passes than one it
// goes on to the next CTA's part, so that no L1 can have kept any of it.
struct StreamWork {
  const char* array;
  std::uint32_t tiles;
  std::uint32_t part_stride, tile_stride;  // from tile to tile, in tiles
  std::uint32_t passes;
  std::uint32_t slot_bytes, slot_pitch;
  int stages;
  int consume;  // 1: add up all words that arrive; 0: only wait for them (plain loads always add)
  std::uint32_t zero;  // is 0
  std::uint32_t* sum;
  BoxGrid grid;  // of tensor copies
};

using StreamKernel = void (*)(CUtensorMap, StreamWork);

struct MoverVariant {
  const char* kernel_name;  // as in source
  StreamKernel kernel;
  int rows = 0;  // accesses of a thread to fill a slot
};

struct Mover {
  const char* name;       // "bulk", "tensor_2d", "cp_async_16", "ld_16"
  const char* opcode;     // that moves the data
  FeatureSet needs = {};  // of the target
  int dimensions = 0;     // of a tensor copy
  int access_bytes = 0;   // of a thread's access; 0: one thread has all copied by TMA
  int stages = 0;         // of cp.async; TMA's can be any, and plain loads have but one
  std::vector<MoverVariant> variants = {};  // by rows
};

// All of them; throws Error(usage) for a name that is none of theirs.
std::span<const Mover> movers();
const Mover& mover(const std::string& name);
bool exists_on(const Mover& mover, Target target);
// Every kernel of these movers that exists on the target.
std::vector<KernelUse> mover_kernels(std::span<const Mover* const> movers, Target target);

// Adds to *sum, modulo 2^32, all 32-bit words of the array, by plain loads.
void sum_array(const void* array, std::uint64_t bytes, std::uint32_t* sum, cudaStream_t stream);

// Loads one box of a tensor of so many dimensions and copies to `out` what shared memory then has.
void fetch_box(int dimensions, const CUtensorMap& map, const BoxGrid& grid, std::uint32_t tile,
               std::uint32_t bytes, std::uint32_t* out, cudaStream_t stream);

// How an SM keeps bytes in flight.
struct Pipeline {
  int ctas_per_sm = 1, warps = 0, stages = 1;
  std::uint32_t slot_bytes = 0;
  const MoverVariant* variant = nullptr;

  std::uint64_t in_flight() const {
    return std::uint64_t{slot_bytes} * static_cast<unsigned>(ctas_per_sm * warps * stages);
  }
};

// A pipeline with exactly `bytes_in_flight` on each SM, spread over `ctas_per_sm`; TMA's in copies
// of `box_bytes`, which other movers do not look at. Nothing where these do not go into one another
// or ask for more warps or slots than there are.
std::optional<Pipeline> plan_pipeline(const Mover& mover, std::uint64_t bytes_in_flight,
                                      std::uint32_t box_bytes, int ctas_per_sm = 1);

}  // namespace assay
