// SPDX-License-Identifier: Apache-2.0
// Latency of a TMA box load: each box brings, in its first 16 bytes, the coordinates of the next,
// so a step is issue, address generation, flight of the whole box, mbarrier completion, and the
// load of the coordinates from shared memory.
#include <algorithm>

#include "harness/device.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/tensor_map.hpp"
#include "harness/ptx/tma.cuh"
#include "harness/state.hpp"
#include "probes/memory/ring.hpp"

namespace {

constexpr int kSteps = 16;       // boxes in one iteration; even: each starts at parity 0
constexpr int kBoxesAcross = 8;  // the matrix is eight boxes wide

struct alignas(16) Node {
  int column, row;
  std::uint64_t step;
};

struct Ring {  // of boxes of a bf16 matrix
  int bits, box_rows, box_columns;

  __host__ __device__ std::uint32_t row_bytes() const { return kBoxesAcross * box_columns * 2; }
  __device__ Node at(std::uint32_t step) const {
    const std::uint32_t place = assay::shuffle(step, bits);
    return {static_cast<int>(place % kBoxesAcross) * box_columns,
            static_cast<int>(place / kBoxesAcross) * box_rows, step};
  }
};

__global__ void lay_ring(char* matrix, Ring ring) {
  const std::uint32_t step = blockIdx.x * blockDim.x + threadIdx.x;
  const Node here = ring.at(step), next = ring.at(step + 1);
  char* corner = matrix + std::uint64_t{ring.row_bytes()} * here.row + here.column * 2;
  *reinterpret_cast<Node*>(corner) = {next.column, next.row, step};
}

// Each CTA leaves the number of the last step it has loaded.
__global__ void box_chase(const __grid_constant__ CUtensorMap map, Ring ring, assay::Start start,
                          std::int64_t iterations, std::uint64_t* ends,
                          assay::StopwatchRecord* records) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  // The largest box; the 128-byte swizzle leaves its first row in place.
  __shared__ alignas(1024) char box[64 * 64 * 2];
  __shared__ assay::ptx::Mbarrier barrier;
  const bool elected = assay::ptx::elect_one();
  if (elected) {
    assay::ptx::mbarrier_init(&barrier, 1);
    assay::ptx::fence_mbarrier_init();
    assay::ptx::tma_prefetch_map(&map);
  }
  const int box_bytes = ring.box_rows * ring.box_columns * 2;
  Node next = ring.at(start.offset + blockIdx.x * start.apart);
  const assay::Stopwatch stopwatch;
  if (elected) {
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        assay::ptx::mbarrier_arrive_expect_tx(&barrier, box_bytes);
        assay::ptx::tma_load_2d(box, &map, &barrier, next.column, next.row);
        assay::ptx::mbarrier_wait_parity(&barrier, step % 2);
        next = *reinterpret_cast<const Node*>(box);
      }
    }
  }
  stopwatch.stop(records);
  if (elected) ends[blockIdx.x] = next.step;
#endif
}

// `sms_per_chase` keeps the load light, so that latency is not queueing: 132 chases of 8 KiB boxes
// would ask L2 for a third of its bandwidth.
assay::Case ring_of(std::string name, int box, const char* swizzle, int bits, int sms_per_chase) {
  return {.name = std::move(name),
          .params = {{"box_rows", box},
                     {"box_columns", box},
                     {"type", "bf16"},
                     {"swizzle", swizzle},
                     {"l2_promotion_bytes", 256},
                     {"ring_bits", bits},
                     {"sms_per_chase", sms_per_chase},
                     {"footprint_bytes", (std::int64_t{box} * box * 2) << bits}}};
}

void run(assay::State& s) {
  const Ring ring{static_cast<int>(s.i64("ring_bits")), static_cast<int>(s.i64("box_rows")),
                  static_cast<int>(s.i64("box_columns"))};
  const int ctas = std::max(1, s.device().sm_count / static_cast<int>(s.i64("sms_per_chase")));
  const std::size_t bytes = s.i64("footprint_bytes");
  char* matrix = s.allocate<char>(bytes);
  auto* ends = s.allocate<std::uint64_t>(ctas);
  s.fill_random_bits(matrix, bytes);
  lay_ring<<<(1 << ring.bits) / 256, 256, 0, s.stream()>>>(matrix, ring);
  const CUtensorMap map = assay::ptx::encode_bf16_matrix(
      matrix, bytes / ring.row_bytes(), kBoxesAcross * ring.box_columns, ring.row_bytes(),
      ring.box_rows, ring.box_columns,
      s.text("swizzle") == "128B" ? assay::ptx::Swizzle::bytes128 : assay::ptx::Swizzle::none);
  assay::Walk walk(ctas, ring.bits);
  s.cycles({.steps = kSteps}, [&](const assay::Launch& l) {
    const assay::Start start = walk.set_out(l.iterations * kSteps);
    box_chase<<<ctas, 32, 0, l.stream>>>(map, ring, start, l.iterations, ends, l.records);
  });
  // The node that a step lands on names the step it is, and the coordinates of the one after it.
  const auto ended = assay::download(ends, ctas, s.stream());
  for (int cta = 0; cta < ctas; ++cta)
    s.require((ended[cta] + 1) % (1u << ring.bits) == walk.end(cta),
              "a chase ended at a wrong box");
}

const assay::Registration registration{{
    .name = "tma/tensor_2d/latency",
    .question = "How many cycles until a 2-D box loaded by TMA has arrived and can be read?",
    .cases = {ring_of("", 64, "128B", 9, 8), ring_of("dram", 64, "128B", 17, 8),
              ring_of("box_8x8", 8, "none", 13, 1), ring_of("box_8x8/dram", 8, "none", 23, 1)},
    .targets = assay::targets_from(assay::Target::sm_90a),
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "box_chase", .sass = {{"UTMALDG.2D", kSteps, kSteps}}}};
        },
    .run = run,
}};

}  // namespace
