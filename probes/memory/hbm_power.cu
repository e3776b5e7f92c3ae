// SPDX-License-Identifier: Apache-2.0
// What bandwidth costs in power: every SM reads or writes at a pace that pauses set, each for over
// a second, from all that memory gives down to next to nothing.
//
// The waiting is one thread's, while the others of its CTA sleep at a barrier, so that the SMs
// themselves draw little. The last pace is the foot of the curve: the same kernel with hardly any
// traffic. What a pace draws beyond it, over its bandwidth, is the energy of a byte that moves.
#include <string>

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/measurement.hpp"
#include "probes/memory/hbm.cuh"

namespace {

using namespace assay;

constexpr int kThreads = 1024, kVectors = 4;
constexpr std::uint32_t kRound = kThreads * kVectors * sizeof(uint4);  // bytes of an SM

struct Paced {
  HbmArrays arrays;
  std::uint32_t rounds;  // of each CTA, whose part they are
  std::uint32_t pause;   // cycles after each
};

__device__ void wait(std::uint32_t cycles) {
  if (threadIdx.x == 0)
    for (const std::uint64_t begin = ptx::clock64(); ptx::clock64() - begin < cycles;) {
    }
  __syncthreads();
}

__device__ std::size_t first_vector(const Paced& p, std::uint32_t round) {
  return (std::size_t{blockIdx.x} * p.rounds + round) * (kThreads * kVectors) + threadIdx.x;
}

__global__ void __launch_bounds__(kThreads, 1) read_paced(Paced p) {
  std::uint32_t bits = 0;
#pragma unroll 1
  for (std::uint32_t round = 0; round < p.rounds; ++round) {
    const uint4* here = p.arrays.in + first_vector(p, round);
    uint4 v[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) v[i] = ptx::load_v4(here + i * kThreads);
#pragma unroll
    for (const uint4& vector : v) bits ^= vector.x ^ vector.y ^ vector.z ^ vector.w;
    if (p.pause) wait(p.pause);
  }
  bits = __reduce_xor_sync(~0u, bits);
  if (threadIdx.x % 32 == 0) atomicXor(&p.arrays.sums[blockIdx.x % kHbmSums], bits);
}

// Words that differ in most bits from their neighbours.
__device__ uint4 words(std::size_t i) {
  const auto x = static_cast<std::uint32_t>(i) * 2654435769u;
  return {x, x * 2246822519u, ~x, x * 3266489917u};
}

__global__ void __launch_bounds__(kThreads, 1) write_paced(Paced p) {
#pragma unroll 1
  for (std::uint32_t round = 0; round < p.rounds; ++round) {
    const std::size_t first = first_vector(p, round);
#pragma unroll
    for (int i = 0; i < kVectors; ++i)
      ptx::store_v4(p.arrays.out + first + i * kThreads, words(first + i * kThreads));
    if (p.pause) wait(p.pause);
  }
}

__global__ void count_unwritten(HbmArrays arrays) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < arrays.vectors;
       i += std::size_t{gridDim.x} * blockDim.x)
    if (!same_bits(arrays.out[i], words(i))) atomicAdd(arrays.sums, 1);
}

void run(State& s) {
  const bool reads = s.text("operation") == "read";
  const auto ctas = static_cast<unsigned>(s.device().sm_count);
  // An eighth of memory, 1 GiB at most: 128 rounds of an H200's SMs.
  const std::uint64_t wanted = std::min(s.device().memory_bytes / 8, std::uint64_t{1} << 30);
  const auto rounds =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(wanted / kRound / ctas, 1));
  const std::size_t bytes = std::size_t{kRound} * rounds * ctas;
  auto* memory = s.allocate<uint4>(bytes / sizeof(uint4));
  if (reads) s.fill_random_bits(memory, bytes, 1);
  const Paced paced{
      {memory, memory, nullptr, s.allocate<std::uint32_t>(kHbmSums), bytes / sizeof(uint4)},
      rounds,
      static_cast<std::uint32_t>(s.i64("pause_cycles"))};
  check(cudaMemsetAsync(paced.arrays.sums, 0, kHbmSums * sizeof(std::uint32_t), s.stream()));
  const auto launch = [&](cudaStream_t stream) {
    (reads ? read_paced : write_paced)<<<ctas, kThreads, 0, stream>>>(paced);
  };
  launch(s.stream());
  check(cudaGetLastError());
  if (reads) {
    s.require(combined_bits(s, paced.arrays.sums, kHbmSums * 4) == combined_bits(s, memory, bytes),
              "what was read does not combine to the bits of the array");
  } else {
    count_unwritten<<<1024, 256, 0, s.stream()>>>(paced.arrays);
    s.require(download(paced.arrays.sums, 1, s.stream()).front() == 0,
              "the array does not hold the pattern written to it");
  }
  s.time({.bytes = static_cast<double>(bytes), .limit = dram_limit(s.device())}, launch);
  if (const auto watts = s.conditions().power_w) s.add_exact("power_w", "W", Better::lower, *watts);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* operation : {"read", "write"})
    for (const int pause : {0, 1000, 2500, 5000, 10'000, 30'000, 300'000})
      all.push_back(
          {.name = std::string(operation) + "/pause_" + std::to_string(pause),
           .params = {{"operation", operation}, {"pause_cycles", pause}, {"state", "sustained"}},
           .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "memory/hbm/power",
    .question = "What does sustained bandwidth cost in power?",
    .metrics = {{"power_w", "Power of the GPU while it moves data at this pace."}},
    .cases = cases(),
    .pace = Pace::power,
    .kernels =
        [](const Case& c, Target) {
          const bool reads = c.text("operation") == "read";
          return std::vector<KernelUse>{
              {.kernel = reads ? "read_paced" : "write_paced",
               .sass = {{reads ? "LDG.E.128" : "STG.E.128", kVectors, kVectors}}}};
        },
    .run = run,
}};

}  // namespace
