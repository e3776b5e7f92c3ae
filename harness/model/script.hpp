// SPDX-License-Identifier: Apache-2.0
// Arguments of a kernel as text, for `assay model FILE`.
//
//   u32:16  s32:-1  u64:5  f32:0.5           a number
//   bf16[256x64]                             an array, initialized with normal random numbers
//   f32[1024]=zero   u8[4096]=none           zeros; left uninitialized
//   map(A, box=64x64, swizzle=128)           a tensor map of the array given as the argument A, by
//                                            its place from 0, or 1D arrays by their length
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/model.hpp"

namespace assay::model {

// Makes what the texts say in `gpu`. Throws Violation("arguments", ...) naming the text.
Arguments parse_arguments(Gpu& gpu, const std::vector<std::string>& texts, std::uint64_t seed);

}  // namespace assay::model
