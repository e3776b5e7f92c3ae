// SPDX-License-Identifier: Apache-2.0
// 2^x of two f16 at once, by polynomial on the half-precision FMA pipe and by the special function
// unit, for attention that rounds its weights to f16 in any case: rate, and error over every f16.
//
// As exp2_polynomial.hpp does it, but for two differences. There is no rounding down of f16x2, so
// x is split at the nearest integer, f in [-1/2, 1/2]. And a carry of the lower half's exponent
// would run into the upper half, so 2^j is made as a number of its own and multiplied by: of s = x
// + 1536 + 15, whose units are worth 1, the low 6 bits are j + 15, the exponent field of 2^j.
// Coefficients: Remez exchange on 2^-f p(f) - 1 over [-1/2, 1/2], then rounded to f16, c0 to 1.
// Largest relative error of the ideal ones: degree 2 1.72e-3, degree 3 7.5e-5; f16 rounds
// by 4.9e-4.
#include <cuda_fp16.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "harness/device.hpp"
#include "harness/limits.hpp"
#include "harness/ptx/arithmetic.cuh"
#include "harness/state.hpp"

namespace {

using namespace assay;

constexpr int kWarps = 16, kChains = 8, kUnroll = 4;
constexpr int kCheckedIterations = 4;
constexpr float kLowest = -14, kMagic = 1536 + 15;  // 2^-14 is the smallest normal f16

__device__ __half2 both(float value) { return __float2half2_rn(value); }
__device__ std::uint32_t bits(__half2 x) { return *reinterpret_cast<std::uint32_t*>(&x); }
__device__ __half2 halves(std::uint32_t x) { return *reinterpret_cast<__half2*>(&x); }

// kDegree 0: MUFU.EX2.
template <int kDegree>
__device__ __half2 exp2_of(__half2 x) {
  if constexpr (kDegree == 0) {
    return halves(ptx::ex2_approx_f16x2(bits(x)));
  } else {
    x = __hmax2(x, both(kLowest));
    const __half2 shifted = __hadd2_rn(x, both(kMagic));
    const __half2 f = __hsub2_rn(x, __hsub2_rn(shifted, both(kMagic)));
    __half2 p = kDegree == 2 ? __hfma2(both(0.23842894f), f, both(0.70344801f))
                             : __hfma2(both(0.05517167f), f, both(0.24261112f));
    if constexpr (kDegree == 3) p = __hfma2(p, f, both(0.69326099f));
    p = __hfma2(p, f, both(1));
    return __hmul2(p, halves(bits(shifted) << 10 & 0x7c007c00u));
  }
}

// x -> 2^-x, which attracts to 0.641.
template <int kDegree>
__global__ void chain(std::int64_t iterations, float start, __half2* result,
                      StopwatchRecord* records) {
  __half2 x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = both(start + static_cast<float>(c) / 2);
  const Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int copy = 0; copy < kUnroll; ++copy)
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = exp2_of<kDegree>(__hneg2(x[c]));
  }
  stopwatch.stop(records);
  if (blockIdx.x == 0)
#pragma unroll
    for (int c = 0; c < kChains; ++c) result[c * blockDim.x + threadIdx.x] = x[c];
}

// Results of every f16, both halves alike; its bits are the thread's index.
template <int kDegree>
__global__ void evaluate_all(__half2* results) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  results[i] = exp2_of<kDegree>(halves(i | i << 16));
}

struct Function {
  const char* name;
  int degree;
  void (*chain)(std::int64_t, float, __half2*, StopwatchRecord*);
  void (*evaluate_all)(__half2*);
};
constexpr Function kFunctions[] = {{"mufu", 0, chain<0>, evaluate_all<0>},
                                   {"degree2", 2, chain<2>, evaluate_all<2>},
                                   {"degree3", 3, chain<3>, evaluate_all<3>}};

const Function& function_of(const Case& c) {
  for (const Function& function : kFunctions)
    if (c.i64("degree") == function.degree) return function;
  throw std::logic_error("a case of an unknown degree");
}

float value_of(unsigned short bits) {
  __half_raw raw;
  raw.x = bits;
  return __half2float(__half(raw));
}

// Over the arguments in [-14, 0]; both halves of a result must agree.
double largest_error(State& s, const Function& function) {
  constexpr int kValues = 1 << 16, kThreads = 256;
  auto* results = s.allocate<__half2>(kValues);
  function.evaluate_all<<<kValues / kThreads, kThreads, 0, s.stream()>>>(results);
  check(cudaGetLastError());
  const std::vector<__half2> found = download(results, kValues, s.stream());
  double largest = 0;
  for (int i = 0; i < kValues; ++i) {
    const double x = value_of(static_cast<unsigned short>(i));
    if (!(x >= kLowest && x <= 0)) continue;
    const double low = __low2float(found[static_cast<std::size_t>(i)]);
    s.require(low == __high2float(found[static_cast<std::size_t>(i)]),
              "the two halves of a result differ though their arguments do not");
    const double exact = std::exp2(x);
    largest = std::max(largest, std::abs(low - exact) * std::exp2(10 - std::ilogb(exact)));
  }
  return largest;
}

void run(State& s) {
  const Function& function = function_of(s.which());
  constexpr std::size_t kResults = std::size_t{kChains} * kWarps * 32;
  auto* result = s.allocate<__half2>(kResults);
  auto* record = s.allocate<StopwatchRecord>(1);
  function.chain<<<1, kWarps * 32, 0, s.stream()>>>(kCheckedIterations, 1.0f, result, record);
  check(cudaGetLastError());
  for (const __half2& x : download(result, kResults, s.stream())) {
    const double fixed_point = 0.641186;
    s.require(
        std::abs(__low2float(x) - fixed_point) < 5e-3 &&
            std::abs(__high2float(x) - fixed_point) < 5e-3,
        "x <- 2^-x must end near its fixed point, 0.641, not at " + std::to_string(__low2float(x)));
  }
  Limit limit;
  if (function.degree == 0) limit = limits::special_function(s.target(), "ex2");
  s.cycles({.ops = 2.0 * 32 * kWarps * kChains * kUnroll, .limit = limit},
           [&, ctas = s.device().sm_count](const Launch& l) {
             function.chain<<<ctas, kWarps * 32, 0, l.stream>>>(l.iterations, 1.0f, result,
                                                                l.records);
           });
  s.add_exact("max_ulp", "ulp", Better::lower, largest_error(s, function));
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const int degree = function_of(c).degree, copies = kChains * kUnroll;
  const int mufu = degree ? 0 : copies * (has(target, Feature::packed_ex2) ? 1 : 2);
  return {{.kernel = "chain<" + std::to_string(degree) + ">",
           .sass = {{"MUFU.EX2", mufu, mufu}, {"HFMA2", degree * copies, INT_MAX}}}};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Function& function : kFunctions)
    all.push_back({.name = function.name,
                   .params = {{"degree", std::int64_t{function.degree}},
                              {"range", "every f16 in [-14, 0]"},
                              {"results_per_instruction", std::int64_t{2}},
                              {"state", "burst"}},
                   .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "special_function/exp2_f16x2",
    .question = "Does a polynomial in f16x2 give 2^x faster than the special function unit, and "
                "how exactly?",
    .metrics = {{"max_ulp",
                 "Largest error over every f16 in [-14, 0], in units in the last place of the "
                 "exact result."}},
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
