// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/report_json.hpp"

#include <fmt/format.h>

#include "harness/code/cubin.hpp"
#include "harness/run/json_io.hpp"
#include "harness/sass/stages.hpp"

namespace assay::sass {
namespace {

Json pipes_json(const std::vector<PipeLoad>& pipes) {
  Json list = Json::array();
  for (const PipeLoad& load : pipes)
    list.push_back({{"pipe", load.pipe},
                    {"instructions", load.instructions},
                    {"cycles_per_warp", load.warp_cycles},
                    {"cycles", load.cycles}});
  return list;
}

Json producer_json(const std::optional<Producer>& producer) {
  if (!producer) return nullptr;
  return {{"step", producer->step}, {"iterations_ago", producer->iterations_ago}};
}

Json step_json(const Function& function, const Step& step) {
  const Instruction& instruction = function.code[step.index];
  const ControlCode& c = step.control;
  const auto barrier = [](int number) { return number < 0 ? Json(nullptr) : Json(number); };
  Json waits = Json::array(), reuse = Json::array();
  for (int b = 0; b < 6; ++b)
    if (c.wait_mask >> b & 1) waits.push_back(b);
  for (int o = 0; o < 4; ++o)
    if (c.reuse >> o & 1) reuse.push_back(o);
  return {{"address", instruction.address},
          {"text", instruction.text()},
          {"control",
           {{"stall", c.stall},
            {"yield", c.yield},
            {"write_barrier", barrier(c.write_barrier)},
            {"read_barrier", barrier(c.read_barrier)},
            {"waits_for", waits},
            {"reuse", reuse}}},
          {"issue", step.issue},
          {"waited", step.waited},
          {"why", step.why},
          {"producer", producer_json(step.producer)},
          {"pipe_begin", step.begin},
          {"pipe_end", step.end},
          {"done", step.done}};
}

Json part_json(const Function& function, const PartAnalysis& part, const CostTable& table,
               bool listing) {
  Json opcodes = Json::array(), steps = Json::array(), stages = Json::array();
  for (const OpcodeLoad& load : part.opcodes)
    opcodes.push_back({{"opcode", load.opcode},
                       {"count", load.count},
                       {"pipe", load.cost.pipe->name},
                       {"pipe_is_shared", load.cost.pipe->shared},
                       {"cycles", load.cost.cycles},
                       {"basis", name(load.cost.basis)},
                       {"source", load.cost.source}});
  if (listing)
    for (const Step& step : part.schedule.steps) steps.push_back(step_json(function, step));
  for (const Stage& stage : stages_of(function, part.schedule, table))
    stages.push_back({{"kind", name(stage.kind)},
                      {"first_step", stage.first},
                      {"last_step", stage.last},
                      {"begin", stage.begin},
                      {"end", stage.end},
                      {"waited", stage.waited},
                      {"matrix", stage.matrix},
                      {"copies", stage.copies},
                      {"pipes", stage.pipes},
                      {"what", stage.what},
                      {"awaited", producer_json(stage.awaited)},
                      {"issued_since", stage.since}});
  return {{"warps_of_cta", text_of(part.who)},
          {"warps", part.warps},
          {"opcodes", opcodes},
          {"pipes", pipes_json(part.pipes)},
          {"single_warp",
           {{"cycles", part.schedule.cycles},
            {"stalls", part.schedule.stalls},
            {"steady", part.schedule.steady},
            {"steps", steps}}},
          {"stages", stages}};
}

Json loop_json(const Function& function, const LoopAnalysis& loop, const CostTable& table,
               bool listing) {
  Json parts = Json::array();
  for (const PartAnalysis& part : loop.parts)
    parts.push_back(part_json(function, part, table, listing));
  Json json = {
      {"header", function.code[loop.shape.loop.header].address},
      {"range", address_range(function, loop.shape)},
      {"depth", loop.shape.depth},
      {"instructions_off_path", loop.shape.off_path},
      {"warps", loop.warps()},
      {"parts", parts},
      {"pipes", pipes_json(loop.pipes)},
      {"predicted",
       {{"cycles", loop.predicted()}, {"bound_by", loop.bound_by()}, {"assumed", loop.assumed()}}},
      {"at_least", {{"cycles", loop.least.cycles}, {"by", loop.least.by}}},
      {"measured", nullptr}};
  if (loop.measured)
    json["measured"] = {{"cycles", loop.measured->cycles},
                        {"name", loop.measured->name},
                        {"how", loop.measured->how},
                        {"predicted_over_measured", loop.predicted() / loop.measured->cycles}};
  return json;
}

}  // namespace

std::string report_json(const KernelAnalysis& kernel, const CostTable& table, bool listing) {
  const Function& function = *kernel.function;
  Json loops = Json::array(), hot = Json::array(), signals = Json::array();
  for (const LoopPath& loop : kernel.loops)
    loops.push_back({{"header", function.code[loop.loop.header].address},
                     {"depth", loop.depth},
                     {"instructions", loop.loop.body.size()},
                     {"waits", loop.spins},
                     {"warps_of_cta", text_of(kernel.reach[loop.loop.header])}});
  for (const LoopAnalysis& loop : kernel.hot)
    hot.push_back(loop_json(function, loop, table, listing));
  for (const Handshake& handshake : handshakes(function, kernel.reach)) {
    Json uses = Json::array();
    for (const Handshake::Use& use : handshake.uses)
      uses.push_back({{"does", use.does}, {"address", use.address}, {"warps", text_of(use.who)}});
    signals.push_back({{"object", handshake.object}, {"uses", uses}});
  }
  const Json json = {{"kernel", function.name},
                     {"name", demangled(function.name)},
                     {"target", function.arch},
                     {"sha256", function.cubin_sha256},
                     {"registers", function.registers},
                     {"stack_bytes", function.stack_bytes},
                     {"max_threads", function.max_threads},
                     {"warps", kernel.warps},
                     {"warps_known", kernel.warps_known},
                     {"costs_from", table.file().string()},
                     {"loops", loops},
                     {"hot", hot},
                     {"handshakes", signals}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

std::string document_json(const std::vector<std::string>& kernels) {
  std::string list;
  for (const std::string& kernel : kernels) list += (list.empty() ? "" : ",\n") + kernel;
  return fmt::format("{{\"schema\": \"assay.sass/1\", \"kernels\": [\n{}\n]}}\n", list);
}

}  // namespace assay::sass
