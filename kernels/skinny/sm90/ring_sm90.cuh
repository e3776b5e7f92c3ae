// SPDX-License-Identifier: Apache-2.0
// The skinny product on Hopper: weights stream through a ring and are multiplied from registers.
//
// Persistent CTAs, one on each SM: one thread brings stages of weights, scales of blocks and tokens
// by TMA; three or seven warps put tokens into the order in which lanes have weights
// (order_tokens.cuh); two or four warpgroups unpack weights on the way from shared memory to
// registers, and multiply 64 rows of them by all tokens with one wgmma per 16 elements of a row
// (multiply_sm90.cuh). Weights are A, so few tokens waste columns of an MMA, of which the tensor
// cores have more than memory feeds them.
//
// Balance. Every cluster has as many rows as any other, a multiple of eight, in one or more passes:
// a box has just the rows that this needs; an MMA's other rows are computed and not used.
//
// CTAs of a cluster share k, and so the tokens. Each brings the others its sums of the rows that
// they add up, by rank: the same bits every time. st.async signals an mbarrier of the CTA that
// receives the data. With ordinary stores and a release and acquire of cluster scope, the fences
// took most of the time at the end of a pass.
//
// landed[s] ends a phase when the stage's tokens have landed, full[s] when its weights have and its
// tokens are in order, empty[s] when all warpgroups are done with it.
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
struct SkinnyBarriersSm90 {
  ptx::Mbarrier landed[Form::kStages], full[Form::kStages], empty[Form::kStages];
  ptx::Mbarrier written, read;  // sums of a pass, by all of the cluster

  __device__ void begin(int cluster) {
    for (int s = 0; s < Form::kStages; ++s) {
      ptx::mbarrier_init(&landed[s], 1);
      ptx::mbarrier_init(&full[s], 1 + Form::kOrderWarps);
      ptx::mbarrier_init(&empty[s], 4 * Form::kConsumers);
    }
    ptx::mbarrier_init(&written, 1);
    ptx::mbarrier_init(&read, cluster);
    ptx::fence_mbarrier_init();
  }
};

template <class Form>
__device__ __forceinline__ void load_skinny_sm90(const SkinnyMapsSm90& maps,
                                                 const SkinnyArgumentsSm90& a, std::uint8_t* shared,
                                                 SkinnyBarriersSm90<Form>& barriers,
                                                 SkinnyCourseSm90<Form> at, int stages) {
  const auto bytes = static_cast<std::uint32_t>(
      a.box_rows * Form::kRowBoxes * (Form::kLines * Form::kLineBytes + Form::kScaleWidth));
  ptx::wait_for_dependencies();
  for (int i = 0; i < stages; ++i, at.next()) {
    if (i >= Form::kStages) {
      ptx::mbarrier_wait_parity(&barriers.empty[at.slot], at.parity);
      ptx::fence_proxy_async_shared();  // between the others' accesses and the next copies
    }
    // Tokens before weights, for they are put into order while those are on the way.
    constexpr int kBlocks = Form::kLines * Form::kLineElements / 64;
    ptx::Mbarrier* const landed = &barriers.landed[at.slot];
    std::uint8_t* const tokens = shared + Form::kTokens + at.slot * Form::kTokenBytes;
    ptx::mbarrier_arrive_expect_tx(landed, Form::kTokenBytes);
    if (a.whole_blocks) {
      ptx::tma_load_3d(tokens, &maps.tokens, landed, 0, 0, at.stage * kBlocks);
    } else {
      for (int block = 0; block < kBlocks; ++block)
        ptx::tma_load_2d(tokens + block * (Form::kColumns * 128), &maps.tokens, landed,
                         (at.stage * kBlocks + block) * 64, 0);
    }
    ptx::Mbarrier* const full = &barriers.full[at.slot];
    ptx::mbarrier_arrive_expect_tx(full, bytes);
#pragma unroll
    for (int box = 0; box < Form::kRowBoxes; ++box) {
      const int row = at.row + box * a.box_rows;
#pragma unroll
      for (int line = 0; line < Form::kLines; ++line)
        ptx::tma_load_2d(shared + at.slot * Form::kWeightBytes +
                             (line * Form::kRowBoxes + box) * Form::kBoxBytes,
                         &maps.weights, full, (at.stage * Form::kLines + line) * Form::kLineBytes,
                         row);
      if constexpr (Form::kScaleWidth > 0)
        ptx::tma_load_2d(shared + Form::kScales + at.slot * Form::kScaleBytes +
                             box * Form::kBoxRows * Form::kScaleWidth,
                         &maps.scales, full, at.stage * Form::kStageScales / 16 * 16, row);
    }
  }
}

template <class F, class Form>
__device__ __forceinline__ void order_skinny_sm90(const SkinnyArgumentsSm90& a,
                                                  std::uint8_t* shared,
                                                  SkinnyBarriersSm90<Form>& barriers, int stages,
                                                  int warp, int lane) {
  const TokenOrderSm90<F, Form> order(warp, lane);
  int slot = 0;
  std::uint32_t parity = 0;
  for (int i = 0; i < stages; ++i) {
    ptx::mbarrier_wait_parity(&barriers.landed[slot], parity);
    order.stage(shared + Form::kTokens + slot * Form::kTokenBytes, a.m);
    ptx::fence_proxy_async_shared();  // MMAs read what was written
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive(&barriers.full[slot]);
    if (++slot == Form::kStages) slot = 0, parity ^= 1;
  }
}

// The sums of a pass: every warpgroup of the cluster brings those of its rows to the CTA that adds
// them up, [rank][line][row of the part][token].
template <class Form>
class SkinnySumsSm90 {
 public:
  static constexpr int kThreads = 128 * Form::kConsumers;

  // For a thread that has rows row[h] of a pass, or none where row[h] is negative.
  __device__ SkinnySumsSm90(const SkinnyArgumentsSm90& a, std::uint8_t* shared,
                            SkinnyBarriersSm90<Form>& barriers, int rank, int line,
                            const int (&row)[2], int thread)
      : sums_(reinterpret_cast<float*>(shared + Form::kSums)),
        barriers_(barriers),
        cluster_(a.cluster),
        rank_(rank),
        m_(a.m),
        token_(Form::kColumns == 8 ? thread % 4 * 2 : thread % 4 / 2 * 4),
        part_((Form::kRowBoxes * a.box_rows + a.cluster - 1) / a.cluster),
        own_(max(min(part_, Form::kRowBoxes * a.box_rows - rank * part_), 0)) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      owner_[h] = row[h] < 0 ? -1 : row[h] / part_;
      offset_[h] =
          ((rank * Form::kLines + line) * part_ + row[h] - owner_[h] * part_) * Form::kSumStride +
          token_;
    }
  }

  __device__ int part() const { return part_; }
  __device__ int own() const { return own_; }  // rows of this CTA's part

  // Sums are stored four tokens at a time, as total() reads them, in forms of 8 columns two. Sums
  // that this CTA adds up itself are stored directly, not through the cluster's network. (With 64
  // tokens calls take 5% less time than with stores of two tokens that all go through the network.)
  __device__ void bring(const float (&sums)[Form::kColumns / 2], int thread, int pass) const {
    if (cluster_ > 1) {
      if (pass > 0) ptx::mbarrier_wait_parity(&barriers_.read, (pass - 1) % 2);
      if (thread == 0)
        ptx::mbarrier_arrive_expect_tx(
            &barriers_.written,
            static_cast<std::uint32_t>((cluster_ - 1) * Form::kLines * own_ * ((m_ + 3) / 4 * 16)));
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float* const here = sums_ + offset_[h];
      const std::uint32_t barrier = ptx::map_shared_address(ptx::shared_address(&barriers_.written),
                                                            max(owner_[h], 0)),
                          there =
                              ptx::map_shared_address(ptx::shared_address(here), max(owner_[h], 0));
      if constexpr (Form::kColumns == 8) {
        const uint2 v = {__float_as_uint(sums[2 * h]), __float_as_uint(sums[2 * h + 1])};
        if (owner_[h] < 0 || token_ / 4 * 4 >= m_) continue;
        if (owner_[h] == rank_)
          *reinterpret_cast<uint2*>(here) = v;
        else
          ptx::cluster_store_async_v2(there, v, barrier);
      } else {
#pragma unroll
        for (int i = 0; i < Form::kColumns / 8; i += 2) {
          const uint4 v = four(sums, h, i);
          const int at = (i + thread % 2) * 8;  // token_ is the first of the four
          if (owner_[h] < 0 || token_ + at >= m_) continue;
          if (owner_[h] == rank_)
            *reinterpret_cast<uint4*>(here + at) = v;
          else
            ptx::cluster_store_async_v4(there + static_cast<std::uint32_t>(at * 4), v, barrier);
        }
      }
    }
  }
  // Behind it the sums of all are there.
  __device__ void wait(int pass) const {
    if (cluster_ > 1) ptx::mbarrier_wait_parity(&barriers_.written, pass % 2);
    ptx::named_barrier_sync(1, kThreads);
  }
  // Of four tokens of a row of the part.
  __device__ float4 total(int row, int token) const {
    float4 sum = {};
    const float* from = sums_ + row * Form::kSumStride + token;
#pragma unroll 4
    for (int i = 0; i < cluster_ * Form::kLines; ++i, from += part_ * Form::kSumStride) {
      const float4 v = *reinterpret_cast<const float4*>(from);
      sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    return sum;
  }
  // All threads have their totals.
  __device__ void end(int thread) const {
    ptx::named_barrier_sync(1, kThreads);
    if (cluster_ > 1 && thread < cluster_) ptx::mbarrier_arrive_remote(&barriers_.read, thread);
  }

 private:
  // Of eights i and i + 1 of a row's tokens a lane has the same two. It gives its neighbour two of
  // one for two of the other: even lanes then have four of eight i, odd ones of i + 1.
  __device__ static uint4 four(const float (&sums)[Form::kColumns / 2], int h, int i) {
    const bool odd = threadIdx.x % 2 != 0;
    const float x[2] = {sums[4 * i + 2 * h], sums[4 * i + 2 * h + 1]},
                y[2] = {sums[4 * i + 4 + 2 * h], sums[4 * i + 4 + 2 * h + 1]};
    std::uint32_t kept[2], got[2];
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      got[t] = __float_as_uint(__shfl_xor_sync(0xffffffffu, odd ? x[t] : y[t], 1));
      kept[t] = __float_as_uint(odd ? y[t] : x[t]);
    }
    return odd ? uint4{got[0], got[1], kept[0], kept[1]} : uint4{kept[0], kept[1], got[0], got[1]};
  }

  float* sums_;
  SkinnyBarriersSm90<Form>& barriers_;
  int cluster_, rank_, m_, token_, part_, own_;
  int owner_[2], offset_[2];  // of the thread's rows: the rank that adds them up, and where
};

template <class F, class Form>
__device__ __forceinline__ void consume_skinny_sm90(const SkinnyArgumentsSm90& a,
                                                    std::uint8_t* shared,
                                                    SkinnyBarriersSm90<Form>& barriers, int rank,
                                                    int row_begin, int first, int count,
                                                    int consumer) {
  const int thread = static_cast<int>(threadIdx.x) - 128 * Form::kProducers, lane = thread % 32;
  MultiplierSm90<F, Form> multiplier(shared, consumer, a.box_rows,
                                     static_cast<std::uint32_t>(a.m + lane) >> 16);
  int brought[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = multiplier.first_row() + h * 8;
    brought[h] = row < a.box_rows ? consumer % Form::kRowBoxes * a.box_rows + row : -1;
  }
  const SkinnySumsSm90<Form> sums(a, shared, barriers, rank, consumer / Form::kRowBoxes, brought,
                                  thread);
  // A warp adds up 32 rows of its CTA's part, which has one, two or four such blocks, and every
  // so many fours of tokens.
  constexpr int kWarps = 4 * Form::kConsumers;
  const int shift = sums.part() <= 32 ? 0 : sums.part() <= 64 ? 1 : 2, warp = thread / 32;
  const int own_row = (warp & ((1 << shift) - 1)) * 32 + lane;
  const int rows = Form::kRowBoxes * a.box_rows;                 // of a pass
  const int first_n = row_begin + rank * sums.part() + own_row;  // of the first
  ptx::wait_for_dependencies();
  float rest = F::kRest;
  if constexpr (F::kWeights == SkinnyWeights::nvf4) rest *= *a.scale;
  int slot = 0;
  std::uint32_t parity = 0;
  for (int pass = 0; pass < a.passes; ++pass) {
    const int n = first_n + pass * rows;
    const bool has_row = own_row < sums.own() && n < a.n;
    float scale = 1;
    if constexpr (scale_bytes(F::kWeights) == 4)  // now, else the end of a pass waits for it
      if (has_row) scale = a.row_scales[n];
    multiplier.begin_pass();
    for (int stage = first; stage < first + count; ++stage) {
      ptx::mbarrier_wait_parity(&barriers.full[slot], parity);
      multiplier.stage(slot, stage);
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(&barriers.empty[slot]);
      if (++slot == Form::kStages) slot = 0, parity ^= 1;
    }
    sums.bring(multiplier.sums, thread, pass);
    sums.wait(pass);
    if (has_row)
      for (int token = (warp >> shift) * 4; token < a.m; token += (kWarps >> shift) * 4) {
        const float4 total = sums.total(own_row, token);
        const float of[4] = {total.x, total.y, total.z, total.w};
        __nv_bfloat16* const d = a.d + std::int64_t{token} * a.n + n;
#pragma unroll
        for (int t = 0; t < 4; ++t)
          if (token + t < a.m)
            d[std::int64_t{t} * a.n] = __float2bfloat16_rn(of[t] * (rest * scale));
      }
    if (pass + 1 < a.passes) sums.end(thread);
  }
}

// F is a format of product/formats.cuh; the rest are SkinnyFormSm90's arguments.
template <class F, int kColumns, int kLineBytes, int kLines>
__global__ void __launch_bounds__(
    SkinnyFormSm90<F::kWeights, kColumns, kLineBytes, kLines>::kThreads, 1)
    skinny_sm90(const __grid_constant__ SkinnyMapsSm90 maps,
                const __grid_constant__ SkinnyArgumentsSm90 a) {
  using Form = SkinnyFormSm90<F::kWeights, kColumns, kLineBytes, kLines>;
  extern __shared__ __align__(1024) std::uint8_t shared[];
  using Barriers = SkinnyBarriersSm90<Form>;
  static_assert(sizeof(Barriers) <= Form::kBarrierBytes);
  auto& barriers = *reinterpret_cast<Barriers*>(shared + Form::kBarriers);
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
    barriers.begin(a.cluster);
  }
  if (a.cluster > 1) {
    __syncwarp();
    ptx::cluster_arrive_relaxed();  // the barriers have their own fence
    ptx::cluster_wait();
  } else {
    __syncthreads();
  }
  ptx::launch_dependents();
  if (warpgroup < Form::kProducers) {
    ptx::setmaxnreg_decrease<Form::kProducerRegisters>();
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    if (warp > 0) {
      order_skinny_sm90<F, Form>(a, shared, barriers, a.passes * count, warp - 1, lane);
    } else if (ptx::elect_one()) {
      load_skinny_sm90<Form>(maps, a, shared, barriers,
                             {.row = row_begin,
                              .row_step = Form::kRowBoxes * a.box_rows,
                              .first = first,
                              .end = first + count,
                              .stage = first},
                             a.passes * count);
    }
  } else {
    ptx::setmaxnreg_increase<Form::kConsumerRegisters>();
    consume_skinny_sm90<F, Form>(a, shared, barriers, rank, row_begin, first, count,
                                 warpgroup - Form::kProducers);
  }
}

}  // namespace assay::kernels
