// SPDX-License-Identifier: Apache-2.0
// A step is issue, address generation, flight of the whole box, mbarrier completion, and the load
// of the next box's coordinates from shared memory. The wait lets the hardware suspend the thread
// (try_wait), as kernels do.
#include "probes/tma/box_chase.hpp"

#include <algorithm>
#include <bit>

#include "harness/device.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "probes/memory/ring.hpp"

namespace assay {
namespace {

struct alignas(16) Node {
  int c[4];  // coordinates of the next box; of plain copies its address, in the first two
  int c4;
  std::uint32_t step;  // of this node
  std::uint32_t unused[2];
};
static_assert(sizeof(Node) == 32);

struct BoxRing {
  char* array;
  BoxGrid grid;
  int bits;
  std::uint32_t box_bytes;

  // The node that leads to the box of step `to`.
  template <int kDimensions>
  __device__ Node leading(std::uint32_t to, std::uint32_t step) const {
    const std::uint32_t tile = shuffle(to, bits);
    Node node = {{}, 0, step, {}};
    if constexpr (kDimensions == 0) {
      *reinterpret_cast<char**>(node.c) = array + std::uint64_t{tile} * box_bytes;
    } else {
#pragma unroll
      for (int d = 0; d < kDimensions; ++d)
        (d < 4 ? node.c[d % 4] : node.c4) = grid.coordinate(tile, d);
    }
    return node;
  }
};

template <int kDimensions>
__global__ void lay(BoxRing ring) {
  const std::uint32_t step = blockIdx.x * blockDim.x + threadIdx.x;
  if (step >> ring.bits) return;
  char* here = ring.array + std::uint64_t{shuffle(step, ring.bits)} * ring.box_bytes;
  *reinterpret_cast<Node*>(here) = ring.leading<kDimensions>(step + 1, step);
}

// CTA b begins at step offset + b * apart, and leaves the number of the last step it has loaded.
template <int kDimensions>
__global__ void chase_boxes(const __grid_constant__ CUtensorMap map, BoxRing ring, Start start,
                            std::int64_t iterations, std::uint64_t* ends,
                            StopwatchRecord* records) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char box[];
  __shared__ ptx::Mbarrier barrier;
  const bool elected = ptx::elect_one();
  if (elected) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init();
    if constexpr (kDimensions > 0) ptx::tma_prefetch_map(&map);
  }
  Node next = ring.leading<kDimensions>(start.offset + blockIdx.x * start.apart, 0);
  const Stopwatch stopwatch;
  if (elected) {
#pragma unroll 1
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma unroll
      for (int step = 0; step < BoxChase::kSteps; ++step) {
        ptx::mbarrier_arrive_expect_tx(&barrier, ring.box_bytes);
        if constexpr (kDimensions == 0) {
          ptx::bulk_load(box, *reinterpret_cast<char**>(next.c), ring.box_bytes, &barrier);
        } else {
          int c[kDimensions];
#pragma unroll
          for (int d = 0; d < kDimensions; ++d) c[d] = d < 4 ? next.c[d % 4] : next.c4;
          ptx::tma_load(box, &map, &barrier, c);
        }
        ptx::mbarrier_wait_parity(&barrier, step % 2);
        next = *reinterpret_cast<const Node*>(box);
      }
    }
  }
  stopwatch.stop(records);
  if (elected) ends[blockIdx.x] = next.step;
#endif
}

template <int... kDimensions>
struct Kernels {
  static constexpr decltype(&chase_boxes<0>) kChase[] = {chase_boxes<kDimensions>...};
  static constexpr decltype(&lay<0>) kLay[] = {lay<kDimensions>...};
};
using AllKernels = Kernels<0, 1, 2, 3, 4, 5>;

// CTAs that walk at once, so that latency is not queueing: 132 walks of 8 KiB boxes would ask L2
// for a third of its bandwidth.
int walks(const State& s, std::uint32_t box_bytes) {
  return box_bytes <= 128 ? s.device().sm_count : std::max(1, s.device().sm_count / 8);
}

}  // namespace

const char* BoxChase::kernel_name(int dimensions) {
  constexpr const char* kNames[] = {"chase_boxes<0>", "chase_boxes<1>", "chase_boxes<2>",
                                    "chase_boxes<3>", "chase_boxes<4>", "chase_boxes<5>"};
  return kNames[dimensions];
}

BoxChase::BoxChase(State& s, const BoxForm& form, char* array, std::uint64_t footprint)
    : s_(s),
      form_(form),
      bits_(std::bit_width(footprint / form.box_bytes) - 1),
      ctas_(walks(s, form.box_bytes)),
      array_(array),
      ends_(static_cast<std::size_t>(ctas_) * sizeof(std::uint64_t)) {
  if (form.dimensions > 0) {
    BoxPlan plan = plan_boxes(form, std::uint64_t{form.box_bytes} << bits_);
    grid_ = plan.grid;
    plan.shape.base = array_;
    map_ = ptx::encode_tensor_map(plan.shape);
  }
  constexpr unsigned kThreads = 256;
  AllKernels::kLay
      [form.dimensions]<<<((1u << bits_) + kThreads - 1) / kThreads, kThreads, 0, s.stream()>>>(
          {array_, grid_, bits_, form.box_bytes});
  check(cudaGetLastError());
  check(cudaFuncSetAttribute(AllKernels::kChase[form.dimensions],
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(form.box_bytes)));
}

void BoxChase::launch(const Launch& l) {
  const std::uint32_t apart = (1u << bits_) / static_cast<unsigned>(ctas_);
  const std::uint32_t offset = walked_;
  walked_ += static_cast<std::uint32_t>(l.iterations) * kSteps;
  AllKernels::kChase[form_.dimensions]<<<ctas_, 32, form_.box_bytes, l.stream>>>(
      map_, {array_, grid_, bits_, form_.box_bytes}, {offset, apart}, l.iterations,
      ends_.as<std::uint64_t>(), l.records);
}

void BoxChase::verify() {
  // The node that a step lands on names the step it is.
  const std::uint32_t apart = (1u << bits_) / static_cast<unsigned>(ctas_);
  const auto ended =
      download(ends_.as<const std::uint64_t>(), static_cast<std::size_t>(ctas_), s_.stream());
  for (std::uint32_t cta = 0; cta < ended.size(); ++cta)
    s_.require(((ended[cta] + 1 - walked_ - cta * apart) & ((1u << bits_) - 1)) == 0,
               "a chase of boxes ended at another than its steps lead to");
}

}  // namespace assay
