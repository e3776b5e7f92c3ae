// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/operands.hpp"

#include <cuda_bf16.h>

#include "harness/cuda.hpp"
#include "harness/measure/splitmix64.hpp"
#include "kernels/frame/fill.hpp"

namespace assay::kernels {
namespace {

constexpr std::size_t kNoBytes = 16;  // of an operand that is not there

__global__ void fill_codes(std::uint8_t* data, std::size_t bytes, bool e4m3, std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes; i += step) {
    auto code = static_cast<std::uint8_t>(splitmix64(i ^ splitmix64(seed)) >> 32);
    if (e4m3 && (code & 0x7f) == 0x7f) code ^= 1;
    data[i] = code;
  }
}

__global__ void fill_scales(SkinnyWeights type, void* data, std::size_t count, std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const std::uint64_t bits = splitmix64(i ^ splitmix64(seed)) >> 32;
    const float value = exp2f(static_cast<float>(bits % 8) - 4);
    switch (scale_bytes(type)) {
      case 4:
        static_cast<float*>(data)[i] = value;
        break;
      case 2:
        static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(value);
        break;
      default:  // e4m3 from 1/2 (0x30) to 15/16 (0x37)
        static_cast<std::uint8_t*>(data)[i] =
            static_cast<std::uint8_t>((type == SkinnyWeights::mxf4 ? 123 : 0x30) + bits % 8);
    }
  }
}

}  // namespace

void fill_skinny_weights(SkinnyWeights weights, void* data, std::size_t bytes, std::uint64_t seed,
                         cudaStream_t stream) {
  if (weights == SkinnyWeights::bf16) return fill_uniform_bf16(data, bytes / 2, seed, stream);
  fill_codes<<<1024, 256, 0, stream>>>(static_cast<std::uint8_t*>(data), bytes,
                                       weights == SkinnyWeights::e4m3, seed);
  check(cudaGetLastError());
}

void fill_skinny_scales(SkinnyWeights weights, void* data, std::size_t bytes, std::uint64_t seed,
                        cudaStream_t stream) {
  fill_scales<<<1024, 256, 0, stream>>>(
      weights, data, bytes / static_cast<std::size_t>(scale_bytes(weights)), seed);
  check(cudaGetLastError());
}

std::vector<Operand> skinny_operands(const SkinnyProblem& p) {
  const auto elements = [](int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  };
  const SkinnyWeights type = p.weights;
  const std::size_t weights = p.weight_bytes(), scales = p.scale_bytes();
  const auto nothing = [](void* data, std::uint64_t, cudaStream_t stream) {
    check(cudaMemsetAsync(data, 0, kNoBytes, stream));
  };
  Operand w{.bytes = weights, .fill = [=](void* data, std::uint64_t seed, cudaStream_t stream) {
              fill_skinny_weights(type, data, weights, seed, stream);
            }};
  Operand s{.bytes = kNoBytes, .fill = nothing};
  if (scales > 0)
    s = {.bytes = scales, .fill = [=](void* data, std::uint64_t seed, cudaStream_t stream) {
           fill_skinny_scales(type, data, scales, seed, stream);
           // What fills up rows is NaN (of bf16, e4m3 and ue8m0).
           const auto pitch = static_cast<std::size_t>(scale_row_bytes(type, p.k)),
                      used = static_cast<std::size_t>(scales_of_row_bytes(type, p.k));
           if (pitch > used)
             check(cudaMemset2DAsync(static_cast<std::uint8_t*>(data) + used, pitch, 0xff,
                                     pitch - used, static_cast<std::size_t>(p.n), stream));
         }};
  Operand all{.bytes = kNoBytes, .fill = nothing};
  if (type == SkinnyWeights::nvf4)
    all.fill = [](void* data, std::uint64_t seed, cudaStream_t stream) {
      fill_skinny_scales(SkinnyWeights::s8, data, sizeof(float), seed, stream);
    };
  return {{.bytes = elements(p.m, p.n) * 2}, uniform_bf16(elements(p.m, p.k)), w, s, all};
}

SkinnyOperands skinny_operands_of(std::span<void* const> set) {
  return {.d = set[0],
          .x = set[1],
          .w = set[2],
          .scales = set[3],
          .scale = static_cast<const float*>(set[4])};
}

}  // namespace assay::kernels
