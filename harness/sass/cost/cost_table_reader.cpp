// SPDX-License-Identifier: Apache-2.0
// How costs are read out of a run.json.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string_view>

#include "harness/error.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"
#include "harness/run/json_io.hpp"
#include "harness/sass/cost/cost_table.hpp"

namespace assay::sass {
namespace fs = std::filesystem;

class CostTableReader {
 public:
  explicit CostTableReader(const fs::path& run, const Names& left_out = {}) {
    const Json json = read_run_file(run, left_out);
    table_.file_ = run;
    const Json& environment = json.at("environment");
    if (environment.contains("gpu") && environment.at("gpu").is_object()) {
      table_.gpu_ = environment["gpu"].value("name", "");
      table_.arch_ = environment["gpu"].value("architecture", "");
    }
    if (json.contains("run")) table_.started_ = text_in(json["run"], "started");
    try {
      for (const Json& measurement : json.at("measurements")) read(measurement);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", run.string(), error.what()));
    }
  }

  CostTable take() { return std::move(table_); }
  std::size_t opcodes() const { return table_.rows_.size(); }
  const std::string& started() const { return table_.started_; }
  const std::string& arch() const { return table_.arch_; }

 private:
  // Measurements say which instruction their loop repeats and what of it they measure (Role). The
  // shape of a loop that says nothing of that, such as one of several instructions, is no cost.
  void read(const Json& m) {
    if (m.value("status", "") != "ok" || !m.contains("metrics") || !m.contains("sass")) return;
    const Json instruction =
        m["sass"].is_object() ? m["sass"].value("instruction", Json()) : Json();
    if (!instruction.is_object()) return;
    const std::string name = m.value("name", ""), role = instruction.value("role", "");
    const auto cycles_alone = metric(m, "cycles_per_instruction");
    const Json opcodes = instruction.value("opcodes", Json::object());
    for (const auto& [opcode, count] : opcodes.items()) {
      CostTable::Row& row = table_.rows_[opcode + operand_source(m)];
      const std::optional<double> cycles = cycles_alone           ? issue_of(opcode, *cycles_alone)
                                           : role == "throughput" ? arithmetic(m, opcode)
                                           : role == "bandwidth"  ? bandwidth(m, opcode)
                                                                  : std::nullopt;
      keep_least(row.cycles, row.cycles_source, cycles, name);
      keep_least(row.latency, row.latency_source, metric(m, "latency_cycles"), name);
      if (cycles_alone) read_pipe(m, opcode);
    }
  }

  static std::string param(const Json& m, const char* key) {
    return m.contains("params") ? text_in(m["params"], key) : "";
  }

  // The operand source of a wgmma is not in its opcode.
  static std::string operand_source(const Json& m) {
    return param(m, "source") == "rs" ? " rs" : "";
  }

  // Of an instruction that a loop holds alone, by the cycles a scheduler takes for it.
  static double issue_of(const std::string& opcode, double cycles) {
    return documented_pipe(opcode).shared ? cycles / 4 : cycles;
  }

  // Which pipe an instruction was found on: by the report's clusters, or by the hardware's
  // counters.
  void read_pipe(const Json& m, const std::string& opcode) {
    std::string pipe = param(m, "pipe");
    if (pipe.empty() && m.contains("counters")) pipe = busiest(m["counters"]);
    if (is_pipe(pipe)) table_.pipes_[opcode] = &pipe_called(pipe);
  }

  // "fmaheavy" of sm__inst_executed_pipe_fmaheavy.sum, "tensor" of ..._pipe_tensor_op_hmma.sum: the
  // pipe with the most instructions.
  static std::string busiest(const Json& counters) {
    constexpr std::string_view kMark = "inst_executed_pipe_";
    std::string best;
    double most = 0;
    for (const auto& [counter, value] : counters.items()) {
      const std::size_t at = counter.find(kMark);
      if (at == std::string::npos || !value.is_number() || value.get<double>() < most) continue;
      const std::string rest = counter.substr(at + kMark.size());
      const std::string pipe = rest.substr(0, rest.find_first_of("._"));
      if (!is_pipe(pipe)) continue;
      // A half counts as much as the whole when all is on it, and says more.
      if (value.get<double>() == most && !best.empty() && pipe_called(pipe).whole.empty()) continue;
      most = value.get<double>();
      best = pipe;
    }
    return best;
  }

  // A cost that cannot be is refused: what is predicted by it would look like a measurement.
  static std::optional<double> metric(const Json& m, const char* name) {
    static const std::map<std::string_view, std::string_view> kUnits = {
        {"ops_per_clock_per_sm", "op/clk/SM"},
        {"flop_per_clock_per_sm", "FLOP/clk/SM"},
        {"bytes_per_clock_per_sm", "B/clk/SM"},
        {"cycles_per_instruction", "cycle"},
        {"latency_cycles", "cycle"}};
    constexpr double kAboveLimit = 1.05;  // what clocks and rounding explain
    const Json& metrics = m["metrics"];
    if (!metrics.contains(name)) return std::nullopt;
    const Json& found = metrics[name];
    const auto refuse = [&](const std::string& why) {
      throw Error(ExitCode::usage, fmt::format("{}: {} {}", m.value("name", ""), name, why));
    };
    const double value = found.value("value", 0.0);
    const std::string unit = text_in(found, "unit"), wanted(kUnits.at(name));
    if (!std::isfinite(value) || value <= 0) refuse(fmt::format("is {}, not above 0", value));
    if (!unit.empty() && unit != wanted)
      refuse(fmt::format("is in '{}', not in {}", excerpt(unit), wanted));
    const double limit = number_in(found, "limit", 0);
    if (limit > 0 && value > kAboveLimit * limit)
      refuse(fmt::format("is {}, above its own limit of {}", value, limit));
    return value;
  }

  // ops counts results per thread, of which only instructions on pairs ("MUFU.EX2.F16x2") have more
  // than one; flop those of the matrix product that the opcode names. A warpgroup's instruction
  // occupies the tensor cores of all four schedulers.
  static std::optional<double> arithmetic(const Json& m, const std::string& opcode) {
    const bool is_pair = opcode.find("x2") != std::string::npos && m.contains("params");
    const double results = is_pair ? number_in(m["params"], "results_per_instruction", 1) : 1;
    const bool shared = documented_pipe(opcode).shared;
    const double threads = documented_pipe(opcode).name == "uniform" ? 1 : 32;  // once for a warp
    if (const auto ops = metric(m, "ops_per_clock_per_sm"))
      return threads * results * (shared ? 1 : 4) / *ops;
    const auto flop = metric(m, "flop_per_clock_per_sm");
    const auto shape = matrix_shape(opcode);
    if (!flop || !shape) return std::nullopt;
    return shape->flop() * (is_warpgroup_mma({.opcode = opcode}) ? 1 : 4) / *flop;
  }

  static std::optional<double> bandwidth(const Json& m, const std::string& opcode) {
    const auto bytes = metric(m, "bytes_per_clock_per_sm");
    return bytes ? std::optional(bytes_of_warp(opcode) / *bytes) : std::nullopt;
  }

  // The same opcode may be measured in several ways: what it can reach is its cost.
  static void keep_least(std::optional<double>& kept, std::string& source,
                         std::optional<double> value, const std::string& name) {
    if (!value || (kept && *kept <= *value)) return;
    kept = value;
    source = name;
  }

  CostTable table_;
};

CostTable CostTable::read(const fs::path& run) {
  CostTableReader reader(run);
  if (reader.opcodes() == 0)
    throw Error(ExitCode::usage,
                fmt::format("{} holds no measured instruction: give the result of `assay run "
                            "'^(sass|tensor_core|special_function|memory)/'`",
                            run.string()));
  return reader.take();
}

namespace {

// Whether a file can hold a cost. Most committed results are of kernels and hold none; to search
// their text takes a hundredth of the time that reading it as JSON takes.
bool may_hold_costs(const fs::path& run) {
  std::error_code error;
  return fs::exists(run, error) &&
         read_file(run, kLargestJsonFile).find("\"opcodes\"") != std::string::npos;
}

}  // namespace

CostTable CostTable::newest(std::string_view arch) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const fs::path& folder : ancestors(executable_folder())) {
    folders.push_back(folder / "results");
    folders.push_back(folder / "share/assay/results");
  }
  const std::string plain(arch.substr(0, arch.find_last_of("0123456789") + 1));  // without "a"
  // What makes a run file large, and no cost is read from.
  const Names no_costs = {"samples", "series", "conditions", "baselines", "spread"};
  std::optional<CostTableReader> best;
  for (const fs::path& results : folders) {
    for (const auto& gpu : fs::directory_iterator(results, error)) {
      for (const auto& run : fs::directory_iterator(gpu, error)) {
        try {
          if (!may_hold_costs(run.path() / "run.json")) continue;
          CostTableReader reader(run.path() / "run.json", no_costs);
          if (reader.arch() != plain || reader.opcodes() == 0) continue;
          if (!best || std::pair(reader.opcodes(), reader.started()) >
                           std::pair(best->opcodes(), best->started()))
            best.emplace(std::move(reader));
        } catch (const Error&) {
          continue;  // published figures are of another schema
        }
      }
    }
    if (best) return best->take();
  }
  CostTable documented;
  documented.arch_ = plain;
  return documented;
}

}  // namespace assay::sass
