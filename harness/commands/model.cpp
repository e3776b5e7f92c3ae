// SPDX-License-Identifier: Apache-2.0
// `assay model`: kernels on the CPU, and what is wrong with them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "harness/commands/commands.hpp"
#include "harness/commands/model_source.hpp"
#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"
#include "harness/model/check/rules.hpp"
#include "harness/model/machine/trace.hpp"
#include "harness/model/script.hpp"
#include "harness/model_case/model_case.hpp"
#include "harness/run/selection.hpp"

namespace assay::commands {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
  std::string what, kernel, target = "sm_90a";
  std::vector<int> grid = {1}, block = {128}, cluster = {1};
  std::uint32_t shared_bytes = 0;
  std::vector<std::string> arguments, then, include, allow, readings;
  std::uint64_t seeds = 20, first_seed = 0;
  fs::path trace;
  bool json = false;
};

// A launch to make again and again, each time with another seed.
struct Subject {
  std::string name, ptx;
  Callable<ModelResult(model::Gpu&, const model::Options&)> run;
};

std::array<int, 3> three(std::vector<int> values) {
  values.resize(3, 1);
  return {values[0], values[1], values[2]};
}

std::vector<Subject> subjects(const Options& o) {
  if (o.what.ends_with(".ptx") || o.what.ends_with(".cu")) {
    const std::string ptx = ptx_of_file(o.what, o.target, o.include);
    const model::Shape shape{.grid = three(o.grid),
                             .block = three(o.block),
                             .cluster = three(o.cluster),
                             .dynamic_shared_bytes = o.shared_bytes};
    std::vector<model::Launch> launches = {{o.kernel, shape, {}, true}};
    for (std::size_t k = 0; k < o.arguments.size(); ++k) launches[0].places.push_back(k);
    const auto run = [o, first = launches](model::Gpu& gpu, const model::Options& options) {
      auto launches = first;
      for (const std::string& text : o.then)
        launches.push_back(model::parse_launch(text, launches.back()));
      return ModelResult{.outcome = model::run_launches(gpu, launches, o.arguments, options)};
    };
    return {{o.what, ptx, run}};
  }
  std::vector<Subject> found;
  for (const ModelCase& c : model_cases())
    if (c.name.find(o.what) != std::string::npos)
      found.push_back({c.name, ptx_of(c.kernels), c.run});
  if (found.empty()) {
    std::vector<std::string> names;
    for (const ModelCase& c : model_cases()) names.push_back(c.name);
    throw Error(
        ExitCode::usage,
        fmt::format("no case of the model is named like '{}', and it is no .ptx or .cu "
                    "file; {}{}",
                    excerpt(o.what), names.empty() ? "this program has none" : "the nearest are ",
                    fmt::join(nearest(o.what, names), ", ")));
  }
  return found;
}

Json to_json(const model::Place& p) {
  Json j = {{"kernel", p.kernel},
            {"cta", p.cta},
            {"warp", p.warp},
            {"lane", p.lane},
            {"thread", p.thread}};
  if (!p.file.empty()) j["file"] = p.file, j["line"] = p.line;
  for (const model::Place::Call& c : p.callers)
    j["called_from"].push_back({{"file", c.file}, {"line", c.line}});
  j["ptx_line"] = p.ptx_line;
  j["instruction"] = p.instruction;
  return j;
}

Json to_json(const model::Finding& f) {
  Json j = {{"rule", f.rule}, {"text", f.text}, {"at", to_json(f.at)}, {"times", f.times}};
  if (f.has_other) j["other"] = to_json(f.other);
  if (!f.mend.empty()) j["mend"] = f.mend;
  return j;
}

using Readings = std::map<model::Reading, bool>;

// `elect.lane=second`: what --reading fixes.
Readings fixed_readings(const std::vector<std::string>& texts) {
  Readings fixed;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string which = equals == text.npos ? "" : text.substr(equals + 1);
    const auto* known = std::ranges::find(model::kReadings, name, &model::ReadingTexts::name);
    if (known == model::kReadings.end() || (which != "first" && which != "second")) {
      std::string all;
      for (const auto& r : model::kReadings)
        all += fmt::format("\n  {}=first: {}\n  {}=second: {}", r.name, r.first, r.name, r.second);
      throw Error(ExitCode::usage,
                  fmt::format("--reading {}: it is none of the readings; there are:{}", text, all));
    }
    fixed[static_cast<model::Reading>(known - model::kReadings.begin())] = which == "second";
  }
  return fixed;
}

void require_rules(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!model::is_rule(name))
      throw Error(
          ExitCode::usage,
          fmt::format("--allow {}: there is no such rule; the nearest are {} (docs/model.md "
                      "has a sentence on each)",
                      excerpt(name),
                      fmt::join(nearest(name, {std::begin(model::kRules), std::end(model::kRules)}),
                                ", ")));
}

// What a bug or a wrong result was found with, and which readings of the manual it rests on.
struct Found {
  std::uint64_t seed = 0;
  model::Finding finding;
  std::vector<model::ReadingTexts> unspecified;
};

struct Tally {
  std::uint64_t seeds = 0, instructions = 0, operations = 0;
  std::vector<Found> findings;  // the first seed that shows each
  std::string wrong;
  std::vector<model::ReadingTexts> wrong_unspecified;
};

ModelResult run_once(const Subject& subject, const model::Options& options,
                     const std::set<std::string>& allowed) {
  try {
    model::Gpu gpu(subject.ptx);
    ModelResult result = subject.run(gpu, options);
    std::erase_if(result.outcome.findings,
                  [&](const model::Finding& f) { return allowed.contains(f.rule); });
    return result;
  } catch (const model::Violation& v) {
    throw Error(ExitCode::usage,
                fmt::format("{}: {}", excerpt(subject.name), excerpt(v.what(), 500)));
  }
}

// The second readings with the first of which this seed has nothing to complain of.
std::vector<model::ReadingTexts> rests_on(const Subject& subject, const model::Options& options,
                                          const Readings& taken,
                                          const std::set<std::string>& allowed) {
  std::vector<model::ReadingTexts> causes;
  for (const auto& [reading, second] : taken) {
    if (!second) continue;
    model::Options other = options;
    other.trace = nullptr;
    other.second[reading] = false;
    const ModelResult result = run_once(subject, other, allowed);
    if (result.outcome.findings.empty() && result.wrong.empty())
      causes.push_back(model::texts_of(reading));
  }
  return causes;
}

Tally run_seeds(const Subject& subject, const Options& o, model::Trace* trace) {
  Tally t;
  std::set<std::string> seen;
  const Readings fixed = fixed_readings(o.readings);
  const std::set<std::string> allowed(o.allow.begin(), o.allow.end());
  for (std::uint64_t seed = o.first_seed; seed < o.first_seed + o.seeds; ++seed) {
    model::Options options{.seed = seed};
    options.second = fixed;
    if (seed == o.first_seed) options.trace = trace;
    ModelResult result = run_once(subject, options, allowed);
    ++t.seeds;
    t.instructions += result.outcome.instructions;
    t.operations += result.outcome.operations;
    std::vector<model::Finding> fresh;
    for (model::Finding& f : result.outcome.findings)
      if (seen.insert(fmt::format("{}:{}:{}", f.rule, f.at.ptx_line, f.other.ptx_line)).second)
        fresh.push_back(std::move(f));
    const bool first_wrong = t.wrong.empty() && !result.wrong.empty();
    if (fresh.empty() && !first_wrong) continue;
    const auto causes = rests_on(subject, options, result.outcome.second, allowed);
    bool endless = false;
    for (model::Finding& f : fresh) {
      endless = endless || f.rule == "launch.steps";
      t.findings.push_back({seed, std::move(f), causes});
    }
    if (first_wrong) {
      t.wrong = fmt::format("seed {}: {}", seed, result.wrong);
      t.wrong_unspecified = causes;
    }
    if (endless) break;  // another order would take as many minutes, and say the same
  }
  return t;
}

Json to_json(const std::vector<model::ReadingTexts>& readings) {
  Json all = Json::array();
  for (const auto& r : readings)
    all.push_back({{"reading", r.name}, {"taken", r.second}, {"other", r.first}});
  return all;
}

void print_unspecified(const std::vector<model::ReadingTexts>& readings) {
  for (const auto& r : readings)
    fmt::print(
        "    unspecified ({}): here {}; where {}, there is nothing to complain of in this seed\n",
        r.name, r.second, r.first);
}

ExitCode model_command(const Options& o) {
  if (o.what.empty())
    throw Error(ExitCode::usage,
                "WHAT is empty: give a .ptx or .cu file, or part of a case's name");
  require_rules(o.allow);
  Json all = Json::array();
  bool bad = false;
  std::optional<model::Trace> trace;
  if (!o.trace.empty()) trace.emplace();
  for (const Subject& subject : subjects(o)) {
    const Tally t = run_seeds(subject, o, trace ? &*trace : nullptr);
    bad |= !t.findings.empty() || !t.wrong.empty();
    if (o.json) {
      Json findings = Json::array();
      for (const Found& f : t.findings) {
        findings.push_back(to_json(f.finding));
        findings.back()["seed"] = f.seed;
        if (!f.unspecified.empty()) findings.back()["unspecified"] = to_json(f.unspecified);
      }
      all.push_back({{"name", subject.name},
                     {"model", "not silicon"},
                     {"seeds", t.seeds},
                     {"instructions", t.instructions},
                     {"operations", t.operations},
                     {"findings", findings},
                     {"wrong", t.wrong}});
      if (!t.wrong_unspecified.empty())
        all.back()["wrong_unspecified"] = to_json(t.wrong_unspecified);
      continue;
    }
    fmt::print("{}: {} seeds, {} instructions, {} asynchronous operations (model, not silicon)\n",
               subject.name, t.seeds, t.instructions, t.operations);
    for (const Found& f : t.findings) {
      fmt::print("seed {}: {}\n", f.seed, model::to_text(f.finding));
      print_unspecified(f.unspecified);
    }
    if (!t.wrong.empty()) fmt::print("wrong result: {}\n", t.wrong);
    print_unspecified(t.wrong_unspecified);
    if (t.findings.empty() && t.wrong.empty()) fmt::print("  nothing to complain of\n");
  }
  if (o.json) fmt::print("{}\n", all.dump(2));
  if (trace) {
    std::ofstream out(o.trace);
    out << model::to_perfetto(*trace);
    if (!out.flush())
      throw Error(ExitCode::io, fmt::format("cannot write {}: {}", excerpt(o.trace.string()),
                                            std::strerror(errno)));
  }
  return bad ? ExitCode::failed : ExitCode::ok;
}

}  // namespace

void add_model(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "model", "Kernels on the CPU, without a GPU: are they right, and what is wrong with them?");
  command
      ->add_option("WHAT", options->what,
                   "Part of a case's name (kernels/gemm), or a .ptx or .cu file")
      ->required();
  command
      ->add_option("--seeds", options->seeds,
                   "How many orders of asynchronous work to try (20); 0 is in turn, 1 as late as "
                   "allowed, others at random")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--seed", options->first_seed, "The first of them (0)")
      ->check([](const std::string& text) { return not_within(text, 0, kLargestSeed); });
  command->add_option("--trace", options->trace,
                      "Write the first seed's course to this file, for ui.perfetto.dev; of several "
                      "launches the last one's");
  command->add_flag("--json", options->json, "Findings as JSON");
  command->add_option("--allow", options->allow,
                      "Do not report this rule (proxy.shared_read, ...)");
  command->add_option("--reading", options->readings,
                      "Where the manual leaves room, take this reading in every seed: "
                      "elect.lane=second; a wrong name lists all");
  command->add_option("--kernel", options->kernel,
                      "Of a file: part of the kernel's name, if it has several");
  command->add_option("--grid", options->grid, "Of a file: CTAs in x,y,z (1)")
      ->delimiter(',')
      ->expected(1, 3);
  command->add_option("--block", options->block, "Of a file: threads of a CTA in x,y,z (128)")
      ->delimiter(',')
      ->expected(1, 3);
  command
      ->add_option("--cluster", options->cluster,
                   "Of a file: CTAs of a cluster in x,y,z (1, or what the kernel says)")
      ->delimiter(',')
      ->expected(1, 3);
  command->add_option("--shared", options->shared_bytes,
                      "Of a file: bytes of dynamic shared memory (0)");
  command->add_option("--arg", options->arguments,
                      "Of a file, one for each argument: u32:16, f32:0.5, bf16[256x64], "
                      "f32[1024]=zero, u8[64]=none, map(0, box=64x64, swizzle=128)");
  command->add_option(
      "--then", options->then,
      "Of a file: a launch that follows, of a kernel of the same file with these of "
      "the arguments: 'second(0, 2), early, grid=4x2, block=256'; what is left out "
      "is as before; early: by programmatic stream serialization");
  command->add_option("--include", options->include, "Of a .cu file: folders for nvcc -I");
  command->add_option("--target", options->target, "Of a .cu file: what to compile for (sm_90a)");
  command->footer(
      "Examples:\n"
      "  assay model kernels/gemm --seeds 100\n"
      "  assay model my_kernel.cu --block 256 --arg 'f32[4096]' --arg 'f32[4096]=none' --arg "
      "u32:4096\n"
      "  assay model kernels/gemm/bf16/m65 --seeds 1 --trace gemm.json\n"
      "  assay model two.cu --kernel first --arg 'f32[128]' --arg 'f32[128]=none' --then "
      "'second(1), early'\n\n"
      "docs/model.md has a sentence on every rule, and says what the model does not know.\n\n"
      "Exit status: 0 nothing found, 1 a bug or a wrong result found, 2 bad arguments or a kernel "
      "that the\n"
      "model cannot run.");
  command->callback(
      [options, &exit_code] { exit_code = static_cast<int>(model_command(*options)); });
}

}  // namespace assay::commands
