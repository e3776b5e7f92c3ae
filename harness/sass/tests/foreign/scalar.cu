// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads work alone, in registers and on what they read for themselves.
#include "foreign.hpp"

namespace foreign {
namespace {

using assay::Stopwatch;
using assay::StopwatchRecord;

constexpr int kFloats = kChunk / sizeof(float);

__global__ void mandelbrot(const float*, float* out, int n, StopwatchRecord* records) {
  const float cx = -0.1f + 1e-5f * static_cast<float>(threadIdx.x);
  const float cy = 0.1f + 1e-6f * static_cast<float>(blockIdx.x);
  float x = 0, y = 0;
  int steps = 0;
  const Stopwatch stopwatch;
#pragma unroll 1
  while (steps < n) {
    const float xx = x * x, yy = y * y;
    if (xx + yy > 4.0f) break;
    y = 2 * x * y + cy;
    x = xx - yy + cx;
    ++steps;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(steps) + x * 1e-30f;
}

__device__ float cumulative_normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float poly =
      k * (0.31938153f +
           k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228f * __expf(-0.5f * d * d) * poly;
  return d > 0 ? 1.0f - tail : tail;
}

// The options' prices lie in L1; division and square root as the compiler makes them by default,
// with their slow paths.
__global__ void black_scholes(const float* in, float* out, int n, StopwatchRecord* records) {
  const float* chunk = in + blockIdx.x * kFloats;
  float sum = 0;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const int at = (i * 256 + static_cast<int>(threadIdx.x)) & (kFloats / 4 - 1);
    const float spot = 20.0f + chunk[at], strike = 20.0f + chunk[at + kFloats / 4];
    const float years = chunk[at + kFloats / 2], rate = 0.02f, volatility = 0.3f;
    const float root = sqrtf(years);
    const float d1 = (__logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years) /
                     (volatility * root);
    const float d2 = d1 - volatility * root;
    const float call =
        spot * cumulative_normal(d1) - strike * __expf(-rate * years) * cumulative_normal(d2);
    sum += call;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// All pairs, bodies of a tile read from shared memory by all threads at once.
__global__ void nbody(const float* in, float* out, int n, StopwatchRecord* records) {
  __shared__ float4 bodies[256];
  const float* chunk = in + blockIdx.x * kFloats;
  bodies[threadIdx.x] = reinterpret_cast<const float4*>(chunk)[threadIdx.x];
  __syncthreads();
  const float4 self = bodies[threadIdx.x ^ 1];
  float ax = 0, ay = 0, az = 0;
  const Stopwatch stopwatch;
#pragma unroll 4
  for (int i = 0; i < n; ++i) {
    const float4 other = bodies[i & 255];
    const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    const float squared = dx * dx + dy * dy + dz * dz + 1e-4f;
    const float inverse = rsqrtf(squared);
    const float scale = other.w * inverse * inverse * inverse;
    ax += dx * scale;
    ay += dy * scale;
    az += dz * scale;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = ax + ay + az;
}

// 16 points in registers: two radix-4 steps with twiddles between, over and over.
__device__ void radix4(float2& a, float2& b, float2& c, float2& d) {
  const float2 s = {a.x + c.x, a.y + c.y}, t = {a.x - c.x, a.y - c.y};
  const float2 u = {b.x + d.x, b.y + d.y}, v = {b.y - d.y, d.x - b.x};
  a = {s.x + u.x, s.y + u.y};
  b = {t.x + v.x, t.y + v.y};
  c = {s.x - u.x, s.y - u.y};
  d = {t.x - v.x, t.y - v.y};
}
__device__ float2 times(float2 a, float2 b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

__global__ __launch_bounds__(128) void fft16(const float* in, float* out, int n,
                                             StopwatchRecord* records) {
  const float2* chunk = reinterpret_cast<const float2*>(in + blockIdx.x * kFloats);
  float2 x[16], twiddle[9];
  for (int i = 0; i < 16; ++i) x[i] = chunk[i * 128 + threadIdx.x];
  for (int i = 0; i < 9; ++i) {
    const float angle = -6.2831853f * static_cast<float>((i / 3 + 1) * (i % 3 + 1)) / 16;
    twiddle[i] = {cosf(angle) / 4, sinf(angle) / 4};
  }
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) radix4(x[k], x[k + 4], x[k + 8], x[k + 12]);
#pragma unroll
    for (int k = 0; k < 9; ++k)
      x[(k / 3 + 1) * 4 + k % 3 + 1] = times(x[(k / 3 + 1) * 4 + k % 3 + 1], twiddle[k]);
#pragma unroll
    for (int k = 0; k < 4; ++k) radix4(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
#pragma unroll
    for (int k = 0; k < 16; ++k) x[k] = {x[k].x * 0.25f, x[k].y * 0.25f};
  }
  stopwatch.stop(records);
  float sum = 0;
  for (const float2 v : x) sum += v.x + v.y;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// exp(x) in double precision: reduction of the argument and a polynomial, summed.
__global__ void exp_f64(const float* in, float* out, int n, StopwatchRecord* records) {
  double x = in[blockIdx.x * kFloats + threadIdx.x], sum = 0;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const double whole = rint(x * 1.4426950408889634);
    const double r = fma(whole, -0.6931471805599453, x);
    double p = 1.0 / 39916800;
    constexpr double kFactorials[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800};
#pragma unroll
    for (int k = 10; k >= 0; --k) p = fma(p, r, 1 / kFactorials[k]);
    sum += p * __hiloint2double((1023 + __double2int_rn(whole)) << 20, 0);
    x += 1e-9;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(sum);
}

// Forces between atoms within a cutoff: a branch that half of the pairs take.
__global__ void lennard_jones(const float* in, float* out, int n, StopwatchRecord* records) {
  __shared__ float4 atoms[256];
  const float* chunk = in + blockIdx.x * kFloats;
  atoms[threadIdx.x] = reinterpret_cast<const float4*>(chunk)[threadIdx.x];
  __syncthreads();
  const float4 self = atoms[threadIdx.x ^ 1];
  float fx = 0, fy = 0, fz = 0;
  const Stopwatch stopwatch;
#pragma unroll 2
  for (int i = 0; i < n; ++i) {
    const float4 other = atoms[i & 255];
    const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    const float squared = dx * dx + dy * dy + dz * dz;
    if (squared < 0.3f && squared > 1e-6f) {
      const float inverse = 1.0f / squared;
      const float sixth = inverse * inverse * inverse * other.w;
      const float force = inverse * sixth * (sixth - 0.5f);
      fx += dx * force;
      fy += dy * force;
      fz += dz * force;
    }
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = fx + fy + fz;
}

// y = a x + y on vectors that stay in L1.
__global__ void saxpy(const float* in, float* out, int n, StopwatchRecord* records) {
  const float* x = in + blockIdx.x * kFloats;
  float* y = out + blockIdx.x * kFloats;
  for (int i = static_cast<int>(threadIdx.x); i < kFloats; i += 256) y[i] = 1;
  __syncthreads();
  const Stopwatch stopwatch;
#pragma unroll 4
  for (int i = 0; i < n; ++i) {
    const int at = (i * 256 + static_cast<int>(threadIdx.x)) & (kFloats - 1);
    y[at] = 0.001f * x[at] + y[at];
  }
  stopwatch.stop(records);
}

// The tanh form, on four values at a time, summed as the loss of a test would be.
__global__ void gelu(const float* in, float* out, int n, StopwatchRecord* records) {
  const float4* chunk = reinterpret_cast<const float4*>(in + blockIdx.x * kFloats);
  float sum = 0;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const float4 v = chunk[(i * 256 + static_cast<int>(threadIdx.x)) & (kFloats / 4 - 1)];
    const auto one = [](float x) {
      const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
      return x - x / (1.0f + __expf(2 * inner));
    };
    sum += one(v.x) + one(v.y) + one(v.z) + one(v.w);
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Every thread a dot product of its own row and a vector, row by row: f32 matrix times vector.
__global__ void sgemv(const float* in, float* out, int n, StopwatchRecord* records) {
  const float* a = in + blockIdx.x * kFloats;
  float sum = 0;
  const Stopwatch stopwatch;
#pragma unroll 8
  for (int k = 0; k < n; ++k) sum += a[(k * 128 + threadIdx.x) & (kFloats - 1)] * a[k & 127];
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

}  // namespace

std::vector<Kernel> scalar_kernels() {
  return {
      kernel("mandelbrot", mandelbrot, 256, 1, 256,
             std::function([](const float*, int n) { return double(n); })),
      kernel("black_scholes", black_scholes, 256, 1, 256),
      kernel("nbody", nbody, 256, 4, 256),
      kernel("fft16", fft16, 128, 1, 128),
      kernel("exp_f64", exp_f64, 256, 1, 256, std::function([](const float* in, int n) {
               double sum = 0, x = in[0];
               for (int i = 0; i < n; ++i, x += 1e-9) sum += std::exp(x);
               return sum;
             })),
      kernel("lennard_jones", lennard_jones, 256, 2, 256),
      kernel("saxpy", saxpy, 256, 4, kFloats, std::function([](const float* in, int n) {
               return 1 + 0.001 * in[0] * ((n - 1) / (kFloats / 256) + 1);
             })),
      kernel("gelu", gelu, 256, 1, 256),
      kernel("sgemv", sgemv, 128, 8, 128, std::function([](const float* a, int n) {
               double sum = 0;
               for (int k = 0; k < n; ++k)
                 sum += static_cast<double>(a[k * 128 & (kFloats - 1)]) * a[k & 127];
               return sum;
             })),
  };
}

}  // namespace foreign
