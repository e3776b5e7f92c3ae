// SPDX-License-Identifier: Apache-2.0
// What a CUDA graph costs by the number of its nodes, kernels that only stamp the time:
// instantiating, uploading, updating and launching it by the CPU's clock, and what the GPU takes
// from node to node.
//
// In a chain each node depends on the one before it, in programmatic over programmatic edges;
// fork_join is one node, then all others but the last side by side, then the last. Figures are of
// the smallest graph (1 node, or 4), those per node of one of 1024: shares of that whole, which a
// graph of another size has only where the time grows with the number of nodes. So the exponent of
// that growth is beside them; it is 2 where each node costs more the more there are, as side by
// side in a fork.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

#include "harness/statistics.hpp"
#include "probes/launch/chain.hpp"
#include "probes/launch/clock.hpp"
#include "probes/launch/concurrency.hpp"

namespace {

constexpr int kHeadline = 1024;

enum class Form { chain, programmatic, fork_join };

struct Found {
  std::map<std::string, std::vector<double>> us;
  double concurrent = 1;
};

// A graph of stamped kernels. The serials of a fork count its three levels.
class Bench {
 public:
  Bench(assay::State& s, Form form, int nodes)
      : s_(s),
        form_(form),
        nodes_(nodes),
        shape_{.programmatic = form == Form::programmatic},
        stamps_(s.allocate<assay::Stamp>(static_cast<std::size_t>(nodes))) {
    assay::check(cudaMemsetAsync(stamps_, 0, sizeof(assay::Stamp) * static_cast<std::size_t>(nodes),
                                 s.stream()));
  }

  Found measure() {
    Found found;
    const cudaStream_t stream = s_.stream();
    const std::uint32_t updated_work_ns = form_ == Form::fork_join ? 50'000 : 2'000;
    const auto timed = [&](const char* what, const auto& work) {
      const double begin = assay::host_us();
      work();
      const double us = assay::host_us() - begin;
      found.us[what].push_back(us);
    };
    const assay::Graph graph = make(0), other = make(updated_work_ns);
    // 9 or more let a 95% interval leave the extremes out.
    const int runs = nodes_ <= 64 ? 25 : 9;
    for (int i = -2; i < runs; ++i) {
      if (i == 0) found.us.clear();  // those before warm up
      std::optional<assay::ExecutableGraph> executable;
      timed("instantiate_us", [&] { executable.emplace(graph); });
      timed("upload_us", [&] {
        assay::check(cudaGraphUpload(*executable, stream));
        assay::check(cudaStreamSynchronize(stream));
      });
      const double begin = assay::host_us();
      timed("cpu_us", [&] { executable->launch(stream); });
      assay::check(cudaStreamSynchronize(stream));
      const double latency_us = assay::host_us() - begin;
      found.us["latency_us"].push_back(latency_us);
      read(0, found);
      cudaGraphExecUpdateResultInfo info{};
      timed("update_us", [&] { assay::check(cudaGraphExecUpdate(*executable, other, &info)); });
      executable->launch(stream);
      read(updated_work_ns, found);
    }
    return found;
  }

 private:
  int level(int node) const {
    if (form_ != Form::fork_join) return node;
    return node == 0 ? 0 : node < nodes_ - 1 ? 1 : 2;
  }

  assay::Graph make(std::uint32_t work_ns) {
    assay::Graph graph;
    std::vector<cudaGraphNode_t> nodes;
    for (int i = 0; i < nodes_; ++i) {
      assay::Stamp* own = stamps_ + i;
      const int previous =
          i == 0 || level(i) != 1 || form_ != Form::fork_join ? (i + nodes_ - 1) % nodes_ : 0;
      const assay::Stamp* predecessor = stamps_ + previous;
      void* arguments[] = {&own, &predecessor, &work_ns};
      std::vector<cudaGraphNode_t> after;
      if (i > 0 && form_ == Form::fork_join && level(i) == 2)
        after.assign(nodes.begin() + 1, nodes.end());
      else if (i > 0)
        after = {nodes[static_cast<std::size_t>(previous)]};
      nodes.push_back(
          graph.add(assay::stamped_kernel(shape_.programmatic), shape_, arguments, after));
    }
    return graph;
  }

  // Checks the stamps of the launch before; notes the times of kernels that do no work.
  void read(std::uint32_t work_ns, Found& found) {
    const std::vector<assay::Stamp> stamps =
        assay::download(stamps_, static_cast<std::size_t>(nodes_), s_.stream());
    const int levels = level(nodes_ - 1) + 1;
    double gap = 0;
    std::vector<assay::TimeSpan> middle;
    for (int i = 0; i < nodes_; ++i) {
      const assay::Stamp& own = stamps[static_cast<std::size_t>(i)];
      const auto expected = static_cast<std::uint32_t>(launches_ * levels + level(i) + 1);
      s_.require(own.serial == expected,
                 fmt::format("node {} of {} is number {}, expected {}: it did not run once and "
                             "behind its predecessor",
                             i, nodes_, own.serial, expected));
      s_.require(own.end_ns - own.ready_ns >= work_ns,
                 "a node did not work for as long as the updated graph says");
      if (i > 0) {
        const assay::Stamp& before = stamps[static_cast<std::size_t>(i - 1)];
        gap += static_cast<double>(static_cast<std::int64_t>(own.ready_ns - before.end_ns));
      }
      if (form_ == Form::fork_join && level(i) == 1) middle.push_back({own.begin_ns, own.end_ns});
    }
    ++launches_;
    if (work_ns) {
      if (!middle.empty()) found.concurrent = assay::concurrency(middle).most;
      return;
    }
    if (form_ != Form::fork_join && nodes_ > 1)
      found.us["gpu_gap_us"].push_back(1e-3 * gap / (nodes_ - 1));
    found.us["gpu_us"].push_back(
        1e-3 * static_cast<double>(stamps.back().end_ns - stamps.front().begin_ns));
  }

  assay::State& s_;
  Form form_;
  int nodes_;
  assay::LaunchShape shape_;
  assay::Stamp* stamps_;
  int launches_ = 0;
};

void run(assay::State& s) {
  const std::string& name = s.which().name;
  const Form form = name == "chain"          ? Form::chain
                    : name == "programmatic" ? Form::programmatic
                                             : Form::fork_join;
  std::map<std::string, assay::Series> series;
  const auto note = [&](const std::string& what, const char* unit, int nodes,
                        const assay::Estimate& value) {
    assay::Series& curve = series[what];
    if (curve.axes.empty()) curve = {what, unit, {{"nodes", {}}}, {}};
    curve.axes[0].points.emplace_back(std::int64_t{nodes});
    curve.add(value);
  };
  // A fork of 4096 nodes would take seconds to measure: see instantiate_exponent.
  const int fewest = form == Form::fork_join ? 4 : 1;
  const int most = form == Form::fork_join ? kHeadline : 4 * kHeadline;
  Found smallest, headline;
  double half_us = 0;  // to instantiate half of the headline's nodes
  for (int nodes = fewest; nodes <= most; nodes *= 2) {
    Found found = Bench(s, form, nodes).measure();
    for (const auto& [what, us] : found.us) note(what, "us", nodes, assay::estimate(us));
    if (form == Form::fork_join) note("concurrent_kernels", "", nodes, found.concurrent);
    if (nodes == fewest) smallest = found;
    if (2 * nodes == kHeadline) half_us = assay::median(found.us["instantiate_us"]);
    if (nodes == kHeadline) headline = std::move(found);
  }
  using assay::Better;
  const double exponent = std::log2(assay::median(headline.us["instantiate_us"]) / half_us);
  for (const char* what :
       {"latency_us", "cpu_us", "instantiate_us", "upload_us", "update_us", "gpu_gap_us"}) {
    std::vector<double>& us = headline.us[what];
    if (us.empty()) continue;
    if (std::string_view(what) == "gpu_gap_us") {  // a mean over the nodes already
      s.add_metric(what, "us", Better::lower, us);
      continue;
    }
    for (double& value : us) value /= kHeadline;
    s.add_metric(what, "us", Better::lower, smallest.us[what]);
    s.add_metric(fmt::format("{}_per_node", what), "us", Better::lower, us);
  }
  if (form == Form::fork_join)
    s.add_exact("concurrent_kernels", "", Better::higher, headline.concurrent);
  s.add_exact("instantiate_exponent", "", Better::lower, exponent);
  s.add_exact("most_nodes", "", Better::higher, most);
  for (auto& [what, curve] : series) s.add_series(std::move(curve));
}

const assay::Registration registration{{
    .name = "launch/graph",
    .question = "What does a CUDA graph cost to instantiate, upload, update and launch, by the "
                "number of its nodes?",
    .metrics =
        {{"instantiate_us",
          "CPU time to instantiate the graph; the figure is of the smallest one."},
         {"upload_us",
          "CPU time to upload the instantiated graph and to wait for that; the figure is of the "
          "smallest one."},
         {"update_us",
          "CPU time to update every node's arguments; the figure is of the smallest graph."},
         {"cpu_us",
          "CPU time of the call that launches the graph; the figure is of the smallest one."},
         {"latency_us",
          "Time from the launch to the return of the synchronization behind it; the figure is of "
          "the smallest graph."},
         {"gpu_gap_us",
          "Time from the end of one kernel's work to where the next may begin its own, in a chain; "
          "the figure is of 1024 nodes."},
         {"gpu_us", "Time from the begin of the first kernel to the end of the last one."},
         {"*_per_node", "Share of one node in * of a graph of 1024 nodes."},
         {"instantiate_exponent",
          "Exponent e in instantiate_us ~ nodes^e, from 512 to 1024 nodes: 1 where each node costs "
          "the same."},
         {"concurrent_kernels",
          "Kernels of a fork that run at once when each works for 50 us; the figure is of 1024 "
          "nodes."},
         {"most_nodes", "Nodes of the largest graph that was measured."}},
    .cases = {{.name = "chain", .suite = assay::Suite::full},
              {.name = "programmatic",
               .targets = assay::targets_with(assay::Feature::dependent_launch),
               .suite = assay::Suite::full},
              {.name = "fork_join", .suite = assay::Suite::full}},
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const bool programmatic = c.name == "programmatic";
          return std::vector<assay::KernelUse>{
              {.kernel = programmatic ? "stamped_programmatic" : "stamped",
               .sass = {{"STG", 1, 4, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
