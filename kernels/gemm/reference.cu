// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "harness/cuda.hpp"
#include "harness/measure/splitmix64.hpp"
#include "kernels/gemm/reference.hpp"

namespace assay::kernels {
namespace {

struct Totals {
  unsigned long long not_finite;
  unsigned long long worst_ratio_bits;  // of a non-negative double, whose bits sort like its value
  double squared_error, squared_reference;
};

__global__ void count_not_finite(const __nv_bfloat16* d, std::size_t count, Totals* totals) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long found = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    found += !isfinite(__bfloat162float(d[i]));
  }
  if (found != 0) atomicAdd(&totals->not_finite, found);
}

__global__ void compare(const __nv_bfloat16* d, const __nv_bfloat16* a, const __nv_bfloat16* b,
                        int m, int n, int k, std::uint64_t checked, bool all, std::uint64_t seed,
                        Totals* totals) {
  const int lane = threadIdx.x % 32;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * blockDim.x / 32;
  const std::uint64_t outputs = static_cast<std::uint64_t>(m) * n;
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; i < checked;
       i += warps) {
    const std::uint64_t at = all ? i : splitmix64(i ^ splitmix64(seed)) % outputs;
    const __nv_bfloat16* row_a = a + at / n * k;
    const __nv_bfloat16* row_b = b + at % n * k;
    double sum = 0, magnitude = 0;
    for (int x = lane; x < k; x += 32) {
      const double product =
          static_cast<double>(__bfloat162float(row_a[x])) * __bfloat162float(row_b[x]);
      sum += product;
      magnitude += fabs(product);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, offset);
      magnitude += __shfl_xor_sync(0xffffffffu, magnitude, offset);
    }
    if (lane == 0) {
      const double error = fabs(static_cast<double>(__bfloat162float(d[at])) - sum);
      const double bound = 0x1p-8 * fabs(sum) + 0x1p-22 * ((k + 15) / 16) * magnitude;
      // NaN errors are counted by count_not_finite; max() would drop them here.
      const double ratio = bound > 0 ? error / bound : (error > 0 ? INFINITY : 0);
      if (ratio > 0) atomicMax(&totals->worst_ratio_bits, __double_as_longlong(ratio));
      atomicAdd(&totals->squared_error, error * error);
      atomicAdd(&totals->squared_reference, sum * sum);
    }
  }
}

constexpr int kBlocks = 1024;
constexpr int kThreads = 256;

}  // namespace

std::string GemmErrors::describe() const {
  char text[160];
  std::snprintf(text, sizeof text,
                "%llu outputs checked, %llu not finite, worst error %.3f of the bound, relative "
                "error %.2e",
                static_cast<unsigned long long>(checked),
                static_cast<unsigned long long>(not_finite), worst_ratio, relative_error);
  return text;
}

GemmErrors check_gemm_bf16_nt(const void* d, const void* a, const void* b, int m, int n, int k,
                              std::uint64_t limit, std::uint64_t seed, cudaStream_t stream) {
  const std::uint64_t outputs = static_cast<std::uint64_t>(m) * n;
  const Buffer totals(sizeof(Totals));
  check(cudaMemsetAsync(totals.data(), 0, sizeof(Totals), stream));
  GemmErrors errors;
  errors.checked = std::min(outputs, limit);
  const auto* out = static_cast<const __nv_bfloat16*>(d);
  count_not_finite<<<kBlocks, kThreads, 0, stream>>>(out, outputs, totals.as<Totals>());
  check(cudaGetLastError());
  compare<<<kBlocks, kThreads, 0, stream>>>(
      out, static_cast<const __nv_bfloat16*>(a), static_cast<const __nv_bfloat16*>(b), m, n, k,
      errors.checked, outputs <= limit, seed, totals.as<Totals>());
  check(cudaGetLastError());
  Totals found;
  check(cudaMemcpyAsync(&found, totals.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  errors.not_finite = found.not_finite;
  static_assert(sizeof(double) == sizeof found.worst_ratio_bits);
  errors.worst_ratio = __builtin_bit_cast(double, found.worst_ratio_bits);
  errors.relative_error = std::sqrt(found.squared_error / found.squared_reference);
  return errors;
}

}  // namespace assay::kernels
