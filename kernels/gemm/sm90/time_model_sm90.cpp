// SPDX-License-Identifier: Apache-2.0
// What a choice costs, in cycles of an SM: the model by which the Hopper product picks its form.
//
// It adds what a kernel does one after the other (start, steps of the longest worker, what lies
// between two tiles, the last tile's way out, joining shares) and sets that against the time that
// DRAM needs for the bytes. Constants, and a factor for each form that the sum does not do justice,
// are fitted (time_constants_sm90.hpp).
#include <algorithm>
#include <cmath>

#include "harness/element.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"
#include "kernels/gemm/sm90/time_constants_sm90.hpp"

namespace assay::kernels {
namespace {

// What is done to a tile's sums before they are written: not fitted, but counted in the machine
// code of pingpong_128x176. A warp instruction takes a slot of its scheduler, and 128 threads are a
// warp for each of the four: an instruction on each element takes 1 / 128 of a cycle per element of
// the tile, whoever shares it.
constexpr int kScaleSlots = 3;      // two products and its part of a shuffle
constexpr int kActivateSlots = 16;  // two special functions
constexpr int kTanhSlots = 8;       // one
constexpr int kF32Slots = 2;        // more of shared memory's time than two values of 16 bits take
constexpr int kAddCSlots = 3;

double finish_cycles(const GemmProblem& problem, const GemmVariantSm90& v,
                     const TimeModelSm90& model) {
  const double area = double{1} * v.tile_m * v.tile_n;
  const double bytes_each = element_bits(problem.d_type()) / 8.0;
  int slots = 0;
  if (problem.scaling == Scaling::row || problem.bias) slots += kScaleSlots;
  if (problem.activation != Activation::none)
    slots += problem.activation == Activation::gelu_tanh ? kTanhSlots : kActivateSlots;
  if (problem.d_type() == "f32") slots += kF32Slots;
  // The ring brings C, and nothing else meanwhile.
  const double of_c = problem.beta != 0 ? area * bytes_each / model.delivered : 0;
  if (problem.beta != 0) slots += kAddCSlots;
  return area * slots / 128 + of_c;
}

}  // namespace

const TimeModelSm90& dense_time_model_sm90(const GemmProblem& problem) {
  return element_bits(problem.type) == 8 ? kNarrowTimesSm90 : kWideTimesSm90;
}

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

  const double mma = 4.0 * v.depth * v.tile_m / 64 *
                     std::max(v.tile_n / 2.0, model.mma_least + v.tile_n / 4.0) * model.mma_stretch;
  // A line of a box lies in two of L2's lines where its operand's rows, of k or of the other
  // dimension, do not begin at such a line.
  const auto misaligned = [&](int major, int other) {
    const double row = bytes_each * (major == 0 ? problem.k : other);
    return std::fmod(row, 128) != 0;
  };
  const bool misaligned_p = misaligned(v.major_p, rows),
             misaligned_q = misaligned(v.major_q, columns);
  const auto times = [](bool applies, double factor) { return applies ? factor : 1; };
  // Of whole tiles and of parts, what the clusters of a GPC read together counts once.
  const ClusterBlock block = cluster_block(v.cluster_m, v.cluster_n);
  const auto read = [](double joined, int neighbours, int most) {
    return 1 - joined * (1 - 1.0 / std::min(neighbours, most));
  };
  const double read_p = read(model.joined_p, block.columns, tiles_n),
               read_q = read(model.joined_q, block.rows, tiles_m);
  // What is multicast is fetched once, but each SM takes all of it in.
  const double taken_in = 128.0 * v.depth *
                          (v.tile_m * times(misaligned_p, model.spread) +
                           v.loaded_n * times(misaligned_q, model.spread)) /
                          model.delivered * busy;
  const auto step_of = [&](bool together) {
    const double lines = 1.0 * v.tile_m / v.cluster_n * times(misaligned_p, model.misaligned) *
                             times(together, read_p) +
                         1.0 * v.loaded_n / v.cluster_m * times(misaligned_q, model.misaligned) *
                             times(together, read_q);
    const double l2 =
        128.0 * v.depth * lines / model.l2 * (model.l2_alone + (1 - model.l2_alone) * busy);
    return std::max({mma, l2, taken_in}) + model.step_more + model.cluster * (v.cluster_size() - 1);
  };
  const double step = step_of(true);

  const bool split = choice.parts > 1;
  const int stream = choice.stream_tiles;
  const bool uneven = stream > 0 && choice.workers % stream != 0;
  const int whole = split ? 0 : divide_up(tiles - stream, choice.workers);
  const double share = std::ceil(double{1} * (split ? tiles : stream) * k_steps / choice.workers);
  double cycles = whole * k_steps * step +
                  share * (split ? step : step_of(false) * times(uneven, model.uneven)) +
                  area * model.out;
  const int turns = whole + (stream > 0 || split);
  // Little of a tile's way out is hidden where its steps are few. A box that is not full takes as
  // long: of k = 64, tiles of 80 columns took 1.4 times as long as those of 128.
  const double boxes =
      divide_up(v.tile_n * element_bits(problem.d_type()) / 8, 128) * v.tile_m / 128.0;
  const double between = std::max(v.pingpong ? model.tile_pingpong : model.tile_together,
                                  model.out_tile + boxes * model.out_box - k_steps * step);
  cycles += std::max(0, turns - 1) * between;
  // The last tile's is seen; of those before it, what the other consumer's MMAs do not hide.
  const double finish = split ? 0 : finish_cycles(problem, v, model);
  const double hidden = v.pingpong ? k_steps * step : 0;
  cycles += finish + std::max(0, turns - 1) * std::max(0.0, finish - hidden);
  double joined = 0;
  if (stream > 0) {
    const double others = std::max(0.0, std::ceil(double{1} * choice.workers / stream) - 1);
    joined = model.join + area * (model.leave + model.add * others);
  }
  if (split)
    joined = model.reduce + area * (model.leave - model.out) +
             4 * area * v.cluster_size() * choice.workers / model.reduce_l2;
  cycles += joined;

  const double bytes_p = bytes_each * rows * problem.k, bytes_q = bytes_each * columns * problem.k;
  const double bytes_d = element_bits(problem.d_type()) / 8.0 * rows * columns;
  double bytes = bytes_p + bytes_q + bytes_d * (problem.beta != 0 ? 2 : 1);
  if (uneven)
    bytes += model.reread * stream / tiles *
             (std::min(tiles_n - 1, 3) * bytes_p + std::min(tiles_m - 1, 3) * bytes_q);
  const double dram =
      bytes / model.dram / std::min(1.0, model.dram_busy + 1.3 * busy * (1 - model.dram_busy)) +
      area * model.dram_out +
      (whole == 0 ? joined : 0);  // shares come first: nothing else is left to read meanwhile
  // The longer of the two, and a little more where they are alike.
  double factor = 1;
  for (const TimeModelSm90::FormFactor& known : model.factors)
    if (known.form == v.name)
      factor = misaligned_p || misaligned_q ? known.misaligned : known.aligned;
  return factor * (model.start + std::pow(std::pow(cycles, 8) + std::pow(dram, 8), 1.0 / 8));
}

}  // namespace assay::kernels
