// SPDX-License-Identifier: Apache-2.0
// The skinny product on Hopper: weights stream through a ring and are multiplied from registers.
//
// A grid before this one, or each CTA, puts the tokens into the order in which lanes have weights
// (order_tokens.cuh). Persistent CTAs, one on each SM: one thread brings stages of weights, scales
// of blocks and tokens by TMA; two or four warpgroups unpack weights on the way from shared memory
// to registers, and multiply 64 rows of them by all tokens with one wgmma per 16 elements of a row
// (multiply_sm90.cuh). Weights are A, so few tokens waste columns of an MMA, of which the tensor
// cores have more than memory feeds them.
//
// Balance. Every cluster has as many rows as any other, a multiple of eight, in one or more passes:
// a box is as high as that asks for, and what an MMA has beyond is multiplied in vain.
//
// CTAs of a cluster share k, and so the tokens. Each brings the others its sums of the rows that
// they add up, by rank: the same bits every time.
//
// Before. The grid that orders tokens waits until all before it has ended, and then lets this one
// begin. So what weights are is settled, and this one asks for as many as the ring holds while
// tokens are put into order. Where the tokens of all stages of a CTA have room, there need not be a
// grid before: consumers put them into order, once, while the ring fills.
//
// full[s] ends a phase when the stage's boxes have landed; empty[s] when all warpgroups are done
// with it.
#pragma once
#include <cuda_bf16.h>

#include <cstdint>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/ptx/tma.cuh"
#include "kernels/skinny/sm90/multiply_sm90.cuh"
#include "kernels/skinny/sm90/order_tokens.cuh"

namespace assay::kernels {

// The stages of a CTA, pass by pass, and the slots of the ring that take them.
template <class Form>
struct SkinnyCourseSm90 {
  int row, row_step;  // of W: where the pass begins, and from one pass to the next
  int first, end;     // stages along k
  int stage, slot = 0;
  std::uint32_t parity = 1;

  __device__ void next() {
    if (++stage == end) stage = first, row += row_step;
    if (++slot == Form::kStages) slot = 0, parity ^= 1;
  }
};

template <class Form>
__device__ __forceinline__ void load_skinny_sm90(const SkinnyMapsSm90& maps,
                                                 const SkinnyArgumentsSm90& a, std::uint8_t* shared,
                                                 ptx::Mbarrier* full, ptx::Mbarrier* empty,
                                                 int row_begin, int first, int count) {
  using Course = SkinnyCourseSm90<Form>;
  const auto bytes = static_cast<std::uint32_t>(
      a.box_rows * Form::kRowBoxes * (Form::kLines * Form::kLineBytes + Form::kScaleWidth) +
      (a.one_grid ? 0 : Form::kTokenBytes));
  const auto load_weights = [&](const Course& at) {
    ptx::mbarrier_arrive_expect_tx(&full[at.slot], bytes);
#pragma unroll
    for (int box = 0; box < Form::kRowBoxes; ++box) {
      const int row = at.row + box * a.box_rows;
#pragma unroll
      for (int line = 0; line < Form::kLines; ++line)
        ptx::tma_load_2d(shared + at.slot * Form::kWeightBytes +
                             (line * Form::kRowBoxes + box) * Form::kBoxBytes,
                         &maps.weights, &full[at.slot],
                         (at.stage * Form::kLines + line) * Form::kLineBytes, row);
      if constexpr (Form::kScaleWidth > 0)
        ptx::tma_load_2d(shared + Form::kScales + at.slot * Form::kScaleBytes +
                             box * Form::kBoxRows * Form::kScaleWidth,
                         &maps.scales, &full[at.slot], at.stage * Form::kStageScales / 16 * 16,
                         row);
    }
  };
  const auto load_tokens = [&](const Course& at) {
    if (a.one_grid) return;
    ptx::tma_load_3d(shared + Form::kTokens + at.slot * Form::kTokenBytes, &maps.tokens,
                     &full[at.slot], 0, 0, at.stage * (Form::kLines * Form::kLineElements / 64));
  };
  const int total = a.passes * count;
  Course weights{.row = row_begin,
                 .row_step = Form::kRowBoxes * a.box_rows,
                 .first = first,
                 .end = first + count,
                 .stage = first};
  Course tokens = weights;
  if (a.one_grid) ptx::wait_for_dependencies();  // what weights are is settled
  for (int i = 0; i < min(Form::kStages, total); ++i, weights.next()) load_weights(weights);
  ptx::wait_for_dependencies();  // the tokens are in order
  for (int i = 0; i < min(Form::kStages, total); ++i, tokens.next()) load_tokens(tokens);
  for (int i = Form::kStages; i < total; ++i, weights.next()) {
    ptx::mbarrier_wait_parity(&empty[weights.slot], weights.parity);
    ptx::fence_proxy_async_shared();  // between the consumers' reads and the next copies
    load_weights(weights);
    load_tokens(weights);
  }
}

// Counts the CTAs of the cluster at a point that all consumers of each have come to.
class ClusterPoint {
 public:
  __device__ ClusterPoint(ptx::Mbarrier* barrier, int cluster)
      : barrier_(barrier), cluster_(cluster) {}
  // All consumers of the CTA call; what they wrote before is seen behind wait().
  __device__ void arrive(int thread, int threads) const {
    ptx::named_barrier_sync(1, threads);
    if (cluster_ > 1 && thread < cluster_) ptx::mbarrier_arrive_remote_release(barrier_, thread);
  }
  __device__ void wait() {
    if (cluster_ == 1) return;
    while (!ptx::mbarrier_try_wait_parity_cluster(barrier_, parity_)) {
    }
    parity_ ^= 1;
  }

 private:
  ptx::Mbarrier* barrier_;
  int cluster_;
  std::uint32_t parity_ = 0;
};

template <class F, class Form>
__device__ __forceinline__ void consume_skinny_sm90(const SkinnyArgumentsSm90& a,
                                                    std::uint8_t* shared, ptx::Mbarrier* full,
                                                    ptx::Mbarrier* empty, ptx::Mbarrier* points,
                                                    int rank, int row_begin, int first, int count,
                                                    int consumer) {
  constexpr int kThreads = 128 * Form::kConsumers;
  constexpr int kTogether = 4;  // outputs of a thread: so many loads are on the way
  const int thread = static_cast<int>(threadIdx.x) - 128, lane = thread % 32;
  auto* const sums = reinterpret_cast<float*>(shared + Form::kSums);
  MultiplierSm90<F, Form> multiplier(shared, consumer, a.box_rows,
                                     static_cast<std::uint32_t>(a.m + lane) >> 16);
  ClusterPoint written(points, a.cluster), read(points + 1, a.cluster);
  ptx::wait_for_dependencies();
  if (a.one_grid) order_tokens_here_sm90<F, Form>(a, shared, first, count, thread);
  int slot = 0;
  std::uint32_t parity = 0;
  for (int pass = 0; pass < a.passes; ++pass) {
    multiplier.begin_pass();
    for (int stage = first; stage < first + count; ++stage) {
      ptx::mbarrier_wait_parity(&full[slot], parity);
      multiplier.stage(slot, a.one_grid ? stage - first : slot, stage);
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(&empty[slot]);
      if (++slot == Form::kStages) slot = 0, parity ^= 1;
    }
    // Each CTA of the cluster adds up a part of the rows, of which the others bring it their sums:
    // [rank][line][token][row of the part].
    if (pass > 0) read.wait();  // those of the pass before were
    const int rows = Form::kRowBoxes * a.box_rows;
    const int part = (rows + a.cluster - 1) / a.cluster;
    const int line = consumer / Form::kRowBoxes, box = consumer % Form::kRowBoxes;
    const int stride = part + 4;  // the lanes of a warp meet few banks twice
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row_in_box = multiplier.first_row() + h * 8;
      if (row_in_box >= a.box_rows) continue;
      const int row = box * a.box_rows + row_in_box, owner = row / part;
      std::uint32_t to = ptx::shared_address(sums);
      if (a.cluster > 1) to = ptx::map_shared_address(to, owner);
      const int from = (rank * Form::kLines + line) * Form::kColumns + lane % 4 * 2;
      to += static_cast<std::uint32_t>((from * stride + row - owner * part) * 4);
#pragma unroll
      for (int i = 0; i < Form::kColumns / 4; ++i) {
        const int token = i / 2 * 8 + i % 2;
        if (token + lane % 4 * 2 < a.m)
          ptx::cluster_store_u32(to + static_cast<std::uint32_t>(token * stride * 4),
                                 __float_as_uint(multiplier.sums[i / 2 * 4 + h * 2 + i % 2]));
      }
    }
    written.arrive(thread, kThreads);
    written.wait();
    const int first_row = row_begin + pass * rows + rank * part;
    const int own = min(min(part, rows - rank * part), a.n - first_row), outputs = own * a.m;
    for (int begin = thread; begin < outputs; begin += kTogether * kThreads) {
      float sum[kTogether] = {};
      int token[kTogether], row[kTogether];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        const int i = min(begin + t * kThreads, outputs - 1);
        token[t] = i / own, row[t] = i - token[t] * own;
      }
      for (int r = 0; r < a.cluster * Form::kLines; ++r)
#pragma unroll
        for (int t = 0; t < kTogether; ++t)
          sum[t] += sums[(r * Form::kColumns + token[t]) * stride + row[t]];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        const int n = first_row + row[t];
        if constexpr (scale_bytes(F::kWeights) == 4) sum[t] *= a.row_scales[n];
        if constexpr (F::kWeights == SkinnyWeights::nvf4) sum[t] *= *a.scale;
        if (begin + t * kThreads < outputs)
          a.d[std::int64_t{token[t]} * a.n + n] = __float2bfloat16_rn(sum[t] * F::kRest);
      }
    }
    if (pass + 1 < a.passes) read.arrive(thread, kThreads);
  }
}

// F is a format of product/formats.cuh; the rest are SkinnyFormSm90's arguments.
template <class F, int kColumns, int kLineBytes, int kLines>
__global__ void __launch_bounds__(128 + 256 * kLines, 1)
    skinny_sm90(const __grid_constant__ SkinnyMapsSm90 maps,
                const __grid_constant__ SkinnyArgumentsSm90 a) {
  using Form = SkinnyFormSm90<F::kWeights, kColumns, kLineBytes, kLines>;
  static_assert(Form::kThreads == 128 + 256 * kLines);
  extern __shared__ __align__(1024) std::uint8_t shared[];
  auto* const full = reinterpret_cast<ptx::Mbarrier*>(shared + Form::kBarriers);
  ptx::Mbarrier* const empty = full + Form::kStages;
  ptx::Mbarrier* const points = empty + Form::kStages;
  const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  int rank = 0, cluster = static_cast<int>(blockIdx.x);
  if (a.cluster > 1) {
    rank = static_cast<int>(ptx::cluster_cta_rank());
    cluster = static_cast<int>(ptx::cluster_id_x());
  }
  const int row_begin = cluster * a.passes * Form::kRowBoxes * a.box_rows;
  const int first = rank * a.stages_each + min(rank, a.stages_rest);
  const int count = a.stages_each + (rank < a.stages_rest);

  if (threadIdx.x == 0) {
    ptx::tma_prefetch_map(&maps.weights);
    ptx::tma_prefetch_map(&maps.tokens);
    if constexpr (Form::kScaleWidth > 0) ptx::tma_prefetch_map(&maps.scales);
    for (int s = 0; s < Form::kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], 4 * Form::kConsumers);
    }
    for (int p = 0; p < 2; ++p) ptx::mbarrier_init(&points[p], a.cluster);
    ptx::fence_mbarrier_init();
  }
  if (a.cluster > 1) {
    __syncwarp();
    ptx::cluster_arrive_relaxed();  // the barriers have their own fence
    ptx::cluster_wait();
  } else {
    __syncthreads();
  }
  ptx::launch_dependents();
  if (warpgroup == 0) {
    ptx::setmaxnreg_decrease<Form::kProducerRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one())
      load_skinny_sm90<Form>(maps, a, shared, full, empty, row_begin, first, count);
  } else {
    ptx::setmaxnreg_increase<Form::kConsumerRegisters>();
    consume_skinny_sm90<F, Form>(a, shared, full, empty, points, rank, row_begin, first, count,
                                 warpgroup - 1);
  }
}

}  // namespace assay::kernels
