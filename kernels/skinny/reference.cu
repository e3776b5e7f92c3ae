// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/reference.hpp"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdio>

#include "harness/cuda.hpp"
#include "harness/measure/splitmix64.hpp"

namespace assay::kernels {
namespace {

struct Totals {
  unsigned long long not_finite;
  unsigned long long worst_ratio_bits;  // of a non-negative double, whose bits sort like its value
};

struct Weights {
  SkinnyWeights type;
  int k;
  const std::uint8_t* w;
  const std::uint8_t* scales;
  const float* scale;
};

// Bits of a number with a sign, an exponent and a mantissa, without infinities.
__device__ double small_float(int bits, int exponent_bits, int mantissa_bits, int bias) {
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  const double units = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  const double value = ldexp(units, max(exponent, 1) - bias - mantissa_bits);
  return bits >> (exponent_bits + mantissa_bits) & 1 ? -value : value;
}

__device__ double element(const Weights& v, std::size_t at) {
  const int bits = weight_bits(v.type);
  if (v.type == SkinnyWeights::bf16)
    return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(v.w)[at]);
  const std::size_t bit = at * bits;
  const int code = v.w[bit / 8] >> bit % 8 & ((1 << bits) - 1), half = 1 << (bits - 1);
  switch (v.type) {
    case SkinnyWeights::e4m3:
      return small_float(code, 4, 3, 7);
    case SkinnyWeights::mxf4:
    case SkinnyWeights::nvf4:
      return small_float(code, 2, 1, 1);
    default:
      return (code ^ half) - half;
  }
}

__device__ double scale_of(const Weights& v, int row, int column) {
  const int block = scale_block(v.type);
  const std::uint8_t* const row_scales =
      v.scales + static_cast<std::size_t>(row) * scale_row_bytes(v.type, v.k);
  const int at = block == 0 ? 0 : column / block;
  switch (v.type) {
    case SkinnyWeights::bf16:
      return 1;
    case SkinnyWeights::s8:
    case SkinnyWeights::e4m3:
      return *reinterpret_cast<const float*>(row_scales);
    case SkinnyWeights::s4:
    case SkinnyWeights::s2:
      return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(row_scales)[at]);
    case SkinnyWeights::mxf4:
      return ldexp(1.0, row_scales[at] - 127);
    default:
      return small_float(row_scales[at], 4, 3, 7) * *v.scale;
  }
}

__global__ void count_not_finite(const __nv_bfloat16* d, std::size_t count, Totals* totals) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long found = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    found += !isfinite(__bfloat162float(d[i]));
  if (found != 0) atomicAdd(&totals->not_finite, found);
}

__global__ void compare(const __nv_bfloat16* d, const __nv_bfloat16* x, Weights weights, int m,
                        int n, std::uint64_t checked, bool all, std::uint64_t seed,
                        Totals* totals) {
  const int lane = threadIdx.x % 32;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * blockDim.x / 32;
  const std::uint64_t outputs = static_cast<std::uint64_t>(m) * n;
  const int k = weights.k;
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; i < checked;
       i += warps) {
    const std::uint64_t at = all ? i : splitmix64(i ^ splitmix64(seed)) % outputs;
    const std::size_t token = at / n;
    const int row = static_cast<int>(at % n);
    double sum = 0, magnitude = 0;
    for (int j = lane; j < k; j += 32) {
      const double weight = element(weights, std::size_t(row) * k + j) * scale_of(weights, row, j);
      const double product = weight * __bfloat162float(x[token * k + j]);
      sum += product;
      magnitude += fabs(product);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, offset);
      magnitude += __shfl_xor_sync(0xffffffffu, magnitude, offset);
    }
    if (lane == 0) {
      const double error = fabs(static_cast<double>(__bfloat162float(d[at])) - sum);
      const double bound = skinny_bound(k, sum, magnitude);
      // NaN errors are counted by count_not_finite; max() would drop them here.
      const double ratio = bound > 0 ? error / bound : (error > 0 ? INFINITY : 0);
      if (ratio > 0) atomicMax(&totals->worst_ratio_bits, __double_as_longlong(ratio));
    }
  }
}

__global__ void expand(Weights weights, std::size_t count, __nv_bfloat16* to) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const int row = static_cast<int>(i / weights.k), column = static_cast<int>(i % weights.k);
    to[i] = __double2bfloat16(element(weights, i) * scale_of(weights, row, column));
  }
}

Weights weights_of(const SkinnyProblem& p, const SkinnyOperands& o) {
  return {p.weights, p.k, static_cast<const std::uint8_t*>(o.w),
          static_cast<const std::uint8_t*>(o.scales), o.scale};
}

constexpr int kBlocks = 1024;
constexpr int kThreads = 256;

}  // namespace

std::string SkinnyErrors::describe() const {
  char text[120];
  std::snprintf(text, sizeof text,
                "%llu outputs checked, %llu not finite, worst error %.3f of the bound",
                static_cast<unsigned long long>(checked),
                static_cast<unsigned long long>(not_finite), worst_ratio);
  return text;
}

SkinnyErrors check_skinny(const SkinnyProblem& p, const SkinnyOperands& operands,
                          std::uint64_t limit, std::uint64_t seed, cudaStream_t stream) {
  const std::uint64_t outputs = static_cast<std::uint64_t>(p.m) * p.n;
  const Buffer totals(sizeof(Totals));
  check(cudaMemsetAsync(totals.data(), 0, sizeof(Totals), stream));
  SkinnyErrors errors;
  errors.checked = std::min(outputs, limit);
  const auto* d = static_cast<const __nv_bfloat16*>(operands.d);
  count_not_finite<<<kBlocks, kThreads, 0, stream>>>(d, outputs, totals.as<Totals>());
  check(cudaGetLastError());
  compare<<<kBlocks, kThreads, 0, stream>>>(d, static_cast<const __nv_bfloat16*>(operands.x),
                                            weights_of(p, operands), p.m, p.n, errors.checked,
                                            outputs <= limit, seed, totals.as<Totals>());
  check(cudaGetLastError());
  Totals found;
  check(cudaMemcpyAsync(&found, totals.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  errors.not_finite = found.not_finite;
  errors.worst_ratio = __builtin_bit_cast(double, found.worst_ratio_bits);
  return errors;
}

void expand_skinny(const SkinnyProblem& p, const SkinnyOperands& operands, void* to,
                   cudaStream_t stream) {
  expand<<<kBlocks, kThreads, 0, stream>>>(weights_of(p, operands),
                                           static_cast<std::size_t>(p.n) * p.k,
                                           static_cast<__nv_bfloat16*>(to));
  check(cudaGetLastError());
}

}  // namespace assay::kernels
