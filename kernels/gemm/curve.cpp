// SPDX-License-Identifier: Apache-2.0
// A layer of a language model at every number of tokens from 1 to 512: ours and cuBLASLt, each at
// its best, in turns. The weights are read once however few the tokens are, so this is a curve of
// bandwidth that bends into one of throughput.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "harness/element.hpp"
#include "harness/error.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "kernels/baselines/baseline.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/gemm/contest.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/shapes.hpp"

namespace assay::kernels {
namespace {

constexpr std::array kTokens = {1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512};
constexpr int kRounds = 15;
constexpr int kTrials = 8;  // in which candidates are timed

GemmProblem at(GemmProblem p, int m) {
  p.m = m;
  return p;
}

// What takes turns at one number of tokens.
struct Point {
  GemmProblem problem;
  std::vector<Plan> plans;              // of each set
  std::unique_ptr<Baseline> library;    // null: there is none
  std::vector<int> candidates;          // its best, and its first if that is another
  std::vector<std::vector<double>> ns;  // ours, then each candidate's, by rounds

  void run(std::size_t who, int set, cudaStream_t stream) const {
    if (who == 0)
      plans[static_cast<std::size_t>(set)].run(stream);
    else
      library->run(candidates[who - 1], set, stream);
  }
  std::size_t contenders() const { return 1 + candidates.size(); }
  // The contender whose median is least, ours left out. Not each round's fastest: of two that are
  // equally fast that is the luckier one, 1% below either.
  std::size_t fastest_library() const {
    std::size_t best = 1;
    for (std::size_t who = 2; who < ns.size(); ++who)
      if (median(ns[who]) < median(ns[best])) best = who;
    return best;
  }
};

Point make_point(State& s, const GemmProblem& p, const GemmOperandLayout& layout,
                 const OperandSets& sets, const LaunchTimer& timer) {
  Point point{.problem = p};
  std::vector<GemmOperands> operands;
  for (int set = 0; set < sets.count(); ++set) {
    operands.push_back(layout.of(sets[set]));
    point.plans.push_back(plan_gemm(p, operands.back()));
  }
  try {
    point.library = open_cublaslt(p, operands);
    point.candidates = {find_best(*point.library, sets.count(), kTrials, timer)};
    if (point.candidates.front() != 0) point.candidates.push_back(0);
  } catch (const Error& error) {
    s.add_flag(fmt::format("m={}: no baseline: {}", p.m, error.what()));
  }
  for (std::size_t who = 0; who < point.contenders(); ++who) {
    sets.poison_outputs(0);
    point.run(who, 0, s.stream());
    const std::string error = find_error(p, operands.front(), s.seed(), s.stream());
    s.require(error.empty(), fmt::format("m={} contender {}: {}", p.m, who, error));
  }
  point.ns.resize(point.contenders());
  return point;
}

void run(State& s) {
  const GemmProblem p = problem_of(s.which());
  const GemmOperandLayout layout(p);  // of the greatest m: the others use their first rows
  const OperandSets sets(s, layout.operands());
  const LaunchTimer timer = event_timer(s.stream());
  std::vector<Point> points;
  for (const int m : kTokens) points.push_back(make_point(s, at(p, m), layout, sets, timer));

  std::mt19937_64 random(s.seed());
  int turn = 0;  // each has the next set: none finds its inputs in L2
  for (int round = 0; round < kRounds; ++round)
    for (Point& point : points) {
      std::vector<std::size_t> order(point.contenders());
      for (std::size_t who = 0; who < order.size(); ++who) order[who] = who;
      std::ranges::shuffle(order, random);
      for (const std::size_t who : order)
        point.ns[who].push_back(
            timer([&](cudaStream_t stream) { point.run(who, turn++ % sets.count(), stream); }));
    }

  const Axis tokens{.name = "m", .points = {kTokens.begin(), kTokens.end()}};
  Series micros{.name = "time_us", .unit = "us", .axes = {tokens}},
      bandwidth{.name = "bandwidth_gb_per_s", .unit = "GB/s", .axes = {tokens}},
      speedup{.name = "speedup", .unit = "", .axes = {tokens}};
  std::vector<double> means(kRounds, 0.0);
  bool compared = true;
  for (const Point& point : points) {
    const Estimate ns = estimate(point.ns[0]);
    const double m = point.problem.m, n = p.n, k = p.k;
    const double bytes = (m * k * element_bits(p.type) + n * k * element_bits(p.b_type()) +
                          m * n * element_bits(p.d_type())) /
                         8;
    micros.add(ns * 1e-3);
    bandwidth.add(bytes / ns);
    compared = compared && point.contenders() > 1;
    if (!compared) continue;
    const std::size_t library = point.fastest_library();
    std::vector<double> ratios;
    for (std::size_t round = 0; round < kRounds; ++round) {
      ratios.push_back(point.ns[library][round] / point.ns[0][round]);
      means[round] += std::log(ratios.back()) / static_cast<double>(kTokens.size());
    }
    speedup.add(estimate(ratios));
  }
  if (compared) {
    for (double& mean : means) mean = std::exp(mean);
    s.add_metric("speedup_geometric_mean", "", Better::higher, means);
    s.add_series(std::move(speedup));
  }
  std::vector<double> first;
  for (const double ns : points.front().ns[0]) first.push_back(ns * 1e-3);
  s.add_metric("time_us_of_one_token", "us", Better::lower, first);
  s.limit(bandwidth.name, dram_limit(s.device()));
  s.add_series(std::move(micros));
  s.add_series(std::move(bandwidth));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const GemmLayer& layer : gemm_layers()) {
    if (!layer.curve) continue;
    for (const std::string type : {"bf16", "e4m3"}) {
      GemmProblem p{.m = kTokens.back(), .n = layer.n, .k = layer.k, .type = type};
      if (type == "e4m3") {
        p.type_d = "bf16";
        p.scaling = Scaling::row;
      }
      std::vector<Target> targets = gemm_paths().targets(p);
      if (targets.empty()) continue;
      Params params = params_of(p);
      params["model"] = std::string(layer.model);
      params["layer"] = std::string(layer.layer);
      params["state"] = "burst";
      all.push_back({.name = fmt::format("{}/n{}k{}", type, layer.n, layer.k),
                     .params = std::move(params),
                     .targets = std::move(targets),
                     .suite = Suite::full});
    }
  }
  return all;
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const GemmProblem p = problem_of(c);
  std::vector<KernelUse> all;
  for (const int m : kTokens)
    for (KernelUse& use : gemm_paths().choose(at(p, m), target).kernels(at(p, m))) {
      const auto same = [&](const KernelUse& other) { return other.kernel == use.kernel; };
      if (std::ranges::none_of(all, same)) all.push_back(std::move(use));
    }
  return all;
}

// Made once every path has registered itself.
const Registration registration{[] {
  return Probe{
      .name = "kernels/gemm_curve",
      .question =
          "How fast is a layer of a language model with few tokens, and how does it compare "
          "with cuBLASLt?",
      .metrics =
          {{"speedup_geometric_mean",
            "Time over ours of cuBLASLt, its best or first candidate, whichever has the lesser "
            "median; the geometric mean over all numbers of tokens."},
           {"speedup", "The same at each number of tokens, in the median of the rounds."},
           {"time_us_of_one_token", "Our time for one token, all operands beyond L2."},
           {"time_us", "Our time at each number of tokens, all operands beyond L2."},
           {"bandwidth_gb_per_s",
            "Bytes of weights, inputs and outputs, each moved once, over our time."}},
      .kind = Kind::kernel,
      .cases = cases(),
      .pace = Pace::dram,
      .kernels = kernels,
      .run = run};
}};

}  // namespace
}  // namespace assay::kernels
