// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/measured_loops.hpp"

#include <fmt/format.h>

#include "harness/code/cubin.hpp"
#include "harness/code/sass_check.hpp"
#include "harness/run/json_io.hpp"
#include "harness/statistics.hpp"

namespace assay::sass {

struct MeasuredLoops::Impl {
  Json measurements;
};

MeasuredLoops::MeasuredLoops(const std::filesystem::path& run) {
  Json json = read_run_file(run);
  impl_ = std::make_unique<const Impl>(Impl{std::move(json.at("measurements"))});
}
MeasuredLoops::~MeasuredLoops() = default;
MeasuredLoops::MeasuredLoops(MeasuredLoops&&) noexcept = default;

namespace {

double value_of(const Json& m, const char* metric) {
  return m["metrics"].contains(metric) ? m["metrics"][metric].value("value", 0.0) : 0.0;
}

std::optional<MeasuredLoop> latency_of(const Json& m, const SassRecord& kernel) {
  int copies = 0;
  for (const auto& [opcode, count] : kernel.instruction) copies += count;
  const double latency = value_of(m, "latency_cycles");
  if (latency <= 0 || copies == 0) return std::nullopt;
  return MeasuredLoop{latency * copies, m.value("name", ""),
                      fmt::format("{} times its latency of {:.2f} cycles", copies, latency)};
}

std::optional<MeasuredLoop> cycles_of(const Json& m, const LoopAnalysis& loop) {
  const std::string name = m.value("name", "");
  if (m.contains("samples") && m["samples"].contains("cycles")) {
    const auto samples = m["samples"]["cycles"].get<std::vector<double>>();
    if (!samples.empty()) return MeasuredLoop{median(samples), name, "cycles were counted"};
  }
  double flop = 0;
  for (const PartAnalysis& part : loop.parts)
    for (const OpcodeLoad& load : part.opcodes) {
      const Instruction instruction{.opcode = load.opcode};
      if (const auto shape = matrix_shape(load.opcode); shape && is_matrix(instruction))
        flop += shape->flop() * load.count * part.warps / (is_warpgroup_mma(instruction) ? 4 : 1);
    }
  const double rate = value_of(m, "flop_per_clock_per_sm");
  if (flop <= 0 || rate <= 0) return std::nullopt;
  return MeasuredLoop{flop / rate, name,
                      fmt::format("{:.0f} FLOP of an iteration at {:.1f} FLOP per clock and SM, "
                                  "over the whole kernel",
                                  flop, rate)};
}

bool is_of(const Json& m, const Function& function) {
  return m.value("status", "") == "ok" && m.contains("metrics") && m.contains("sass") &&
         m["sass"].is_object() && m["sass"].value("target", "") == function.arch &&
         m["sass"].contains("loop");
}

bool holds(const Json& m, const Function& function, const LoopAnalysis& loop) {
  return m["sass"]["loop"].get<OpcodeCount>() == count_opcodes(function, loop.shape.loop.body);
}

}  // namespace

std::optional<MeasuredLoop> MeasuredLoops::find(const Function& function,
                                                const LoopAnalysis& loop) const {
  std::optional<MeasuredLoop> fastest;
  for (const Json& m : impl_->measurements) {
    if (!is_of(m, function) || !is_kernel(function.name, m["sass"].value("kernel", "")) ||
        !holds(m, function, loop))
      continue;
    const auto found = cycles_of(m, loop);
    if (found && (!fastest || found->cycles < fastest->cycles)) fastest = found;
  }
  return fastest;
}

std::optional<MeasuredLoop> MeasuredLoops::find(const Function& function, const LoopAnalysis& loop,
                                                const std::string& case_name,
                                                const SassRecord& kernel, bool first_kernel) const {
  for (const Json& m : impl_->measurements) {
    if (m.value("name", "") != case_name || !is_of(m, function)) continue;
    if (!first_kernel && kernel.role == Role::latency) return latency_of(m, kernel);
    const bool recorded = is_kernel(function.name, m["sass"].value("kernel", ""));
    if ((first_kernel || recorded) && holds(m, function, loop)) return cycles_of(m, loop);
  }
  return std::nullopt;
}

}  // namespace assay::sass
