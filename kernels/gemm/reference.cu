// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/reference.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "harness/measure/splitmix64.hpp"
#include "kernels/gemm/bound.hpp"

namespace assay::kernels {
namespace {

enum class Type : std::uint8_t { bf16, f16, f32, e4m3, e5m2 };

Type type_of(const std::string& name) {
  if (name == "bf16") return Type::bf16;
  if (name == "f16") return Type::f16;
  if (name == "f32") return Type::f32;
  if (name == "e4m3") return Type::e4m3;
  if (name == "e5m2") return Type::e5m2;
  throw Error(ExitCode::usage,
              "gemm: no element type " + name + "; use bf16, f16, f32, e4m3, e5m2");
}

GemmRounding rounding_of(Type type) {
  if (type == Type::bf16) return {0x1p-8, 0};
  if (type == Type::f16) return {0x1p-11, 0x1p-25};
  return {0x1p-24, 0};
}

__device__ double element(Type type, const void* data, std::uint64_t at) {
  switch (type) {
    case Type::bf16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[at]);
    case Type::f16:
      return __half2float(static_cast<const __half*>(data)[at]);
    case Type::f32:
      return static_cast<const float*>(data)[at];
    case Type::e4m3:
      return static_cast<float>(static_cast<const __nv_fp8_e4m3*>(data)[at]);
    case Type::e5m2:
      break;
  }
  return static_cast<float>(static_cast<const __nv_fp8_e5m2*>(data)[at]);
}

// A stored matrix: element (row, x) lies at row * row_step + x * x_step, x running over k.
struct Factor {
  const void* data;
  Type type;
  std::uint64_t row_step, x_step;
  const float* scale;
  std::uint64_t scale_step;  // 0: one factor for all

  __device__ double at(std::uint64_t row, std::uint64_t x) const {
    return element(type, data, row * row_step + x * x_step);
  }
  __device__ double scale_of(std::uint64_t row) const {
    return scale ? scale[row * scale_step] : 1.0;
  }
};

// What is compared with what.
struct Question {
  Factor a, b;
  const void *d, *c, *bias;
  Type type_d;
  std::uint64_t m, n;
  int k;
  double alpha, beta;
  int activation;
  bool fp8;
  GemmRounding rounding;
};

struct Totals {
  unsigned long long not_finite;
  unsigned long long worst_ratio_bits;  // of a non-negative double, whose bits sort like its value
  double squared_error, squared_reference;
};

__global__ void count_not_finite(Type type, const void* d, std::uint64_t count, Totals* totals) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned long long found = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    found += !isfinite(element(type, d, i));
  if (found != 0) atomicAdd(&totals->not_finite, found);
}

__global__ void compare(const Question q, std::uint64_t checked, bool all, std::uint64_t seed,
                        Totals* totals) {
  const int lane = threadIdx.x % 32;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * blockDim.x / 32;
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; i < checked;
       i += warps) {
    const std::uint64_t at = all ? i : splitmix64(i ^ splitmix64(seed)) % (q.m * q.n);
    const std::uint64_t row = at / q.n, column = at % q.n;
    GemmSum sum;
    for (int first = 0; first < q.k; first += 32) {
      const int x = first + lane;
      double product = x < q.k ? q.a.at(row, x) * q.b.at(column, x) : 0;
      double magnitude = fabs(product);
      for (int offset = 16; offset > 0; offset /= 2) {
        product += __shfl_xor_sync(0xffffffffu, product, offset);
        magnitude += __shfl_xor_sync(0xffffffffu, magnitude, offset);
      }
      sum.add(product, magnitude);
    }
    if (lane != 0) continue;
    const double from_c = q.beta == 0 ? 0 : q.beta * element(q.type_d, q.c, at);
    const double from_bias = q.bias ? element(q.type_d, q.bias, column) : 0;
    const GemmExpected expected =
        gemm_expected(sum, q.fp8, q.k,
                      {.factor = q.alpha * q.a.scale_of(row) * q.b.scale_of(column),
                       .addend = from_c + from_bias,
                       .magnitude = fabs(from_c) + fabs(from_bias),
                       .activation = q.activation},
                      q.rounding);
    const double error = fabs(element(q.type_d, q.d, at) - expected.value);
    // NaN errors are counted by count_not_finite; max() would drop them here.
    const double ratio = expected.bound > 0 ? error / expected.bound : (error > 0 ? INFINITY : 0);
    if (ratio > 0) atomicMax(&totals->worst_ratio_bits, __double_as_longlong(ratio));
    atomicAdd(&totals->squared_error, error * error);
    atomicAdd(&totals->squared_reference, expected.value * expected.value);
  }
}

constexpr int kBlocks = 1024;
constexpr int kThreads = 256;

Question question_of(const GemmProblem& p, const GemmOperands& o) {
  if (p.layout != "nt" && p.layout != "nn" && p.layout != "tn" && p.layout != "tt")
    throw Error(ExitCode::usage, "gemm: no layout " + p.layout + "; use nt, nn, tn or tt");
  const auto m = static_cast<std::uint64_t>(p.m), n = static_cast<std::uint64_t>(p.n),
             k = static_cast<std::uint64_t>(p.k);
  const bool a_rows = p.layout[0] == 'n', b_rows = p.layout[1] == 't';
  const auto scale_step = static_cast<std::uint64_t>(p.scaling == Scaling::row);
  const bool scaled = p.scaling != Scaling::none;
  const Type a = type_of(p.type), b = type_of(p.b_type()), d = type_of(p.d_type());
  return {.a = {o.a, a, a_rows ? k : 1, a_rows ? 1 : m, scaled ? o.scale_a : nullptr, scale_step},
          .b = {o.b, b, b_rows ? k : 1, b_rows ? 1 : n, scaled ? o.scale_b : nullptr, scale_step},
          .d = o.d,
          .c = o.c,
          .bias = p.bias ? o.bias : nullptr,
          .type_d = d,
          .m = m,
          .n = n,
          .k = p.k,
          .alpha = p.alpha,
          .beta = p.beta,
          .activation = static_cast<int>(p.activation),
          .fp8 = a == Type::e4m3 || a == Type::e5m2,
          .rounding = rounding_of(d)};
}

static_assert(static_cast<int>(Activation::none) == 0 && static_cast<int>(Activation::gelu) == 1 &&
              static_cast<int>(Activation::silu) == 2);

}  // namespace

std::string GemmErrors::describe() const {
  char text[200];
  std::snprintf(text, sizeof text,
                "%llu outputs checked, %llu not finite, worst error %.3f of the bound, relative "
                "error %.2e (at most %.2e)",
                static_cast<unsigned long long>(checked),
                static_cast<unsigned long long>(not_finite), worst_ratio, relative_error,
                relative_limit);
  return text;
}

GemmErrors check_gemm(const GemmProblem& problem, const GemmOperands& operands, std::uint64_t limit,
                      std::uint64_t seed, cudaStream_t stream) {
  const Question q = question_of(problem, operands);
  const std::uint64_t outputs = q.m * q.n;
  const Buffer totals(sizeof(Totals));
  check(cudaMemsetAsync(totals.data(), 0, sizeof(Totals), stream));
  GemmErrors errors;
  errors.checked = std::min(outputs, limit);
  count_not_finite<<<kBlocks, kThreads, 0, stream>>>(q.type_d, q.d, outputs, totals.as<Totals>());
  check(cudaGetLastError());
  compare<<<kBlocks, kThreads, 0, stream>>>(q, errors.checked, outputs <= limit, seed,
                                            totals.as<Totals>());
  check(cudaGetLastError());
  Totals found;
  check(cudaMemcpyAsync(&found, totals.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  errors.not_finite = found.not_finite;
  static_assert(sizeof(double) == sizeof found.worst_ratio_bits);
  errors.worst_ratio = __builtin_bit_cast(double, found.worst_ratio_bits);
  errors.relative_error =
      found.squared_reference > 0 ? std::sqrt(found.squared_error / found.squared_reference) : 0;
  const double steps = (problem.k + 31) / 32, cut = q.fp8 ? 0x1p-13 : 0x1p-22;
  errors.relative_limit =
      2 * (q.rounding.relative + q.rounding.absolute + cut * (steps + 4 * std::sqrt(steps)));
  return errors;
}

}  // namespace assay::kernels
