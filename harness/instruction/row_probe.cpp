// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/row_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "harness/callable.hpp"
#include "harness/instruction/registry.hpp"
#include "harness/instruction/row_ptx.hpp"
#include "harness/instruction/row_values.hpp"

namespace assay {
namespace {

constexpr const char* kThroughput = "throughput";
constexpr const char* kLatency = "latency";
constexpr int kLoopCopies = 128;       // of loops whose own overhead need not vanish
constexpr double kReachesPeak = 0.99;  // of the best of a sweep

struct NamedShape {
  std::string entry;
  KernelShape shape;
};

// The kernels of a row: throughput first, whose loop the result file shows; then one for every
// other number of chains of the sweep; the latency's last. An emulated instruction
// takes many registers and instructions: fewer copies of it fit.
std::vector<NamedShape> shapes_of(const InstructionRow& row, Target target) {
  const bool emulated = row.emulated && row.emulated(target);
  const int most = emulated ? std::min(row.chains, 2) : row.chains;
  const int unroll = emulated ? std::min(row.unroll, 4) : row.unroll;
  std::vector<NamedShape> shapes = {{kThroughput, {row.warps, most, unroll, emulated}}};
  for (int chains = most > 1 ? 1 : 2; chains < most; chains *= 2)
    shapes.push_back({fmt::format("chains{}", chains),
                      {row.warps, chains, (emulated ? 8 : kLoopCopies) / chains, emulated}});
  if (!row.independent) shapes.push_back({kLatency, {1, 1, emulated ? 8 : kLoopCopies, emulated}});
  return shapes;
}

struct Point {
  int chains, warps;
  double rate;  // per clock and SM
};

// The rate over chains and warps, and the fewest warps, then chains, that come near the best.
Point sweep(State& s, const InstructionRow& row, const std::vector<NamedShape>& shapes,
            const std::vector<GeneratedKernel>& kernels) {
  const double work = row.flop > 0 ? row.flop : row.ops;
  Series series{.name = row.flop > 0 ? "flop_per_clock_per_sm" : "ops_per_clock_per_sm",
                .unit = row.flop > 0 ? "FLOP/clk/SM" : "op/clk/SM",
                .axes = {{"chains", {}}, {"warps", {}}},
                .values = {}};
  std::vector<int> warps;
  for (int w = 1; w < row.warps; w *= 2) warps.push_back(w);
  warps.push_back(row.warps);
  for (const int w : warps) series.axes[1].points.emplace_back(std::int64_t{w});

  std::vector<std::size_t> order(kernels.size());  // by chains; that of the throughput is first
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = (i + 1) % order.size();
  std::vector<Point> points;
  for (const std::size_t k : order) {
    const KernelShape& shape = shapes[k].shape;
    series.axes[0].points.emplace_back(std::int64_t{shape.chains});
    for (const int w : warps) {
      const Estimate rate =
          work * w * shape.chains * shape.unroll / s.cycles_once(kernels[k].on_every_sm(w * 32));
      points.push_back({shape.chains, w, rate});
      series.add(rate);
    }
  }
  s.add_series(std::move(series));
  const double best = std::ranges::max(points, {}, &Point::rate).rate;
  std::erase_if(points, [&](const Point& p) { return p.rate < kReachesPeak * best; });
  return std::ranges::min(points, {}, [](const Point& p) { return std::pair(p.warps, p.chains); });
}

void run_row(State& s, const InstructionRow& row) {
  const std::vector<NamedShape> shapes = shapes_of(row, s.target());
  const KernelShape& most = shapes.front().shape;
  const GeneratedKernel throughput = prepare_rows(s, {&row, 1}, most, kThroughput);
  const double copies = most.warps * most.chains * most.unroll;
  s.cycles({.flop = row.flop * copies,
            .ops = row.ops * copies,
            .limit = row.limit ? row.limit(s.target()) : Limit{}},
           throughput.on_every_sm());
  if (s.text("state") == "sustained") return;

  if (!row.independent) {
    const KernelShape& chain = shapes.back().shape;
    s.cycles({.steps = static_cast<double>(chain.unroll) * row.in_a_row},
             prepare_rows(s, {&row, 1}, chain, kLatency).on_every_sm());
  }
  std::vector<double> interval = s.cycles({}, throughput.on_every_sm(32));
  for (double& cycles : interval) cycles /= most.chains * most.unroll * row.in_a_row;
  s.add_metric("issue_interval_cycles", "cycle", Better::lower, interval);

  if (s.which().params.contains("sweeps")) return;  // `assay run --no-sweeps`
  std::vector<GeneratedKernel> kernels = {throughput};
  for (std::size_t i = 1; i < shapes.size() && shapes[i].entry != kLatency; ++i)
    kernels.push_back(prepare_rows(s, {&row, 1}, shapes[i].shape, shapes[i].entry));
  const Point enough = sweep(s, row, shapes, kernels);
  s.set_param("warps", std::int64_t{enough.warps});
  s.set_param("chains", std::int64_t{enough.chains});
}

}  // namespace

KernelUse row_kernel(std::span<const InstructionRow> rows, const KernelShape& shape,
                     const std::string& entry, Target target) {
  KernelUse use{.kernel = entry,
                .ptx = instruction_ptx(rows, shape, entry, target),
                .emulated = shape.entangle,
                .local_memory = shape.entangle};  // the stack of a routine it calls
  const int copies = shape.chains * shape.unroll;
  for (const InstructionRow& row : rows) {
    use.emulated |= row.calls && row.calls(target);
    for (SassRule rule : row.sass(target)) {
      rule.at_least *= copies;
      if (rule.at_most != INT_MAX) rule.at_most *= copies;
      // Two rows may become the same opcode, or one's opcode continue the other's.
      if (rows.size() > 1) rule.at_most = INT_MAX;
      const auto same = std::ranges::find(use.sass, rule.opcode, &SassRule::opcode);
      if (same == use.sass.end())
        use.sass.push_back(rule);
      else
        same->at_least += rule.at_least;
    }
  }
  return use;
}

KernelUse row_kernel(const InstructionRow& row, const KernelShape& shape, const std::string& entry,
                     Target target) {
  return row_kernel({&row, 1}, shape, entry, target);
}

GeneratedKernel prepare_rows(State& s, std::span<const InstructionRow> rows,
                             const KernelShape& shape, const std::string& entry) {
  std::vector<std::uint64_t> alike;
  std::size_t out_slots = 0;
  for (const InstructionRow& row : rows) {
    append_inputs(row, shape, nullptr, alike);
    out_slots += static_cast<std::size_t>(shape.chains * row.chain.count * shape.warps * 32);
  }
  GeneratedKernel kernel(s, entry, shape.warps * 32, alike.size() * 8, out_slots * 8);
  kernel.set_inputs(alike);
  const auto out = kernel.outputs_after<std::uint64_t>(kCheckedIterations);
  std::size_t slot = 0;
  for (const InstructionRow& row : rows) {
    const std::string wrong = wrong_values(row, shape, out, slot);
    s.require(wrong.empty(), wrong);
  }

  std::mt19937_64 random(s.seed());
  std::vector<std::uint64_t> timed;
  for (const InstructionRow& row : rows)
    append_inputs(row, shape, row.random_data ? &random : nullptr, timed);
  kernel.set_inputs(timed);
  return kernel;
}

Callable<void(const Launch&)> prepare_row(State& s, const InstructionRow& row,
                                          const KernelShape& shape, const std::string& entry) {
  return prepare_rows(s, {&row, 1}, shape, entry).on_every_sm();
}

Probe instruction_probe(Probe probe, const std::vector<InstructionRow>& rows, bool sustained) {
  auto table = std::make_shared<std::map<std::string, InstructionRow>>();
  probe.cases.clear();
  register_instruction_rows(probe.name, rows);
  for (const InstructionRow& row : rows) {
    Params params = row.params;
    params["state"] = std::string("burst");
    probe.cases.push_back({row.name, params, row.targets, row.suite});
    (*table)[row.name] = row;
    if (!sustained) continue;
    params["state"] = std::string("sustained");
    probe.cases.push_back({row.name + "/sustained", params, row.targets, Suite::full});
    (*table)[row.name + "/sustained"] = row;
  }
  probe.kernels = [table](const Case& c, Target target) {
    const InstructionRow& row = table->at(c.name);
    std::vector<KernelUse> uses;
    for (const NamedShape& named : shapes_of(row, target)) {
      uses.push_back(row_kernel(row, named.shape, named.entry, target));
      if (row.sass(target).size() > 1) continue;  // of several instructions
      if (named.entry == kThroughput) uses.back().role = Role::throughput;
      if (named.entry == kLatency) uses.back().role = Role::latency;
    }
    return uses;
  };
  probe.run = [table](State& s) { run_row(s, table->at(s.which().name)); };
  return probe;
}

}  // namespace assay
