// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/reference.hpp"

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>

#include "harness/cuda.hpp"
#include "harness/measure/splitmix64.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/error_bound.hpp"

namespace assay::kernels {
namespace {

struct Totals {
  unsigned long long not_finite;
  unsigned long long worst_ratio_bits;  // of a non-negative double, whose bits sort like its value
  double squared_error, squared_reference;
};

__global__ void count_not_finite_bf16(const __nv_bfloat16* d, std::size_t count, Totals* totals) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long found = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    found += !isfinite(__bfloat162float(d[i]));
  }
  if (found != 0) atomicAdd(&totals->not_finite, found);
}

// Lanes share the blocks along k.
__global__ void compare_block_scaled(BlockScaledProblem p, BlockScaledOperands o, int stride,
                                     std::uint64_t checked, bool all, std::uint64_t seed,
                                     Totals* totals) {
  const int lane = threadIdx.x % 32;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * blockDim.x / 32;
  const std::uint64_t outputs = static_cast<std::uint64_t>(p.m) * p.n;
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; i < checked;
       i += warps) {
    const std::uint64_t at = all ? i : splitmix64(i ^ splitmix64(seed)) % outputs;
    const std::uint64_t row = at / p.n, column = at % p.n;
    const auto* a = static_cast<const __nv_fp8_e4m3*>(o.a) + row * p.k;
    const auto* b = static_cast<const __nv_fp8_e4m3*>(o.b) + column * p.k;
    BlockScaledSum sum;
    for (int kb = lane; kb < blocks_of_scales(p.k); kb += 32) {
      const double scale = static_cast<double>(o.scale_a[std::uint64_t{1} * kb * stride + row]) *
                           o.scale_b[column / kScaleBlock * scale_b_stride(p.k) + kb];
      BlockSum block;
      const int end = min(p.k, (kb + 1) * kScaleBlock);
      for (int first = kb * kScaleBlock; first < end; first += 32) {
        MmaStep step;
        for (int x = first; x < min(end, first + 32); ++x)
          step.add(static_cast<double>(static_cast<float>(a[x])) * static_cast<float>(b[x]));
        block.add(step);
      }
      sum.add(block, scale);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      sum.value += __shfl_xor_sync(0xffffffffu, sum.value, offset);
      sum.error += __shfl_xor_sync(0xffffffffu, sum.error, offset);
      sum.magnitude += __shfl_xor_sync(0xffffffffu, sum.magnitude, offset);
      sum.blocks += __shfl_xor_sync(0xffffffffu, sum.blocks, offset);
    }
    if (lane == 0) {
      const double found = __bfloat162float(static_cast<const __nv_bfloat16*>(o.d)[at]);
      const double error = fabs(found - sum.value);
      const double bound = sum.bound();
      // NaN errors are counted by count_not_finite_bf16; max() would drop them here.
      const double ratio = bound > 0 ? error / bound : (error > 0 ? INFINITY : 0);
      if (ratio > 0) atomicMax(&totals->worst_ratio_bits, __double_as_longlong(ratio));
      atomicAdd(&totals->squared_error, error * error);
      atomicAdd(&totals->squared_reference, sum.value * sum.value);
    }
  }
}

constexpr int kBlocks = 1024;
constexpr int kThreads = 256;

}  // namespace

GemmErrors check_gemm_block_scaled(const BlockScaledProblem& problem,
                                   const BlockScaledOperands& operands, std::uint64_t limit,
                                   std::uint64_t seed, cudaStream_t stream, int stride) {
  const std::uint64_t outputs = static_cast<std::uint64_t>(problem.m) * problem.n;
  const Buffer totals(sizeof(Totals));
  check(cudaMemsetAsync(totals.data(), 0, sizeof(Totals), stream));
  GemmErrors errors;
  errors.checked = std::min(outputs, limit);
  if (stride == 0) stride = scale_a_stride(problem.m);
  count_not_finite_bf16<<<kBlocks, kThreads, 0, stream>>>(
      static_cast<const __nv_bfloat16*>(operands.d), outputs, totals.as<Totals>());
  check(cudaGetLastError());
  compare_block_scaled<<<kBlocks, kThreads, 0, stream>>>(
      problem, operands, stride, errors.checked, outputs <= limit, seed, totals.as<Totals>());
  check(cudaGetLastError());
  Totals found;
  check(cudaMemcpyAsync(&found, totals.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  errors.not_finite = found.not_finite;
  static_assert(sizeof(double) == sizeof found.worst_ratio_bits);
  errors.worst_ratio = __builtin_bit_cast(double, found.worst_ratio_bits);
  errors.relative_error = std::sqrt(found.squared_error / found.squared_reference);
  // Twice one rounding to bf16. What the tensor core cuts is a fifth of that, for it cuts addends
  // of both signs towards zero.
  errors.relative_limit = 0x1p-8;
  return errors;
}

}  // namespace assay::kernels
