// SPDX-License-Identifier: Apache-2.0
// What a choice costs, in cycles of an SM: the model by which the Hopper product picks its form.
//
// It adds what a kernel does one after the other (start, steps of the longest worker, what lies
// between two tiles, the last tile's way out, joining shares) and sets that against the time that
// DRAM needs for the bytes. Constants, and a factor for each form that the sum does not do justice,
// are fitted by scripts/fit_gemm_sm90.py on sweeps of an H200 over 239 shapes: they are no
// measurements of one thing each, and are good for an order among choices, not for a time.
#include <algorithm>
#include <cmath>

#include "harness/element.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr TimeModelSm90::FormFactor kFactors[] = {
    {"128x192_c2x1_s4", 1.03},
    {"128x224_c2x1_s4", 1.03},
    {"128x256_c2x1_s4", 1.03},
    {"256x112_c1x2_s4", 1.03},
    {"pingpong_128x112_c2x1_s6", 1.03},
    {"pingpong_128x128_c1x2_s6", 1.062},
    {"pingpong_128x144_c2x1_s5", 1.03},
    {"pingpong_128x176_c2x1_s5", 0.9704},
    {"pingpong_192x112_c1x2_s5", 0.9704},
    {"pingpong_192x96_c1x2_s5", 0.9704},
    {"pingpong_64x128_c2x1_s8", 1.062},
    {"pingpong_64x136_c2x4_s7", 1.03},
    {"pingpong_64x32_c1x4_s10", 0.9704},
    {"pingpong_64x64_c2x1_s10", 0.9418},
    {"pingpong_64x80_c2x1_s10", 1.062},
    {"swapped_128x160_c1x1_s5", 0.9704},
    {"swapped_128x192_c2x1_s4", 1.03},
    {"swapped_128x200_c1x1_s4", 1.03},
    {"swapped_128x80_c1x1_s7", 0.9704},
    {"swapped_pingpong_128x128_c2x1_s6", 1.094},
    {"swapped_pingpong_128x144_c1x2_s5", 1.03},
    {"swapped_pingpong_128x160_c2x1_s5", 1.03},
    {"swapped_pingpong_128x176_c2x1_s5", 1.03},
    {"swapped_pingpong_128x32_c4x1_s9", 1.062},
    {"swapped_pingpong_128x64_c1x2_s8", 1.062},
    {"swapped_pingpong_128x96_c2x2_s6", 1.03},
    {"swapped_pingpong_128x96_c4x1_s6", 1.062},
    {"swapped_pingpong_64x144_c2x1_s7", 1.127},
    {"swapped_pingpong_64x152_c4x1_s7", 1.03},
    {"swapped_pingpong_64x16_c1x2_s10", 1.062},
    {"swapped_pingpong_64x16_c2x1_s10", 0.9418},
    {"swapped_pingpong_64x176_c4x1_s6", 1.03},
    {"swapped_pingpong_64x32_c1x2_s10", 0.9704},
    {"swapped_pingpong_64x32_c4x1_s10", 1.03},
    {"swapped_pingpong_64x64_c2x1_s10", 1.03},
    {"swapped_pingpong_64x96_c1x2_s9", 0.9704},
};

constexpr TimeModelSm90 kDense = {
    .start = 1994,          // launch, barriers, first bytes, end
    .mma_stretch = 1.248,   // of a step over the tensor core's own time
    .mma_least = 28.69,     // of one MMA of few columns: 64 rows of P from shared memory
    .step_more = 27.16,     // per step: waits and signals
    .l2 = 40.04,            // bytes per cycle and SM when all load
    .l2_alone = 0.7835,     // share of a load's time that others do not cause
    .delivered = 80.24,     // bytes per cycle that an SM takes in when all do
    .cluster = 12.58,       // per step and CTA of a cluster beside the first: they wait for all
    .misaligned = 1.449,    // rows that do not begin on lines of 128 bytes
    .tile_together = 4990,  // between two tiles that both consumers share
    .tile_pingpong = 1807,  // ... that they take turns with
    .out = 0.4237,          // per element of the last tile, after its sums are done
    .join = 3119,           // shares: signals, the wait for the others
    .leave = 0.2259,        // per element of a share that is left
    .add = 0.1473,          // per element of each share that is added
    .uneven = 1.032,        // shares that do not go in step read on their own
    .reread = 1.965,        // and fetch what others fetched before, up to three times
    .dram = 2838,           // bytes per cycle
    .dram_busy = 0.8983,    // of it by the first SM; the rest by the others
    .dram_out = 0.7849,     // per element of a tile, after its last byte has come
    .factors = kFactors,
};

// What is done to a tile's sums before they are written: not fitted, but counted in the machine
// code of pingpong_128x176. A warp instruction takes a slot of its scheduler, and 128 threads are a
// warp for each of the four: an instruction on each element takes 1 / 128 of a cycle per element of
// the tile, whoever shares it.
constexpr int kScaleSlots = 3;               // two products and its part of a shuffle
constexpr int kActivateSlots = 16;           // SiLU's two special functions take as long
constexpr int kF32Slots = 16;                // a store of 8 bytes a lane touches eight rows
constexpr int kAddCSlots = 4;                // beside the wait
constexpr int kLatencyOfC = 800;             // of each round of loads of C, in cycles
constexpr int kFewSums = 128;                // of a thread: they leave registers for longer rounds
constexpr int kRound = 32, kLongRound = 64;  // elements of a thread; of a swapped form, half

double finish_cycles(const GemmProblem& problem, const GemmVariantSm90& v) {
  const double area = double{1} * v.tile_m * v.tile_n;
  const int sums = v.tile_m * v.tile_n / (v.pingpong ? 128 : 256);
  int slots = 0, waits = 0;
  if (problem.scaling == Scaling::row || problem.bias) slots += kScaleSlots;
  if (problem.activation != Activation::none) slots += kActivateSlots;
  if (problem.d_type() == "f32") slots += kF32Slots;
  if (problem.beta != 0) {
    slots += kAddCSlots;
    const int round = (sums <= kFewSums ? kLongRound : kRound) / (v.swapped ? 2 : 1);
    waits = divide_up(sums, round) * kLatencyOfC;
  }
  return area * slots / 128 + waits;
}

}  // namespace

const TimeModelSm90& dense_time_model_sm90() { return kDense; }

double predicted_cycles_sm90(const GemmProblem& problem, const GemmChoiceSm90& choice,
                             const TimeModelSm90& model) {
  const GemmVariantSm90& v = *choice.variant;
  const int rows = v.swapped ? problem.n : problem.m, columns = v.swapped ? problem.m : problem.n;
  const int tiles_m = divide_up(rows, v.tile_m * v.cluster_m),
            tiles_n = divide_up(columns, v.tile_n * v.cluster_n), tiles = tiles_m * tiles_n;
  const int k_steps = divide_up(problem.k, v.tile_k);
  const double bytes_each = element_bits(problem.type) / 8.0;
  const double busy = choice.workers * v.cluster_size() / 132.0;
  const double area = double{1} * v.tile_m * v.tile_n;

  const double mma = 4.0 * v.tile_m / 64 *
                     std::max(v.tile_n / 2.0, model.mma_least + v.tile_n / 4.0) * model.mma_stretch;
  const bool misaligned = std::fmod(problem.k * bytes_each, 128) != 0;
  const int rows_loaded = v.tile_m / v.cluster_n + v.tile_n / v.cluster_m;
  const double l2 = 128.0 * rows_loaded * (misaligned ? model.misaligned : 1) / model.l2 *
                    (model.l2_alone + (1 - model.l2_alone) * busy);
  // What is multicast is fetched once, but each SM takes all of it in.
  const double taken_in = 128.0 * (v.tile_m + v.tile_n) / model.delivered * busy;
  const double step =
      std::max({mma, l2, taken_in}) + model.step_more + model.cluster * (v.cluster_size() - 1);

  const int stream = choice.stream_tiles;
  const int whole = divide_up(tiles - stream, choice.workers);
  const double share = std::ceil(double{1} * stream * k_steps / choice.workers);
  double cycles = (whole * k_steps + share) * step + area * model.out;
  const int turns = whole + (stream > 0);
  cycles += std::max(0, turns - 1) * (v.pingpong ? model.tile_pingpong : model.tile_together);
  // The last tile's is seen; of those before it, what the other consumer's MMAs do not hide.
  const double finish = finish_cycles(problem, v);
  const double hidden = v.pingpong ? k_steps * step : 0;
  cycles += finish + std::max(0, turns - 1) * std::max(0.0, finish - hidden);
  const bool uneven = stream > 0 && choice.workers % stream != 0;
  if (stream > 0) {
    const double others = std::max(0.0, std::ceil(double{1} * choice.workers / stream) - 1);
    cycles += model.join + area * (model.leave + model.add * others);
  }
  if (uneven) cycles *= model.uneven;

  const double bytes_p = bytes_each * rows * problem.k, bytes_q = bytes_each * columns * problem.k;
  const double bytes_d = element_bits(problem.d_type()) / 8.0 * rows * columns;
  double bytes = bytes_p + bytes_q + bytes_d * (problem.beta != 0 ? 2 : 1);
  if (uneven)
    bytes += model.reread * stream / tiles *
             (std::min(tiles_n - 1, 3) * bytes_p + std::min(tiles_m - 1, 3) * bytes_q);
  const double dram =
      bytes / model.dram / std::min(1.0, model.dram_busy + 1.3 * busy * (1 - model.dram_busy)) +
      area * model.dram_out;
  // The longer of the two, and a little more where they are alike.
  double factor = 1;
  for (const TimeModelSm90::FormFactor& known : model.factors)
    if (known.form == v.name) factor = known.factor;
  return factor * (model.start + std::pow(std::pow(cycles, 8) + std::pow(dram, 8), 1.0 / 8));
}

}  // namespace assay::kernels
