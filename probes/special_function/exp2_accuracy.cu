// SPDX-License-Identifier: Apache-2.0
// How far MUFU.EX2 and the polynomials of exp2_polynomial.hpp are from 2^x: every float of a range,
// against 2^x in double.
//
// ulp: the error in units of the last place of a float (or of the bf16 or f16 that attention rounds
// its weights to) of the exact result's binade. A correctly rounded result has at most 0.5.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "harness/device.hpp"
#include "harness/ptx/arithmetic.cuh"
#include "harness/state.hpp"
#include "probes/special_function/exp2_polynomial.hpp"

namespace {

using namespace assay;

constexpr int kThreads = 256;

// 0: MUFU.EX2; else the polynomial of that degree.
template <int kDegree>
__device__ float exp2_of(float x) {
  if constexpr (kDegree == 0)
    return ptx::ex2_approx_ftz(x);
  else
    return exp2_polynomial::evaluate<kDegree>(x);
}

// |value - exact| in ulp of a format with `fraction_bits` behind the leading one.
__device__ double ulps(double value, double exact, int fraction_bits) {
  return fabs(value - exact) * exp2(static_cast<double>(fraction_bits - ilogb(exact)));
}

// What a sweep leaves: largest errors as bits of floats, which order as they do, with the argument
// in the low half; and counts.
struct Findings {
  unsigned long long f32, bf16, f16;
  unsigned long long bf16_misrounded, tested;
};

__device__ unsigned long long keyed(double error, float x) {
  return static_cast<unsigned long long>(__float_as_uint(static_cast<float>(error))) << 32 |
         __float_as_uint(x);
}

// Floats first, first + stride, ... by their bits when `by_bits`; else the multiples of -2^-20 with
// those numbers.
template <int kDegree>
__global__ void compare_all(std::uint32_t first, std::uint32_t count, bool by_bits,
                            Findings* findings) {
  Findings mine = {};
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const float x =
        by_bits ? __uint_as_float(first + i) : -0x1p-20f * static_cast<float>(first + i);
    const double exact = exp2(static_cast<double>(x));
    const float found = exp2_of<kDegree>(x);
    const double bf16_error = ulps(__bfloat162float(__float2bfloat16_rn(found)), exact, 7);
    mine.f32 = max(mine.f32, keyed(ulps(found, exact, 23), x));
    mine.bf16 = max(mine.bf16, keyed(bf16_error, x));
    if (exact >= 0x1p-14 && exact < 0x1p15)  // normal in f16
      mine.f16 = max(mine.f16, keyed(ulps(__half2float(__float2half_rn(found)), exact, 10), x));
    mine.bf16_misrounded += bf16_error > 0.5;
    ++mine.tested;
  }
  atomicMax(&findings->f32, mine.f32);
  atomicMax(&findings->bf16, mine.bf16);
  atomicMax(&findings->f16, mine.f16);
  atomicAdd(&findings->bf16_misrounded, mine.bf16_misrounded);
  atomicAdd(&findings->tested, mine.tested);
}

struct Function {
  const char* name;
  int degree;
  void (*compare)(std::uint32_t, std::uint32_t, bool, Findings*);
};
constexpr Function kFunctions[] = {{"mufu", 0, compare_all<0>},
                                   {"degree3", 3, compare_all<3>},
                                   {"degree4", 4, compare_all<4>},
                                   {"degree5", 5, compare_all<5>}};

const Function& function_of(const Case& c) {
  for (const Function& function : kFunctions)
    if (c.i64("degree") == function.degree) return function;
  throw std::logic_error("a case of an unknown degree");
}

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
double error_of(unsigned long long key) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32));
}
std::string argument_of(unsigned long long key) {
  char text[32];
  std::snprintf(text, sizeof text, "%a", std::bit_cast<float>(static_cast<std::uint32_t>(key)));
  return text;
}

void run(State& s) {
  const Function& function = function_of(s.which());
  auto* device = s.allocate<Findings>(1);
  const auto sweep = [&](std::uint32_t first, std::uint32_t count, bool by_bits) {
    check(cudaMemsetAsync(device, 0, sizeof(Findings), s.stream()));
    function.compare<<<s.device().sm_count * 8, kThreads, 0, s.stream()>>>(first, count, by_bits,
                                                                           device);
    check(cudaGetLastError());
    const Findings found = download(device, 1, s.stream()).front();
    s.require(found.tested == count, "not every argument was tested");
    return found;
  };
  // -0 ... -126 and +0 ... 127, by their bits; then 2^24 arguments evenly spread over (-16, 0].
  const Findings negative = sweep(bits(-0.0f), bits(-126.0f) - bits(-0.0f) + 1, true);
  const Findings positive = sweep(bits(0.0f), bits(127.0f) - bits(0.0f) + 1, true);
  const Findings even = sweep(0, 1u << 24, false);
  const auto largest = [](unsigned long long a, unsigned long long b) {
    return error_of(std::max(a, b));
  };
  s.add_exact("max_ulp", "ulp", Better::lower, error_of(negative.f32));
  s.add_exact("max_ulp_full_range", "ulp", Better::lower, largest(negative.f32, positive.f32));
  s.add_exact("max_ulp_bf16", "ulp", Better::lower, error_of(negative.bf16));
  s.add_exact("max_ulp_f16", "ulp", Better::lower, error_of(negative.f16));
  s.add_exact("bf16_misrounded_share", "", Better::lower,
              static_cast<double>(even.bf16_misrounded) / static_cast<double>(even.tested));
  s.set_param("worst_argument", argument_of(negative.f32));
}

std::vector<KernelUse> kernels(const Case& c, Target) {
  const Function& function = function_of(c);
  const int mufu = function.degree == 0, ffma = function.degree;
  return {{.kernel = "compare_all<" + std::to_string(function.degree) + ">",
           .sass = {{"MUFU.EX2", mufu, mufu}, {"FFMA", ffma, INT_MAX}}}};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Function& function : kFunctions)
    all.push_back({.name = function.name,
                   .params = {{"degree", std::int64_t{function.degree}},
                              {"range", "every float in [-126, 0]"}},
                   .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "special_function/exp2_accuracy",
    .question = "How many units in the last place are MUFU.EX2 and polynomials of degree 3 to 5 "
                "away from 2^x, at most?",
    .metrics =
        {{"max_ulp",
          "Largest error over every float in [-126, 0], in units in the last place of the exact "
          "result."},
         {"max_ulp_full_range",
          "Largest error over every float in [-126, 127], in units in the last place of the exact "
          "result."},
         {"max_ulp_bf16",
          "Largest error in [-126, 0] after rounding to bf16, in units in the last place of bf16."},
         {"max_ulp_f16",
          "Largest error in [-126, 0] after rounding to f16, in units in the last place of f16."},
         {"bf16_misrounded_share",
          "Share of arguments evenly spread over (-16, 0] whose bf16 result is not the nearest "
          "one."}},
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
