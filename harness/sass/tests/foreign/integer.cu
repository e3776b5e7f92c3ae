// SPDX-License-Identifier: Apache-2.0
// Hashes, random numbers, checksums, small integers.
#include "foreign.hpp"

namespace foreign {
namespace {

using assay::Stopwatch;
using assay::StopwatchRecord;
using Word = std::uint32_t;

constexpr int kWords = kChunk / sizeof(Word);

__host__ __device__ constexpr Word rotate_right(Word x, int by) {
  return (x >> by) | (x << (32 - by));
}

__constant__ Word kRound[16] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174};

// Sixteen rounds of SHA-256 with the message schedule, in registers; the loop goes over groups of
// sixteen.
__global__ void sha256(const Word* in, Word* out, int n, StopwatchRecord* records) {
  const Word* chunk = in + blockIdx.x * kWords;
  Word w[16], s[8];
#pragma unroll
  for (int i = 0; i < 16; ++i) w[i] = chunk[(threadIdx.x * 16 + i) & (kWords - 1)];
#pragma unroll
  for (int i = 0; i < 8; ++i) s[i] = 0x6a09e667u * (i + 1);
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int group = 0; group < n; ++group) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const Word e = s[4], a = s[0];
      const Word s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
      const Word choice = (e & s[5]) ^ (~e & s[6]);
      const Word t1 = s[7] + s1 + choice + kRound[i] + w[i];
      const Word s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
      const Word majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
#pragma unroll
      for (int k = 7; k > 0; --k) s[k] = s[k - 1];
      s[4] += t1;
      s[0] = t1 + s0 + majority;
      const Word x = w[(i + 1) & 15], y = w[(i + 14) & 15];
      w[i] += (rotate_right(x, 7) ^ rotate_right(x, 18) ^ (x >> 3)) + w[(i + 9) & 15] +
              (rotate_right(y, 17) ^ rotate_right(y, 19) ^ (y >> 10));
    }
  }
  stopwatch.stop(records);
  Word sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum ^= s[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Pi by darts: two xorshift numbers each.
__global__ void monte_carlo(const Word* in, Word* out, int n, StopwatchRecord* records) {
  Word x = in[blockIdx.x * kWords + threadIdx.x] | 1, hits = 0;
  const auto next = [&] {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return static_cast<float>(x) * 2.3283064e-10f;
  };
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const float a = next(), b = next();
    if (a * a + b * b <= 1.0f) ++hits;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = hits;
}

// Philox4x32 with its ten rounds: products of 32 bits with 64-bit results.
__global__ void philox(const Word* in, Word* out, int n, StopwatchRecord* records) {
  const Word seed = in[blockIdx.x * kWords + threadIdx.x];
  Word sum = 0;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    Word c0 = static_cast<Word>(i), c1 = threadIdx.x, c2 = blockIdx.x, c3 = 0, k0 = seed, k1 = 7;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0;
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c2;
      c0 = static_cast<Word>(p1 >> 32) ^ c1 ^ k0;
      c2 = static_cast<Word>(p0 >> 32) ^ c3 ^ k1;
      c1 = static_cast<Word>(p1);
      c3 = static_cast<Word>(p0);
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    sum += c0 ^ c1 ^ c2 ^ c3;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The bytes of a word from L1, each multiplied into the hash.
__global__ void fnv1a(const Word* in, Word* out, int n, StopwatchRecord* records) {
  const Word* chunk = in + blockIdx.x * kWords;
  Word hash = 2166136261u;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const Word word = chunk[(i * 256 + threadIdx.x) & (kWords - 1)];
#pragma unroll
    for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (word >> 8 * byte & 0xff)) * 16777619u;
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = hash;
}

// CRC-32 bit by bit, a word from L1 at a time.
__global__ void crc32(const Word* in, Word* out, int n, StopwatchRecord* records) {
  const Word* chunk = in + blockIdx.x * kWords;
  Word crc = ~0u;
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    crc ^= chunk[(i * 256 + threadIdx.x) & (kWords - 1)];
#pragma unroll
    for (int bit = 0; bit < 32; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = crc;
}

// Distances between bit strings: how near the nearest of the strings in L1 is.
__global__ void hamming(const Word* in, Word* out, int n, StopwatchRecord* records) {
  const uint4* chunk = reinterpret_cast<const uint4*>(in + blockIdx.x * kWords);
  const uint4 self = chunk[threadIdx.x];
  int nearest = 128;
  const Stopwatch stopwatch;
#pragma unroll 4
  for (int i = 1; i <= n; ++i) {
    const uint4 other = chunk[(i + threadIdx.x) & (kWords / 4 - 1)];
    const int distance = __popc(self.x ^ other.x) + __popc(self.y ^ other.y) +
                         __popc(self.z ^ other.z) + __popc(self.w ^ other.w);
    if ((i & 1023) != 0) nearest = min(nearest, distance);
  }
  stopwatch.stop(records);
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<Word>(nearest);
}

// Products of bytes, four to an instruction: a tile of 4 x 4 results for each thread.
__global__ void dot4_tile(const Word* in, int* out, int n, StopwatchRecord* records) {
  __shared__ Word a[32][64], b[32][64];
  const Word* chunk = in + blockIdx.x * kWords;
  for (int i = static_cast<int>(threadIdx.x); i < 2048; i += 256) {
    a[i / 64][i % 64] = chunk[i];
    b[i / 64][i % 64] = chunk[i + 2048];
  }
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x) / 16 * 4;
  const int column = static_cast<int>(threadIdx.x) % 16 * 4;
  int sum[4][4] = {};
  const Stopwatch stopwatch;
#pragma unroll 4
  for (int k = 0; k < n; ++k) {
    const int4 x = *reinterpret_cast<const int4*>(&a[k & 31][row]);
    const int4 y = *reinterpret_cast<const int4*>(&b[k & 31][column]);
    const int xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
    for (int i = 0; i < 16; ++i)
      sum[i / 4][i % 4] = __dp4a(xs[i / 4], ys[i % 4], sum[i / 4][i % 4]);
  }
  stopwatch.stop(records);
  int total = 0;
  for (int i = 0; i < 16; ++i) total ^= sum[i / 4][i % 4] << (i & 7);
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// 64 bins in shared memory, counted by atomics; random data, so that lanes meet.
__global__ void histogram(const Word* in, Word* out, int n, StopwatchRecord* records) {
  __shared__ Word bins[64];
  const Word* chunk = in + blockIdx.x * kWords;
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  const Stopwatch stopwatch;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const Word word = chunk[(i * 256 + threadIdx.x) & (kWords - 1)];
    atomicAdd(&bins[word & 63], 1);
    atomicAdd(&bins[word >> 8 & 63], 1);
  }
  stopwatch.stop(records);
  if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}

}  // namespace

std::vector<Kernel> integer_kernels() {
  const std::function fnv = [](const Word* in, int n) {
    Word hash = 2166136261u;
    for (int i = 0; i < n; ++i)
      for (int byte = 0; byte < 4; ++byte)
        hash = (hash ^ (in[i * 256 & (kWords - 1)] >> 8 * byte & 0xff)) * 16777619u;
    return static_cast<double>(hash);
  };
  const std::function crc = [](const Word* in, int n) {
    Word value = ~0u;
    for (int i = 0; i < n; ++i) {
      value ^= in[i * 256 & (kWords - 1)];
      for (int bit = 0; bit < 32; ++bit) value = (value >> 1) ^ (value & 1 ? 0xedb88320u : 0);
    }
    return static_cast<double>(value);
  };
  const std::function bin = [](const Word* in, int n) {
    double count = 0;
    for (int i = 0; i < n; ++i)
      for (int thread = 0; thread < 256; ++thread) {
        const Word word = in[(i * 256 + thread) & (kWords - 1)];
        count += ((word & 63) == 0) + ((word >> 8 & 63) == 0);
      }
    return count;
  };
  return {
      kernel("sha256", sha256, 128, 1, 128),       kernel("monte_carlo", monte_carlo, 256, 1, 256),
      kernel("philox", philox, 256, 1, 256),       kernel("fnv1a", fnv1a, 256, 1, 256, fnv),
      kernel("crc32", crc32, 256, 1, 256, crc),    kernel("hamming", hamming, 128, 4, 128),
      kernel("dot4_tile", dot4_tile, 256, 4, 256), kernel("histogram", histogram, 256, 1, 64, bin)};
}

}  // namespace foreign
