// SPDX-License-Identifier: Apache-2.0
// The check of the cache bandwidth probes: every thread adds up, modulo 2^32, each word it reads.
#pragma once
#include <vector_types.h>

#include <cstdint>

namespace assay {

constexpr std::uint32_t vector_sum(const uint4& v) { return v.x + v.y + v.z + v.w; }

}  // namespace assay
