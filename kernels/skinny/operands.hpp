// SPDX-License-Identifier: Apache-2.0
// What skinny products are measured and tested on.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/frame/operand_sets.hpp"
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {

// Every code of packed weights, as often as any other, but for e4m3's NaN.
void fill_skinny_weights(SkinnyWeights weights, void* data, std::size_t bytes, std::uint64_t seed,
                         cudaStream_t stream);
// Powers of two from 2^-4 to 2^3: bf16 then has what each weight stands for, and a library can be
// given the very same weights. For nvf4 from 1/2 to 15/16, which are exact in bf16 too.
void fill_skinny_scales(SkinnyWeights weights, void* data, std::size_t bytes, std::uint64_t seed,
                        cudaStream_t stream);

// D, X, W, scales and nvf4's scale of all; of those that a packing lacks, 16 bytes that nobody
// reads.
std::vector<Operand> skinny_operands(const SkinnyProblem& problem);
// Their pointers, in that order.
SkinnyOperands skinny_operands_of(std::span<void* const> set);

}  // namespace assay::kernels
