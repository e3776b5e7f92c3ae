// SPDX-License-Identifier: Apache-2.0
// What a probe is: one plain struct, registered at namespace scope in one file.
//
// From it follow `assay list`, the run, the result file, the report row, the gate entry, the
// disassembly check of every target and the generated documentation. CONTRIBUTING.md walks through
// one from nothing. Light on purpose: .cu files include it.
#pragma once
#include <climits>
#include <cstdint>
#include <map>
#include <source_location>
#include <string>
#include <variant>
#include <vector>

#include "harness/callable.hpp"
#include "harness/target.hpp"

namespace assay {

class State;  // harness/state.hpp: what run() measures with

using Value = std::variant<std::int64_t, std::string>;
using Params = std::map<std::string, Value, std::less<>>;

enum class Kind : std::uint8_t { probe, kernel, baseline, collective };
enum class Better : std::uint8_t { higher, lower };

// What sets the pace of a figure, and so what the gate compares it in: cycles of the SM clock, time
// under a memory or link clock, a power-limited rate (reported, not gated), or the CPU's time.
enum class Pace : std::uint8_t { sm, l2, dram, link, power, host };

// quick: the minute-long tour; full: everything. host cases run wherever there is a CPU.
enum class Suite : std::uint8_t { quick, full };

// One point of a probe's axes. Its full name is "<probe>/<name>".
struct Case {
  std::string name = {};             // "bf16/m64n256/ss"; empty: the probe has this one case
  Params params = {};                // what readers filter by
  std::vector<Target> targets = {};  // where it exists; empty: where the probe does
  Suite suite = Suite::quick;

  std::int64_t i64(std::string_view key) const;         // throws Error(usage) naming the key
  const std::string& text(std::string_view key) const;  // likewise
};

enum class SassWhere : std::uint8_t { loop, kernel };

// Opcode `opcode` (a prefix that ends at a dot: "LDG.E" also means "LDG.E.128") must occur between
// at_least and at_most times in the measured loop, or in the whole kernel. Alternatives between
// which the assembler chooses, "HADD2|HFMA2", are counted together.
struct SassRule {
  std::string opcode;
  int at_least = 1;
  int at_most = INT_MAX;
  SassWhere where = SassWhere::loop;
};

// What a measurement says of the instruction that the measured loop repeats, the one that its first
// rule names:
//   throughput  ops or FLOP per clock of it, and latency_cycles if there is such a metric
//   latency     latency_cycles of it alone
//   bandwidth   bytes per clock by it
// none: the loop is of several instructions, or something else is measured.
enum class Role : std::uint8_t { none, throughput, latency, bandwidth };

// A kernel that a case launches, and what its disassembly must show before its time counts.
struct KernelUse {
  std::string kernel;  // as in the source, "chase" or "copy<4>", or the PTX entry
  std::vector<SassRule> sass = {};
  std::string ptx = {};       // text of a generated kernel; empty: compiled ahead of time
  bool emulated = false;      // known to become other instructions on this target
  bool local_memory = false;  // spills or a stack frame are expected
  Role role = Role::none;     // what costs of instructions are taken from (`assay sass`)
  // For what PTX cannot say, such as which registers: changes the assembled cubin in place.
  Callable<void(std::vector<char>& cubin)> edit = {};
};

// What a metric or series means, in one sentence with its condition. A `*` of the name stands for
// what its loop puts there, and so does the same one of the sentence:
// {"latency_cycles_of_*", "Latency of a load in a cluster of * CTAs."}.
struct MetricNote {
  std::string name;
  std::string meaning;
};

struct Probe {
  std::string name;      // "memory/hbm": family / probe
  std::string question;  // what it answers, in one sentence
  // Every metric and series but those that follow from the work
  // (harness/measure/figures/metric_notes.hpp), and those of them that mean something special here.
  std::vector<MetricNote> metrics = {};
  Kind kind = Kind::probe;
  std::vector<Case> cases = {Case{}};
  std::vector<Target> targets = all_gpu_targets();
  Pace pace = Pace::sm;
  // The kernels behind a case on a target, none for probes of libraries or of the CPU. Called
  // without a GPU too: the offline check asks for every target.
  Callable<std::vector<KernelUse>(const Case&, Target)> kernels = {};
  Callable<void(State&)> run;
  std::string source = {};  // the file that registers it; filled in by Registration

  const std::vector<Target>& targets_of(const Case& c) const {
    return c.targets.empty() ? targets : c.targets;
  }
  bool exists_on(const Case& c, Target target) const;
  std::string full_name(const Case& c) const { return c.name.empty() ? name : name + "/" + c.name; }
};

// One case of a registered probe.
struct Selected {
  const Probe* probe;
  const Case* which;
  std::string name;  // full
};

// Every registered probe, sorted by name. Two cases with one full name are a logic error, reported
// as Error(usage) that names it.
const std::vector<const Probe*>& probes();

// A namespace-scope `const assay::Registration r{{.name = ..., ...}};` is all it takes.
class Registration {
 public:
  explicit Registration(Probe probe, std::source_location where = std::source_location::current());
  // For a probe whose cases depend on what else is registered: made when all that is done.
  explicit Registration(Probe (*make)(),
                        std::source_location where = std::source_location::current());
};

}  // namespace assay
