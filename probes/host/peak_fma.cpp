// SPDX-License-Identifier: Apache-2.0
// Peak fused multiply-adds of the CPU: independent chains in registers, in the widest vectors it
// has (found at run time; the rest of the program needs none of them). Ten chains hide a latency
// of 4 or 5 cycles at two a cycle and leave AVX2's sixteen registers room for the operands.
//
// Each chain iterates x = x / 2 + a, which must arrive at 2a from wherever it starts.
#include <cstdint>
#include <vector>

#include "harness/state.hpp"
#include "probes/host/team.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

constexpr int kChains = 10;
constexpr std::int64_t kRounds = 1 << 18;

// Returns whether every lane of every chain arrived at 2a.
using Kernel = bool (*)(float start, float half, float a);
struct Width {
  const char* name;
  int lanes;
  Kernel kernel;
};

bool arrived(const float* lanes, int count, float a) {
  for (int i = 0; i < count; ++i)
    if (lanes[i] != 2 * a) return false;
  return true;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) bool avx512(float start, float half, float a) {
  __m512 x[kChains], h = _mm512_set1_ps(half), b = _mm512_set1_ps(a);
  for (int c = 0; c < kChains; ++c) x[c] = _mm512_set1_ps(start + static_cast<float>(c));
  for (std::int64_t i = 0; i < kRounds; ++i)
    for (__m512& v : x) v = _mm512_fmadd_ps(v, h, b);
  float lanes[kChains * 16];
  for (int c = 0; c < kChains; ++c) _mm512_storeu_ps(lanes + c * 16, x[c]);
  return arrived(lanes, kChains * 16, a);
}
__attribute__((target("avx2,fma"))) bool avx2(float start, float half, float a) {
  __m256 x[kChains], h = _mm256_set1_ps(half), b = _mm256_set1_ps(a);
  for (int c = 0; c < kChains; ++c) x[c] = _mm256_set1_ps(start + static_cast<float>(c));
  for (std::int64_t i = 0; i < kRounds; ++i)
    for (__m256& v : x) v = _mm256_fmadd_ps(v, h, b);
  float lanes[kChains * 8];
  for (int c = 0; c < kChains; ++c) _mm256_storeu_ps(lanes + c * 8, x[c]);
  return arrived(lanes, kChains * 8, a);
}
#endif

// Four lanes of whatever the compiler's default is: multiply and add apart on x86-64, fused on Arm.
bool baseline(float start, float half, float a) {
  using Vector [[gnu::vector_size(16)]] = float;
  Vector x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = Vector{} + (start + static_cast<float>(c));
  for (std::int64_t i = 0; i < kRounds; ++i)
    for (Vector& v : x) v = v * half + a;
  return arrived(reinterpret_cast<const float*>(x), kChains * 4, a);
}

Width widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512", 16, avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"avx2", 8, avx2};
#endif
  return {"baseline", 4, baseline};
}

void run(assay::State& s) {
  const Width width = widest();
  const bool all = s.text("threads") == "all";
  const int threads = all ? assay::cpu_count() : 1;
  s.set_param("vectors", width.name);
  s.set_param("thread_count", threads);
  std::vector<char> right(threads);
  volatile float start = 0.25f, half = 0.5f, a = 1.25f;  // not known to the compiler
  const auto work = [&](int i, int) { right[i] = width.kernel(start + i, half, a); };
  s.sample({.flop = 2.0 * kRounds * kChains * width.lanes * threads},
           [&] { return all ? assay::on_all_cpus(work) : assay::on_one_cpu([&] { work(0, 1); }); });
  for (const char r : right) s.require(r, "a chain did not arrive at its fixed point");
}

const assay::Registration registration{{
    .name = "host/peak_fma/f32",
    .question = "How many f32 multiply-adds can the CPU do in a second?",
    .cases = {{.name = "one_thread", .params = {{"threads", "one"}}},
              {.name = "all_threads", .params = {{"threads", "all"}}}},
    .targets = {assay::Target::host},
    .pace = assay::Pace::host,
    .run = run,
}};

}  // namespace
