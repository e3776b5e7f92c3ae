// SPDX-License-Identifier: Apache-2.0
// Whether 2^x hides behind matrix math, as attention's softmax would like it to.
//
// One loop of both, four mma.sync to three warp-wide 2^x, which are independent of each other; and
// the same loop with either alone. That ratio balances on Hopper, where a scheduler starts an
// m16n8k16 every 6 cycles and a warp-wide 2^x every 8.
#include "probes/special_function/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/instruction_probe.hpp"
#include "harness/statistics.hpp"

namespace assay {

void measure_overlap(State& s, const Work& work, const Launchable& both, const Launchable& mma,
                     const Launchable& ex2) {
  const std::vector<double> together = s.cycles(work, both);
  const double t_mma = median(s.cycles({}, mma)), t_ex2 = median(s.cycles({}, ex2));
  std::vector<double> overlap;
  for (const double t_both : together)
    overlap.push_back((t_mma + t_ex2 - t_both) / std::min(t_mma, t_ex2));
  s.add_metric("overlap", "", Better::higher, overlap);
  s.lead_with("overlap");
}

}  // namespace assay

namespace {

using namespace assay;

constexpr int kMmas = 4, kFragment = 4;  // accumulator registers of an m16n8k16
constexpr int kEx2s = 3;
constexpr KernelShape kShape{.warps = 16, .chains = 2, .unroll = 8};
constexpr double kExecutions = kShape.warps * kShape.chains * kShape.unroll;

std::string mma(int i) {
  return fmt::format(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{<d.{0}>, <d.{1}>, <d.{2}>, <d.{3}>}}, "
      "{{<a>}}, {{<b>}}, {{<d.{0}>, <d.{1}>, <d.{2}>, <d.{3}>}}; ",
      i * kFragment, i * kFragment + 1, i * kFragment + 2, i * kFragment + 3);
}

// 2^-x: see ex2.cpp.
std::string ex2(int i) {
  return fmt::format("neg.f32 <d.{0}>, <d.{0}>; ex2.approx.ftz.f32 <d.{0}>, <d.{0}>; ",
                     kMmas * kFragment + i);
}

// The chain holds the accumulators, then the arguments of 2^x. What a row does not name stays.
InstructionRow row_of(bool with_mma, bool with_ex2) {
  InstructionRow row{
      .name = with_mma && with_ex2 ? "both"
              : with_mma           ? "mma"
                                   : "ex2",
      .chain = {"d", "f32", "f32", kMmas * kFragment + kEx2s},
      .inputs = {{"a", "b32", "f16", 4}, {"b", "b32", "f16", 2}},
      .step =
          [=](double d, double a, double b, int i) {
            if (i < kMmas * kFragment) return with_mma ? d + 16 * a * b : d;
            return with_ex2 ? std::exp2(-d) : d;
          },
      .tolerance = 1e-5,
      .random_data = true,
      .sass =
          [=](Target) {
            const int mmas = with_mma ? kMmas : 0, ex2s = with_ex2 ? kEx2s : 0;
            return std::vector<SassRule>{{"HMMA.16816.F32", mmas, mmas}, {"MUFU.EX2", ex2s, ex2s}};
          }};
  for (int i = 0; i < std::max(kMmas, kEx2s); ++i) {
    if (with_mma && i < kMmas) row.ptx += mma(i);
    if (with_ex2 && i < kEx2s) row.ptx += ex2(i);
  }
  return row;
}

const InstructionRow kBoth = row_of(true, true), kMma = row_of(true, false),
                     kEx2 = row_of(false, true);

std::vector<KernelUse> kernels(const Case&, Target target) {
  std::vector<KernelUse> uses;
  for (const InstructionRow* row : {&kBoth, &kMma, &kEx2})
    uses.push_back(row_kernel(*row, kShape, row->name, target));
  return uses;
}

void run(State& s) {
  const auto prepared = [&](const InstructionRow& row) {
    return prepare_row(s, row, kShape, row.name);
  };
  measure_overlap(s,
                  {.flop = kExecutions * kMmas * 2 * 16 * 8 * 16, .ops = kExecutions * kEx2s * 32},
                  prepared(kBoth), prepared(kMma), prepared(kEx2));
}

const Registration registration{{
    .name = "special_function/overlap",
    .question = "How much of the time of 2^x hides behind matrix math in the same loop?",
    .cases = {{.name = "mma_sync",
               .params = {{"a", "f16"}, {"b", "f16"}, {"accumulate", "f32"}, {"state", "burst"}}}},
    .kernels = kernels,
    .run = run,
}};

}  // namespace
