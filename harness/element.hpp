// SPDX-License-Identifier: Apache-2.0
// Values as the bits of a GPU's data types.
#pragma once
#include <cstdint>
#include <string>

#include "harness/callable.hpp"

namespace assay {

// Bits of one element of `type`: "f64 f32 tf32 f16 bf16 e4m3 e5m2 e2m1 ue8m0 s32 u32 s8 u8 s4 u4
// b1", and of what instructions that mix 8-, 6- and 4-bit floats take in bytes: "e3m2 e2m3" (the
// low six bits) and "e2m1_b8" (bits 2 to 5; both as CUTLASS's cute/atom/mma_traits_sm120.hpp says).
// Throws Error(usage) for any other.
int element_bits(const std::string& type);

// Integers wrap around when packed, floats saturate.
bool is_integer(const std::string& type);

// A power of two by its biased exponent (OCP Microscaling Formats 1.0, E8M0), as
// cvt.rz.satfinite.ue8m0x2 and cvt.rp.satfinite.ue8m0x2 round it (PTX ISA 9.0, "cvt"; CUDA Math
// API, __nv_cvt_double_to_e8m0): the magnitude goes to the power of two below or above, the sign is
// dropped. 0 and all below 2^-127 give 2^-127 (0x00), infinities and all above 2^127 give 2^127
// (0xfe), NaN gives NaN (0xff).
enum class Ue8m0Rounding : std::uint8_t { rz, rp };
std::uint8_t ue8m0_bits(double value, Ue8m0Rounding rounding);

// As many elements as fit in `bits` (32 or 64), the first lowest, rounded to nearest; ue8m0 up
// (rp), so that what is divided by the scale does not overflow.
std::uint64_t pack(const std::string& type, int bits, const Callable<double()>& next);
std::uint64_t pack(const std::string& type, int bits, double value);

// The value of the first element.
double unpack(const std::string& type, std::uint64_t packed);

}  // namespace assay
