// SPDX-License-Identifier: Apache-2.0
// A warp or a CTA to a row: norms, softmax, sums, sorting, quantizing. Rows are read again and
// again, so that they lie in L1.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "foreign.hpp"

namespace foreign {
namespace {

using assay::Stopwatch;
using assay::StopwatchRecord;

constexpr int kFloats = kChunk / sizeof(float);
constexpr int kColumns = 512;  // of a row; 8 rows to a CTA's chunk
constexpr int kQuads = kColumns / 128;

__device__ float warp_sum(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  return value;
}
__device__ float warp_max(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, lane));
  return value;
}

// The row that this thread's warp takes in round i.
__device__ const float4* row_of(const float* in, int i) {
  const int row = (i + static_cast<int>(threadIdx.x) / 32) & (kFloats / kColumns - 1);
  return reinterpret_cast<const float4*>(in + blockIdx.x * kFloats + row * kColumns) +
         threadIdx.x % 32;
}

struct Row {
  float v[4 * kQuads];
};
__device__ Row load(const float4* row) {
  Row values;
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const float4 quad = row[q * 32];
    values.v[4 * q] = quad.x;
    values.v[4 * q + 1] = quad.y;
    values.v[4 * q + 2] = quad.z;
    values.v[4 * q + 3] = quad.w;
  }
  return values;
}

// The largest probability of each row is what this thread adds up.
__global__ void softmax(const float* in, float* out, int n, StopwatchRecord* records) {
  float4 kept[kQuads] = {};
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    Row x = load(row_of(in, i));
    float most = -1e30f, sum = 0;
#pragma unroll
    for (float v : x.v) most = fmaxf(most, v);
    most = warp_max(most);
#pragma unroll
    for (float& v : x.v) sum += v = __expf(v - most);
    const float scale = 1.0f / warp_sum(sum);
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      kept[q].x += x.v[4 * q] * scale;
      kept[q].y += x.v[4 * q + 1] * scale;
      kept[q].z += x.v[4 * q + 2] * scale;
      kept[q].w += x.v[4 * q + 3] * scale;
    }
  }
  stopwatch.stop(records);
  float sum = 0;
  for (const float4 quad : kept) sum += quad.x + quad.y + quad.z + quad.w;
  sum = warp_sum(sum);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;  // every row's probabilities sum to 1
}

__global__ void layer_norm(const float* in, float* out, int n, StopwatchRecord* records) {
  float kept = 0;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const Row x = load(row_of(in, i));
    float sum = 0, squares = 0;
#pragma unroll
    for (const float v : x.v) sum += v;
    const float mean = warp_sum(sum) / kColumns;
#pragma unroll
    for (const float v : x.v) squares += (v - mean) * (v - mean);
    const float scale = rsqrtf(warp_sum(squares) / kColumns + 1e-5f);
#pragma unroll
    for (const float v : x.v) kept = fmaxf(kept, (v - mean) * scale);
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = kept;
}

__global__ void rms_norm(const float* in, __half2* out, int n, StopwatchRecord* records) {
  __half2* to = out + (blockIdx.x * blockDim.x + threadIdx.x) * 2 * kQuads;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const Row x = load(row_of(in, i));
    float squares = 0;
#pragma unroll
    for (const float v : x.v) squares += v * v;
    const float scale = rsqrtf(warp_sum(squares) / kColumns + 1e-5f);
    __half2 packed[2 * kQuads];
#pragma unroll
    for (int p = 0; p < 2 * kQuads; ++p)
      packed[p] = __floats2half2_rn(x.v[2 * p] * scale, x.v[2 * p + 1] * scale);
#pragma unroll
    for (int q = 0; q < kQuads / 2; ++q)
      reinterpret_cast<uint4*>(to)[q] = reinterpret_cast<const uint4*>(packed)[q];
  }
  stopwatch.stop(records);
}

__global__ void quantize_s8(const float* in, int* out, int n, StopwatchRecord* records) {
  int kept = 0;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const Row x = load(row_of(in, i));
    float most = 0;
#pragma unroll
    for (const float v : x.v) most = fmaxf(most, fabsf(v));
    const float scale = 127.0f / warp_max(most);
#pragma unroll
    for (const float v : x.v) kept += __float2int_rn(v * scale) & 0xff;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = kept;
}

__global__ void quantize_e4m3(const float* in, unsigned* out, int n, StopwatchRecord* records) {
  unsigned kept = 0;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const Row x = load(row_of(in, i));
    float most = 0;
#pragma unroll
    for (const float v : x.v) most = fmaxf(most, fabsf(v));
    const float scale = 448.0f / warp_max(most);
#pragma unroll
    for (int q = 0; q < kQuads; ++q)
      kept += __nv_fp8x4_e4m3(float4{x.v[4 * q] * scale, x.v[4 * q + 1] * scale,
                                     x.v[4 * q + 2] * scale, x.v[4 * q + 3] * scale})
                  .__x;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = kept;
}

// Inclusive sums over a warp, and on over the values of a row.
__global__ void scan(const float* in, float* out, int n, StopwatchRecord* records) {
  float carry = 0;
  const float* chunk = in + blockIdx.x * kFloats;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    float value = chunk[(i * 256 + static_cast<int>(threadIdx.x)) & (kFloats - 1)];
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const float below = __shfl_up_sync(~0u, value, step);
      if (lane >= step) value += below;
    }
    carry += __shfl_sync(~0u, value, 31);
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = carry;
}

// A sorting network over the 32 lanes of a warp.
__global__ void bitonic_sort(const float* in, float* out, int n, StopwatchRecord* records) {
  float kept = 0;
  const float* chunk = in + blockIdx.x * kFloats;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    float value = chunk[(i * 256 + static_cast<int>(threadIdx.x)) & (kFloats - 1)];
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
      for (int step = size / 2; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(~0u, value, step);
        const bool upper = ((lane & step) == 0) == ((lane & size) == 0);
        value = upper ? fminf(value, other) : fmaxf(value, other);
      }
    kept += value;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = kept;
}

// Pairs turned by an angle of their own: cosine and sine from a table in L1.
__global__ void rotary(const float* in, float2* out, int n, StopwatchRecord* records) {
  const float4* chunk = reinterpret_cast<const float4*>(in + blockIdx.x * kFloats);
  float2 kept = {};
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const int at = i * 256 + static_cast<int>(threadIdx.x);
    const float4 x = chunk[at & (kFloats / 8 - 1)];
    const float4 turn = chunk[kFloats / 8 + (at & (kFloats / 8 - 1))];
    kept.x += x.x * turn.x - x.y * turn.y + x.z * turn.z - x.w * turn.w;
    kept.y += x.x * turn.y + x.y * turn.x + x.z * turn.w + x.w * turn.z;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = kept;
}

}  // namespace

template <>
double as_double(const __half2& value) {
  return __low2float(value);
}
template <>
double as_double(const float2& value) {
  return value.x;
}

std::vector<Kernel> row_kernels() {
  return {
      kernel("softmax", softmax, 256, 1, 256,
             std::function([](const float*, int n) { return static_cast<double>(n); })),
      kernel("layer_norm", layer_norm, 256, 1, 256),
      kernel("rms_norm", rms_norm, 256, 1, 256 * 2 * kQuads),
      kernel("quantize_s8", quantize_s8, 256, 1, 256),
      kernel("quantize_e4m3", quantize_e4m3, 256, 1, 256),
      kernel("scan", scan, 256, 1, 256, std::function([](const float* in, int n) {
               double sum = 0;
               for (int i = 0; i < n; ++i)
                 for (int lane = 0; lane < 32; ++lane) sum += in[(i * 256 + lane) & (kFloats - 1)];
               return sum;
             })),
      kernel("bitonic_sort", bitonic_sort, 256, 1, 256, std::function([](const float* in, int n) {
               double sum = 0;  // the first lane holds the least
               for (int i = 0; i < n; ++i) {
                 float least = in[i * 256 & (kFloats - 1)];
                 for (int lane = 1; lane < 32; ++lane)
                   least = std::fmin(least, in[(i * 256 + lane) & (kFloats - 1)]);
                 sum += least;
               }
               return sum;
             })),
      kernel("rotary", rotary, 256, 1, 256),
  };
}

}  // namespace foreign
