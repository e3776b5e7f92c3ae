// SPDX-License-Identifier: Apache-2.0
// How far a right block-scaled product may be from the exact one: the bound is added up along with
// the sum itself, on the CPU and on the GPU.
//
// The tensor core adds 32 products and the accumulator at once. Each addend is cut below 2^-13 of
// the greatest one's power of two, and the sum again 13 bits below its own (probes/numerics, on an
// H200; harness/model/matrix/arithmetic.hpp). So a step loses less than 33 * 2^-13 of the greatest
// addend, and 2^-13 of its result. Four steps make a block's sum. Promotion multiplies two f32
// scales, and adds with one rounding: 2^-24 of the product, and of the running sum. At last, one
// rounding to bf16, at most 2^-8 of the value.
#pragma once
#include <cuda_runtime_api.h>

#include <cmath>

namespace assay::kernels {

// 32 products, added at once.
struct MmaStep {
  double sum = 0, greatest = 0;
  __host__ __device__ void add(double product) {
    sum += product;
    greatest = std::fmax(greatest, std::fabs(product));
  }
};

// The sum over one block of 128 and how far the accumulator may be from it.
struct BlockSum {
  double sum = 0, error = 0;
  __host__ __device__ void add(const MmaStep& step) {
    const double greatest = std::fmax(step.greatest, std::fabs(sum) + error);
    sum += step.sum;
    error += 33 * 0x1p-13 * greatest;
    error += 0x1p-13 * (std::fabs(sum) + error);
  }
};

// The sum over all blocks.
struct BlockScaledSum {
  double value = 0, error = 0, magnitude = 0;
  int blocks = 0;
  __host__ __device__ void add(const BlockSum& block, double scale) {
    value += scale * block.sum;
    error += std::fabs(scale) * block.error;
    magnitude += std::fabs(scale) * (std::fabs(block.sum) + block.error);
    ++blocks;
  }
  // The running sum is never more than `magnitude`.
  __host__ __device__ double bound() const {
    const double accumulated = error + (blocks + 2) * 0x1p-24 * magnitude;
    return accumulated + 0x1p-8 * (std::fabs(value) + accumulated);
  }
};

}  // namespace assay::kernels
