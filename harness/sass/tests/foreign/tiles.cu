// SPDX-License-Identifier: Apache-2.0
// Kernels that work on tiles: matrix products, stencils, convolutions, transposition, sums of a
// CTA.
#include <cuda_bf16.h>
#include <mma.h>

#include "foreign.hpp"

namespace foreign {
namespace {

using assay::Stopwatch;
using assay::StopwatchRecord;

constexpr int kFloats = kChunk / sizeof(float);

// Each thread an element of the product, rows and columns read from L1.
__global__ void matmul_naive(const float* in, float* out, int n, StopwatchRecord* records) {
  const float* a = in + blockIdx.x * kFloats;
  const float* b = a + kFloats / 2;
  const int row = static_cast<int>(threadIdx.x) / 32, column = static_cast<int>(threadIdx.x) % 32;
  float sum = 0;
  const Stopwatch stopwatch;
#pragma unroll 4
  for (int k = 0; k < n; ++k) sum += a[row * 64 + (k & 63)] * b[(k & 63) * 32 + column];
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Tiles of 32 x 32 through shared memory, as every course teaches it: 4 elements to a thread.
__global__ void matmul_tiled(const float* in, float* out, int n, StopwatchRecord* records) {
  __shared__ float a[32][32], b[32][32];
  const float* chunk = in + blockIdx.x * kFloats;
  const int row = static_cast<int>(threadIdx.x) / 32, column = static_cast<int>(threadIdx.x) % 32;
  float sum[4] = {};
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int tile = 0; tile < n; ++tile) {
    const float* from = chunk + (tile & 1) * (kFloats / 2);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      a[row + 8 * i][column] = from[(row + 8 * i) * 32 + column];
      b[row + 8 * i][column] = from[1024 + (row + 8 * i) * 32 + column];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += a[row + 8 * i][k] * b[k][column];
    __syncthreads();
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

// 128 x 128 results of a CTA, 8 x 8 of a thread; steps of 8 in K.
__global__ __launch_bounds__(256) void matmul_registers(const float* in, float* out, int n,
                                                        StopwatchRecord* records) {
  __shared__ float a[8][128], b[8][128];
  const float4* chunk = reinterpret_cast<const float4*>(in + blockIdx.x * kFloats);
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / 16 * 4, column = thread % 16 * 4;
  float sum[8][8] = {};
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int tile = 0; tile < n; ++tile) {
    const int from = (tile & 1) * (kFloats / 8) + thread;
    const float4 next_a = chunk[from], next_b = chunk[from + 256];
    __syncthreads();
    reinterpret_cast<float4*>(a)[thread] = next_a;
    reinterpret_cast<float4*>(b)[thread] = next_b;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float x[8], y[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        x[i] = a[k][row + i % 4 + i / 4 * 64];
        y[i] = b[k][column + i % 4 + i / 4 * 64];
      }
#pragma unroll
      for (int i = 0; i < 64; ++i) sum[i / 8][i % 8] += x[i / 8] * y[i % 8];
    }
  }
  stopwatch.stop(records);
  float total = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) total += sum[i / 8][i % 8];
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// The tree of the CUDA samples: halves of a CTA added in shared memory, the last warp by shuffles.
__global__ void reduce_tree(const float* in, float* out, int n, StopwatchRecord* records) {
  __shared__ float partial[256];
  const float* chunk = in + blockIdx.x * kFloats;
  const int thread = static_cast<int>(threadIdx.x);
  float total = 0;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    partial[thread] = chunk[(i * 256 + thread) & (kFloats - 1)];
    __syncthreads();
#pragma unroll
    for (int half = 128; half >= 32; half /= 2) {
      if (thread < half) partial[thread] += partial[thread + half];
      __syncthreads();
    }
    if (thread < 32) {
      float value = partial[thread];
#pragma unroll
      for (int lane = 16; lane > 0; lane /= 2) value += __shfl_down_sync(~0u, value, lane);
      total += value;
    }
    __syncthreads();
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// Tiles of 32 x 32 with a column of padding, read in rows and written in columns.
__global__ void transpose(const float* in, float* out, int n, StopwatchRecord* records) {
  __shared__ float tile[32][33];
  const float* from = in + blockIdx.x * kFloats;
  float* to = out + blockIdx.x * kFloats;
  const int row = static_cast<int>(threadIdx.x) / 32, column = static_cast<int>(threadIdx.x) % 32;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const int base = (i & 3) * 1024;
#pragma unroll
    for (int j = 0; j < 32; j += 8) tile[row + j][column] = from[base + (row + j) * 32 + column];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 32; j += 8) to[base + (row + j) * 32 + column] = tile[column][row + j];
    __syncthreads();
  }
  stopwatch.stop(records);
}

// Heat on a grid of 32 x 32 in shared memory, back and forth between two copies.
__global__ void stencil_2d(const float* in, float* out, int n, StopwatchRecord* records) {
  __shared__ float grid[2][34][34];
  const float* chunk = in + blockIdx.x * kFloats;
  const int row = static_cast<int>(threadIdx.x) / 32, column = static_cast<int>(threadIdx.x) % 32;
  for (int i = static_cast<int>(threadIdx.x); i < 2 * 34 * 34; i += 256)
    (&grid[0][0][0])[i] = chunk[i];
  __syncthreads();
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const float(*from)[34] = grid[i & 1];
    float(*to)[34] = grid[(i & 1) ^ 1];
#pragma unroll
    for (int j = 0; j < 32; j += 8) {
      const int y = row + j + 1, x = column + 1;
      to[y][x] = 0.6f * from[y][x] +
                 0.1f * (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
    }
    __syncthreads();
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = grid[n & 1][row + 1][column + 1];
}

// Seven points of a 3D grid: a plane at a time, the planes below and above in registers.
__global__ void stencil_3d(const float* in, float* out, int n, StopwatchRecord* records) {
  const float* chunk = in + blockIdx.x * kFloats;
  const int at = static_cast<int>(threadIdx.x);  // 16 x 16 of a plane of 256; 16 planes
  float below = chunk[at], here = chunk[at + 256], sum = 0;
  const Stopwatch stopwatch;
#pragma unroll 4
  for (int z = 0; z < n; ++z) {
    const float* plane = chunk + (z & 7) * 256 + 512;
    const float above = plane[at];
    sum += 0.4f * here + 0.1f * (below + above + plane[at - 1 - 256] + plane[at + 1 - 256] +
                                 plane[at - 16 - 256] + plane[at + 16 - 256]);
    below = here;
    here = above;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Direct 3 x 3 convolution of a channel's tile, weights in registers; channel after channel.
__global__ void conv_3x3(const float* in, float* out, int n, StopwatchRecord* records) {
  __shared__ float image[4][18][18];
  const float* chunk = in + blockIdx.x * kFloats;
  const int y = static_cast<int>(threadIdx.x) / 16, x = static_cast<int>(threadIdx.x) % 16;
  for (int i = static_cast<int>(threadIdx.x); i < 4 * 18 * 18; i += 256)
    (&image[0][0][0])[i] = chunk[i];
  float weights[9], sum = 0;
#pragma unroll
  for (int i = 0; i < 9; ++i) weights[i] = chunk[2048 + i];
  __syncthreads();
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int channel = 0; channel < n; ++channel)
#pragma unroll
    for (int i = 0; i < 9; ++i) sum += weights[i] * image[channel & 3][y + i / 3][x + i % 3];
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The nearest of 64 centres in three dimensions.
__global__ void k_means(const float* in, float* out, int n, StopwatchRecord* records) {
  __shared__ float4 centres[64];
  const float* chunk = in + blockIdx.x * kFloats;
  if (threadIdx.x < 64) centres[threadIdx.x] = reinterpret_cast<const float4*>(chunk)[threadIdx.x];
  __syncthreads();
  const float px = chunk[threadIdx.x], py = chunk[threadIdx.x + 256], pz = chunk[threadIdx.x + 512];
  float nearest = 1e30f;
  int which = 0;
  const Stopwatch stopwatch;
#pragma unroll 8
  for (int i = 0; i < n; ++i) {
    const float4 c = centres[i & 63];
    const float dx = px - c.x, dy = py - c.y, dz = pz - c.z;
    const float distance = dx * dx + dy * dy + dz * dz;
    if (distance < nearest) {
      nearest = distance;
      which = i;
    }
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = nearest + static_cast<float>(which);
}

// bf16 tiles of 64 x 64 by the tensor cores, from shared memory through ldmatrix: a warp's
// 32 x 32 results, 32 deep.
__global__ void wmma_bf16(const float* in, float* out, int n, StopwatchRecord* records) {
  using namespace nvcuda::wmma;
  constexpr int kPitch = 40;  // of rows of 32, so that eight of them lie in different banks
  __shared__ __align__(32) __nv_bfloat16 a[2][64 * kPitch], b[2][64 * kPitch];
  const float* chunk = in + blockIdx.x * kFloats;
  for (int i = static_cast<int>(threadIdx.x); i < 2 * 64 * kPitch; i += 128) {
    a[0][i] = __float2bfloat16(chunk[i & (kFloats - 1)]);
    b[0][i] = __float2bfloat16(chunk[(i + 77) & (kFloats - 1)]);
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  fragment<accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 4; ++i) fill_fragment(sum[i / 2][i % 2], 0.0f);
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int tile = 0; tile < n; ++tile) {
    const __nv_bfloat16* rows = a[tile & 1] + (warp / 2) * 32 * kPitch;
    const __nv_bfloat16* columns = b[tile & 1] + (warp % 2) * 32 * kPitch;
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> x[2];
      fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> y[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        load_matrix_sync(x[i], rows + i * 16 * kPitch + k, kPitch);
        load_matrix_sync(y[i], columns + i * 16 * kPitch + k, kPitch);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        mma_sync(sum[i / 2][i % 2], x[i / 2], y[i % 2], sum[i / 2][i % 2]);
    }
  }
  stopwatch.stop(records);
  float total = 0;
  for (int i = 0; i < 4; ++i)
    for (int e = 0; e < sum[0][0].num_elements; ++e) total += sum[i / 2][i % 2].x[e];
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

}  // namespace

std::vector<Kernel> shared_kernels() {
  return {
      kernel("matmul_naive", matmul_naive, 256, 4, 256, std::function([](const float* a, int n) {
               double sum = 0;
               for (int k = 0; k < n; ++k) {
                 const int at = k & 63;
                 sum += static_cast<double>(a[at]) * a[kFloats / 2 + at * 32];
               }
               return sum;
             })),
      kernel("matmul_tiled", matmul_tiled, 256, 1, 256),
      kernel("matmul_registers", matmul_registers, 256, 1, 256),
      kernel("reduce_tree", reduce_tree, 256, 1, 256, std::function([](const float* in, int n) {
               double sum = 0;
               for (int i = 0; i < n; ++i)
                 for (int thread = 0; thread < 256; ++thread)
                   sum += in[(i * 256 + thread) & (kFloats - 1)];
               return sum;
             })),
      kernel("transpose", transpose, 256, 1, kFloats,
             std::function([](const float* in, int) { return static_cast<double>(in[0]); })),
      kernel("stencil_2d", stencil_2d, 256, 1, 256),
      kernel("stencil_3d", stencil_3d, 256, 4, 256),
      kernel("conv_3x3", conv_3x3, 256, 1, 256),
      kernel("k_means", k_means, 256, 8, 256),
      kernel("wmma_bf16", wmma_bf16, 128, 1, 128),
  };
}

}  // namespace foreign
