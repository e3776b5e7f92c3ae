// SPDX-License-Identifier: Apache-2.0
// Kernels that share a GPU: one that fills it, and a small one that would like to be quick.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "harness/measure/device_kernels.hpp"

namespace assay {

struct Device;  // harness/device.hpp

// Where the CTAs of kernels ran, and what they found wrong.
struct Tally {
  std::uint32_t ctas[kMaxSms];  // by %smid
  std::uint32_t wrong;          // threads whose result was not as it must be
};

Tally read(const Tally* device);  // waits for all streams' work before it
std::uint64_t cta_count(const Tally& tally);
int sm_count(const Tally& tally);  // that any CTA ran on
bool on_separate_sms(const Tally& a, const Tally& b);

// Every thread of a CTA keeps busy with multiply-adds for so long, at the highest clock. CTAs are
// of kCrowdThreads, two of which fill an SM.
inline constexpr int kCrowdThreads = 1024;
void crowd_with_arithmetic(const Device& device, unsigned ctas, double us, Tally* tally,
                           cudaStream_t stream);

// Every CTA reads kCrowdBytes of an array that holds kCrowdWord in all its words, at its own place
// modulo the array's size.
inline constexpr std::uint32_t kCrowdBytes = 1 << 20, kCrowdWord = 0x01010101;
void crowd_with_reads(unsigned ctas, const uint4* array, std::uint32_t parts, Tally* tally,
                      cudaStream_t stream);

// A few CTAs that read kQuickBytes together, of the same content.
inline constexpr unsigned kQuickCtas = 8;
inline constexpr std::uint32_t kQuickBytes = 256 << 10;
void quick_read(const uint4* array, Tally* tally, cudaStream_t stream);

}  // namespace assay
