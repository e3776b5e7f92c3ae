// SPDX-License-Identifier: Apache-2.0
// Special functions as CUDA C++ spells them: what __expf, expf, sinf or a correctly rounded
// division cost once compiled, without -use_fast_math. Their MUFU comes with arithmetic that
// reduces the argument, and with branches for rare ones, which no argument here takes.
//
// Each chain has a fixed point that attracts it, so it neither runs off nor dies out, see kForms.
// Where that takes an addition, it is in the chain and in latency_cycles.
#include <cmath>
#include <string>

#include "harness/device.hpp"
#include "harness/limits.hpp"
#include "harness/state.hpp"

namespace {

using namespace assay;

constexpr int kWarps = 16, kChains = 4, kUnroll = 4;  // for throughput
constexpr int kLatencyUnroll = 16;
constexpr int kCheckedIterations = 4;

enum Form : int {
  kFastExp,
  kExp,
  kExp2,
  kFastLog,
  kLog,
  kFastSin,
  kSin,
  kFastCos,
  kCos,
  kFastTanh,
  kTanh,
  kFastPow,
  kPow,
  kErf,
  kRcp,
  kRsqrt,
  kSqrt,
  kFastDivide,
  kDivide,
  kForms,
};

template <int kForm>
__device__ float step(float x, float a) {
  if constexpr (kForm == kFastExp) return __expf(-x);
  if constexpr (kForm == kExp) return expf(-x);
  if constexpr (kForm == kExp2) return exp2f(-x);
  if constexpr (kForm == kFastLog) return __logf(x + a);
  if constexpr (kForm == kLog) return logf(x + a);
  if constexpr (kForm == kFastSin) return __sinf(x + a);
  if constexpr (kForm == kSin) return sinf(x + a);
  if constexpr (kForm == kFastCos) return __cosf(x);
  if constexpr (kForm == kCos) return cosf(x);
  if constexpr (kForm == kFastTanh) return __tanhf(x + a);
  if constexpr (kForm == kTanh) return tanhf(x + a);
  if constexpr (kForm == kFastPow) return __powf(x, a);
  if constexpr (kForm == kPow) return powf(x, a);
  if constexpr (kForm == kErf) return erff(x + a);
  if constexpr (kForm == kRcp) return __frcp_rn(x + a);
  if constexpr (kForm == kRsqrt) return rsqrtf(x);
  if constexpr (kForm == kSqrt) return __fsqrt_rn(x + a);
  if constexpr (kForm == kFastDivide) return __fdividef(a, x + a);
  if constexpr (kForm == kDivide) return __fdiv_rn(a, x + a);
}

template <int kForm, int kChainCount, int kCopies>
__global__ void chain(std::int64_t iterations, float start, float a, float* result,
                      StopwatchRecord* records) {
  float x[kChainCount];
#pragma unroll
  for (int c = 0; c < kChainCount; ++c) x[c] = start + static_cast<float>(c);
  const Stopwatch stopwatch;
#pragma unroll 1
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
    for (int copy = 0; copy < kCopies; ++copy)
#pragma unroll
      for (int c = 0; c < kChainCount; ++c) x[c] = step<kForm>(x[c], a);
  }
  stopwatch.stop(records);
  if (blockIdx.x == 0)
#pragma unroll
    for (int c = 0; c < kChainCount; ++c) result[c * blockDim.x + threadIdx.x] = x[c];
}

using Kernel = void (*)(std::int64_t, float, float, float*, StopwatchRecord*);

struct FormInfo {
  const char* name;
  double (*exact)(double x, double a);
  double a;
  const char* opcode;  // one of what each copy becomes
  int count;
  double tolerance;  // relative
  Kernel throughput, latency;
};

template <int kForm>
constexpr FormInfo info(const char* name, double (*exact)(double, double), double a,
                        const char* opcode, int count, double tolerance = 1e-4) {
  return {name,
          exact,
          a,
          opcode,
          count,
          tolerance,
          chain<kForm, kChains, kUnroll>,
          chain<kForm, 1, kLatencyUnroll>};
}

// x -> e^-x, 2^-x, cos x go to 0.567, 0.641, 0.739; x -> ln(x + 8), sin(x + 1), tanh(x + 1/2),
// erf(x + 1/2) to 2.29, 0.935, 0.86, 0.91; x^(-1/2) to 1; 1 / (x + 1), sqrt(x + 1) to 0.618, 1.618.
const FormInfo kTable[kForms] = {
    info<kFastExp>(
        "__expf", [](double x, double) { return std::exp(-x); }, 0, "MUFU.EX2", 1),
    info<kExp>(
        "expf", [](double x, double) { return std::exp(-x); }, 0, "MUFU.EX2", 1),
    info<kExp2>(
        "exp2f", [](double x, double) { return std::exp2(-x); }, 0, "MUFU.EX2", 1),
    info<kFastLog>(
        "__logf", [](double x, double a) { return std::log(x + a); }, 8, "MUFU.LG2", 1),
    info<kLog>(
        "logf", [](double x, double a) { return std::log(x + a); }, 8, "FFMA", 8),
    info<kFastSin>(
        "__sinf", [](double x, double a) { return std::sin(x + a); }, 1, "MUFU.SIN", 1),
    info<kSin>(
        "sinf", [](double x, double a) { return std::sin(x + a); }, 1, "FFMA", 4),
    info<kFastCos>(
        "__cosf", [](double x, double) { return std::cos(x); }, 0, "MUFU.COS", 1),
    info<kCos>(
        "cosf", [](double x, double) { return std::cos(x); }, 0, "FFMA", 4),
    info<kFastTanh>(
        "__tanhf", [](double x, double a) { return std::tanh(x + a); }, 0.5, "MUFU.TANH", 1, 2e-3),
    info<kTanh>(
        "tanhf", [](double x, double a) { return std::tanh(x + a); }, 0.5, "MUFU.EX2", 1),
    info<kFastPow>(
        "__powf", [](double x, double a) { return std::pow(x, a); }, -0.5, "MUFU.EX2", 1),
    info<kPow>(
        "powf", [](double x, double a) { return std::pow(x, a); }, -0.5, "FFMA", 15),
    info<kErf>(
        "erff", [](double x, double a) { return std::erf(x + a); }, 0.5, "FFMA", 5),
    info<kRcp>(
        "rcp_rn", [](double x, double a) { return 1 / (x + a); }, 1, "MUFU.RCP", 1),
    info<kRsqrt>(
        "rsqrtf", [](double x, double) { return 1 / std::sqrt(x); }, 0, "MUFU.RSQ", 1),
    info<kSqrt>(
        "sqrt_rn", [](double x, double a) { return std::sqrt(x + a); }, 1, "MUFU.RSQ", 1),
    info<kFastDivide>(
        "__fdividef", [](double x, double a) { return a / (x + a); }, 1, "MUFU.RCP", 1),
    info<kDivide>(
        "div_rn", [](double x, double a) { return a / (x + a); }, 1, "MUFU.RCP", 1),
};

const FormInfo& form_of(const Case& c) { return kTable[c.i64("form")]; }

std::vector<KernelUse> kernels(const Case& c, Target) {
  const FormInfo& form = form_of(c);
  const auto use = [&](int chains, int copies) {
    const int all = form.count * chains * copies;
    return KernelUse{.kernel = "chain<" + std::to_string(c.i64("form")) + ", " +
                               std::to_string(chains) + ", " + std::to_string(copies) + ">",
                     .sass = {{form.opcode, all, INT_MAX}},
                     .emulated = true,       // calls, which rare arguments take
                     .local_memory = true};  // where sinf and cosf reduce huge arguments
  };
  return {use(kChains, kUnroll), use(1, kLatencyUnroll)};
}

// Launches `kernel` of `chains` chains on every SM, after it computed the right values on one.
Callable<void(const Launch&)> prepare(State& s, const FormInfo& form, Kernel kernel, int warps,
                                      int chains, int copies) {
  constexpr float kStart = 1;
  const auto threads = static_cast<unsigned>(warps * 32);
  const std::size_t count = static_cast<std::size_t>(chains) * threads;
  auto* result = s.allocate<float>(count);
  const auto a = static_cast<float>(form.a);
  auto* record = s.allocate<StopwatchRecord>(1);
  check(cudaMemsetAsync(result, 0xff, count * sizeof(float), s.stream()));
  kernel<<<1, threads, 0, s.stream()>>>(kCheckedIterations, kStart, a, result, record);
  check(cudaGetLastError());
  const std::vector<float> found = download(result, count, s.stream());
  for (int c = 0; c < chains; ++c) {
    double expected = kStart + c;
    for (int i = 0; i < kCheckedIterations * copies; ++i) expected = form.exact(expected, a);
    for (unsigned t = 0; t < threads; ++t) {
      const float x = found[static_cast<std::size_t>(c) * threads + t];
      s.require(std::abs(x - expected) <= form.tolerance * expected,
                std::string(form.name) + " ended with " + std::to_string(x) + ", not " +
                    std::to_string(expected));
    }
  }
  return [=, ctas = s.device().sm_count](const Launch& l) {
    kernel<<<ctas, threads, 0, l.stream>>>(l.iterations, kStart, a, result, l.records);
  };
}

void run(State& s) {
  const FormInfo& form = form_of(s.which());
  s.cycles({.ops = 32.0 * kWarps * kChains * kUnroll,
            .limit = limits::special_function(s.target(), form.name)},
           prepare(s, form, form.throughput, kWarps, kChains, kUnroll));
  s.cycles({.steps = kLatencyUnroll}, prepare(s, form, form.latency, 1, 1, kLatencyUnroll));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (int form = 0; form < kForms; ++form)
    all.push_back({.name = kTable[form].name,
                   .params = {{"form", std::int64_t{form}}, {"state", "burst"}},
                   .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "special_function/cuda_c",
    .question = "What do the special functions of CUDA C++ deliver per clock once compiled?",
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
