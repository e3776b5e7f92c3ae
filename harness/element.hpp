// SPDX-License-Identifier: Apache-2.0
// Values as the bits of a GPU's data types.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace assay {

// Bits of one element of `type`: "f64 f32 tf32 f16 bf16 e4m3 e5m2 e2m1 ue8m0 s32 u32 s8 u8 b1".
// Throws Error(usage) for any other.
int element_bits(const std::string& type);

// As many elements as fit in `bits` (32 or 64), the first lowest, rounded to nearest.
std::uint64_t pack(const std::string& type, int bits, const std::function<double()>& next);
std::uint64_t pack(const std::string& type, int bits, double value);

// The value of the first element.
double unpack(const std::string& type, std::uint64_t packed);

}  // namespace assay
