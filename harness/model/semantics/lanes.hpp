// SPDX-License-Identifier: Apache-2.0
// What the meanings of instructions are written with.
#pragma once
#include <bit>
#include <cstdint>

#include "harness/model/machine/decode.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {

template <class Each>
void for_lanes(Mask mask, Each&& each) {
  while (mask != 0) {
    each(std::countr_zero(mask));
    mask &= mask - 1;
  }
}

inline float as_float(Value v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v)); }
inline double as_double(Value v) { return std::bit_cast<double>(v); }
inline Value bits_of(float v) { return std::bit_cast<std::uint32_t>(v); }
inline Value bits_of(double v) { return std::bit_cast<Value>(v); }

inline Value low(Value v, int bits) { return bits >= 64 ? v : v & ((Value{1} << bits) - 1); }
inline std::int64_t extend(Value v, int bits) {
  return bits >= 64 ? static_cast<std::int64_t>(v)
                    : static_cast<std::int64_t>(v << (64 - bits)) >> (64 - bits);
}

// The last type word of an opcode ("add.rn.f32": f32). Throws Violation if there is none.
Type type_of(const Instruction& instruction, int from_end = 0);

// The value of lane `lane`'s address operand.
inline Address address_at(Warp& warp, const AddressOperand& a, int lane) {
  return warp.reg(a.slot)[lane] + static_cast<Address>(a.offset);
}

// An instruction that all live lanes of the warp must execute together: blocks until they do.
// Returns false when it must wait.
bool converged(Warp& warp, Mask mask, Mask members = kAllLanes);

// The same of an instruction that needs all 32 lanes, as what exchanges fragments does. Throws
// Violation where some have left.
bool whole_warp(Warp& warp, Mask mask);

// Refuses the word of an opcode that this meaning does not know.
[[noreturn]] void unknown_part(const Instruction& instruction, const std::string& part);

void add_arithmetic(Meanings& all);
void add_bitwise(Meanings& all);
void add_floating(Meanings& all);
void add_comparisons(Meanings& all);
void add_conversions(Meanings& all);
void add_packed_integers(Meanings& all);
void add_control(Meanings& all);
void add_memory(Meanings& all);
void add_atomics(Meanings& all);
void add_warp(Meanings& all);
void add_barriers(Meanings& all);
void add_mbarriers(Meanings& all);
void add_fences(Meanings& all);
void add_copies(Meanings& all);
void add_tensor_copies(Meanings& all);
void add_matrix(Meanings& all);
void add_wgmma(Meanings& all);
void add_wmma(Meanings& all);
void add_clusters(Meanings& all);
void add_tcgen05(Meanings& all);

}  // namespace assay::model
