// SPDX-License-Identifier: Apache-2.0
// Probes that are tables: a row names an instruction, and from it come the generated kernels, the
// check of the values they compute, the latency, the throughput and the disassembly rules.
//
// Every kernel is one loop of copies of the instruction. Latency: one warp, one chain, each copy
// needing the one before. Throughput: a sweep over warps and independent chains, which shows the
// fewest that reach the peak; the peak itself is then measured to a narrow interval. Operands are
// run-time values and different in every chain, so that nothing can be folded, merged or hoisted;
// and the disassembly shows that nothing was.
//
// Metrics of a case: the rate (flop_ or ops_per_clock_per_sm), latency_cycles, and
// issue_interval_cycles, between two starts of independent copies in one warp; series of the rate
// over chains and warps; params warps and chains, the smallest that reach 99% of the peak.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/callable.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "harness/probe.hpp"
#include "harness/state.hpp"

namespace assay {

// A tuple of registers. In a row's text <name> stands for all of them, joined by commas, and
// <name.2> for the third.
struct Operand {
  std::string name;
  std::string reg;                   // PTX register type: "f32", "b32", "b64", "s32", "pred"
  std::string element;               // what is packed in one: harness/element.hpp
  int count = 1;                     // registers per thread
  std::optional<double> fixed = {};  // the value of every element, such as a scale of 1
  // Made of a kernel parameter instead of loaded, so that the assembler sees that all threads have
  // the same and can keep it in a uniform register.
  bool uniform = false;
};

struct InstructionRow {
  std::string name;  // of the case: "f16/m16n8k16"
  std::string ptx;   // "fma.rn.f32 <d>, <d>, <a>, <b>;" may be several instructions
  Operand chain;     // read and written: what carries the dependence
  std::vector<Operand> inputs = {};

  // What one execution does to the elements of the chain's register `i`, in exact arithmetic, when
  // all elements of the inputs are `a` (first) and `b` (second). Checked within `tolerance`,
  // relative.
  Callable<double(double d, double a, double b, int i)> step = {};
  // The same on the bits of registers, where arithmetic would not do; checked to the last bit. One
  // of the two is set, or neither in a row that is only for the instruction x target matrix.
  Callable<std::uint64_t(std::uint64_t d, std::uint64_t a, std::uint64_t b, int i)> step_bits = {};
  double d0 = 1, a = 0.5, b = 0.25, tolerance = 0;

  // Work of one execution by one warp; which of the two is set decides the metric.
  double flop = 0, ops = 0;
  bool random_data = false;  // time on random inputs: matrix math, whose power depends on them
  Callable<Limit(Target)> limit = {};

  // Opcodes of one execution on a target, and how many of each ("HMMA.16816.F32", 1).
  Callable<std::vector<SassRule>(Target)> sass = {};
  Callable<bool(Target)> emulated = {};  // unset: native everywhere
  Callable<bool(Target)> calls = {};     // whether a way that is not taken may call routines

  // Like instructions, each needing the one before, that one execution is; `ops` counts all of
  // them, latency and issue interval are one's.
  int in_a_row = 1;
  // Executions need nothing of each other, as when reading a special register: no latency.
  bool independent = false;

  // For throughput: enough for the peak on every target, and as far as the sweep goes. Registers of
  // all chains must fit in 2048 / warps of each thread.
  int warps = 16, chains = 4, unroll = 8;
  Params params = {};
  std::vector<Target> targets = {};
  Suite suite = Suite::quick;
};

// The probe of a table; `probe` brings name, question and pace, its cases, kernels and run come
// from the rows. With `sustained`, each row has a second case measured under lasting load.
Probe instruction_probe(Probe probe, const std::vector<InstructionRow>& rows,
                        bool sustained = false);

// How many copies of a row's instruction a kernel holds.
struct KernelShape {
  int warps, chains, unroll;
  bool entangle = false;  // make inputs depend on the chain: for instructions that become several
};

// One kernel of rows, for Probe::kernels: a copy in each chain of the first row, then of the next,
// and over again, each row with chains of its own. Throws Error(usage) when a row's text names an
// operand that it does not declare.
KernelUse row_kernel(std::span<const InstructionRow> rows, const KernelShape& shape,
                     const std::string& entry, Target target);
KernelUse row_kernel(const InstructionRow& row, const KernelShape& shape, const std::string& entry,
                     Target target);

// Loads that kernel, checks the values it computes and gives it its inputs.
GeneratedKernel prepare_rows(State& s, std::span<const InstructionRow> rows,
                             const KernelShape& shape, const std::string& entry);
// The same as what State::cycles() launches.
Callable<void(const Launch&)> prepare_row(State& s, const InstructionRow& row,
                                          const KernelShape& shape, const std::string& entry);

}  // namespace assay
