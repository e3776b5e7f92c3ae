// SPDX-License-Identifier: Apache-2.0
// From the accumulators of one wgmma to the 8-bit A operand of the next, in registers.
//
// Attention in fp8 multiplies S = Q K^T, turns the f32 accumulators into P in e4m3, and needs P as
// the A fragment of P V. Both fragments give a quad of threads a row, but not the same columns of
// it: of 16 columns thread t holds 2t, 2t+1, 8+2t, 8+2t+1 as accumulators and wants 4t..4t+3.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace assay::numerics {

enum class Permutation : std::uint8_t {
  shuffle,       // each word from two threads of the quad, and a byte permute that joins them
  byte_permute,  // words rearranged first, so that a shuffle brings as much as a register holds
  permute_other_operand  // none: the rows of V change places instead, in memory
};
inline constexpr Permutation kPermutations[] = {Permutation::shuffle, Permutation::byte_permute,
                                                Permutation::permute_other_operand};
const char* name(Permutation permutation);

// Where each element of A comes from: A's register r (0..3 of one k32), element e (0..3) of lane l
// of a quad is accumulator register `reg` of lane `lane` of it, of the four n8 blocks (16
// registers) with the same columns. From the two documented layouts.
struct Source {
  int lane, reg;
  bool operator==(const Source&) const = default;
};
Source source_of(int lane, int a_register, int element);

// The accumulator register of a thread that is packed, without a permutation, into element e of A's
// register r.
int packed_register(int a_register, int element);

// Row of V that then belongs at each k of a k32 block.
std::array<int, 32> other_operand_order();

// PTX: registers %s<64> (accumulators of m64n128) times %scale to %a<16>, the A fragments of four
// k32, rounded to nearest. Needs permutation_declarations() and, once before, permutation_setup().
std::string permutation_declarations();
std::string permutation_setup();
std::string convert(Permutation permutation);
// How many shuffles and byte permutes that is for the 16 words.
int shuffles(Permutation permutation);
int byte_permutes(Permutation permutation);

}  // namespace assay::numerics
