// SPDX-License-Identifier: Apache-2.0
// Kernels of matrix math and 2^x in one loop, scheduled in the ways that attention kernels do it.
//
// A group is 128 threads: a warpgroup of wgmma, or for mma.sync one warp on each of an SM's four
// schedulers. In a step each group computes a tile S of accumulators, 64 x 128 or 64 x 64, from
// operands that stay where they are, eight MMAs deep in K, and then works on elements of S as
// softmax does on scores, with more or less of it left to the tensor cores (see Softmax).
#pragma once
#include <string>
#include <vector>

#include "harness/callable.hpp"
#include "harness/state.hpp"

namespace assay::overlap {

inline constexpr int kM = 64, kDepth = 8;  // MMAs along K in a step
inline constexpr int kGroupThreads = 128;

enum class Family : std::uint8_t { wgmma, mma_sync };

struct Type {
  Family family;
  const char* element;              // of A and B
  const char* accumulator = "f32";  // or "f16", two in a register, by wgmma

  int n() const { return family == Family::wgmma ? 128 : 64; }  // of S
  int elements() const { return kM * n() / kGroupThreads; }     // of S in a thread
  int registers() const;                                        // that hold them
  int k() const;                                                // of one MMA
};

struct Schedule {
  const char* name;
  int groups;
  int buffers;     // 2: the MMAs of one step run while the other buffer's elements are worked on
  bool ping_pong;  // groups start their MMAs in turn, ordered by named barriers
};

// What a thread does to an element of S. Without `scale` it is s <- 2^-s, a lone MUFU.EX2 (which
// negates its operand for free): the factor can be multiplied into Q, and minus the maximum of a
// row be what the accumulators start as. With it, s <- 2^(scale s + offset), is an FFMA more. With
// `sum` another FADD, sum += s, which a column of ones in V would spare.
struct Softmax {
  const char* name;
  bool scale, sum;
};
inline constexpr Softmax kSoftmaxes[] = {
    {"ex2", false, false}, {"ffma_ex2", true, false}, {"ffma_ex2_fadd", true, true}};

struct Kernel {
  Type type;
  Schedule schedule;
  Softmax softmax;
  bool mma;
  int exps;  // of one thread in one step: every element in turn, some twice if there are more

  std::string entry() const;  // "both_64", "mma", "exp_64"
  int threads() const { return schedule.groups * kGroupThreads; }
  int buffers() const { return mma ? schedule.buffers : 1; }  // 2^x alone needs no second
  int steps() const {                                         // in one round of the loop
    return buffers() == 1 ? 1 : type.family == Family::wgmma ? 8 : 2;
  }
  double flop() const;  // of one round on one SM
  double results() const { return double{1} * threads() * steps() * exps; }
  KernelUse use(Target target) const;
};

// Loads the kernel, checks what it computes on operands that are all alike, gives it random ones
// and returns what State::cycles() launches.
Callable<void(const Launch&)> prepare(State& s, const Kernel& kernel);

// What a thread's element j is after `rounds`, and the sum over all its elements and rounds, by the
// schedule above, in double. `product` is what one MMA adds to an element of S.
struct Expected {
  std::vector<double> elements;  // buffer 0, then buffer 1
  double sum;
};
Expected expected_after(const Kernel& kernel, int rounds, double product);

// How far, relatively, what the GPU computes may be off that: it keeps fewer bits of a sum.
double tolerance(const Kernel& kernel, double product);

}  // namespace assay::overlap
