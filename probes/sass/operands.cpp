// SPDX-License-Identifier: Apache-2.0
// What the registers that an instruction reads cost: banks, and the reuse cache in front of them.
//
// The register file has two banks, even and odd registers; a source flagged .reuse by the
// instruction before, at the same operand position, is still latched and need not be read (Jia et
// al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", arXiv:1804.06826,
// section 3.4). What two banks that deliver an operand of 32 lanes a cycle each would need for the
// very code that runs stands beside what was measured. Registers are chosen by rewriting the
// register fields of the FFMAs that ptxas assembled. All inputs hold the same value, so every
// choice computes the same.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>

#include "harness/code/assembler.hpp"
#include "harness/code/elf.hpp"
#include "harness/error.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/limits.hpp"

namespace {

using namespace assay;

constexpr int kChains = 8, kInputs = 16, kCopies = 512;
// Of an SM with four schedulers. What one warp latched is of use only if it issues next as well:
// one warp each shows the reuse cache, several how much of it is left when they take turns.
constexpr int kWarps[] = {4, 8, 16}, kThreads = 16 * 32;
constexpr const char* kEntry = "operands";

// How the two inputs of an FFMA lie to its accumulator, as remainders of register numbers.
struct Choice {
  const char *name, *meaning;
  int modulus;     // 0: as ptxas compiled it
  bool all_alike;  // all three sources in one bank; else one input is in it, the other is not
  bool pairs;      // only in every second FFMA, whose first input is also that of the one before
  bool reuse;      // which latches it
};
constexpr Choice kChoices[] = {
    {"as_compiled", "registers as ptxas chose them", 0, false, false, false},
    {"two_banks", "sources spread over even and odd registers, no reuse", 2, false, false, false},
    {"one_bank_of_2", "three sources of one parity, no reuse", 2, true, false, false},
    {"one_bank_of_4", "three sources alike modulo 4, no reuse", 4, true, false, false},
    {"every_second", "three sources of one parity in every second FFMA", 2, true, true, false},
    {"every_second_reuse", "the same, one of them latched by the FFMA before", 2, true, true, true},
};

const Choice& choice_of(const Case& c) {
  for (const Choice& choice : kChoices)
    if (c.name == std::string("ffma/") + choice.name) return choice;
  throw std::logic_error("a case of an unknown choice");
}

std::string ptx(Target target) {
  PtxKernel kernel{.target = target, .entry = kEntry, .threads = kThreads};
  kernel.declarations =
      fmt::format("  .reg .f32 %d<{}>, %a<{}>;\n  .reg .b64 %offset;\n", kChains, kInputs);
  kernel.setup =
      "  mul.wide.u32 %offset, %thread, 4;\n  add.u64 %in, %in, %offset;\n"
      "  add.u64 %out, %out, %offset;\n";
  const auto slot = [](int i) { return i * kThreads * 4; };
  for (int c = 0; c < kChains; ++c)
    kernel.setup += fmt::format("  ld.global.f32 %d{}, [%in+{}];\n", c, slot(c));
  for (int i = 0; i < kInputs; ++i)
    kernel.setup += fmt::format("  ld.global.f32 %a{}, [%in+{}];\n", i, slot(kChains + i));
  for (int k = 0; k < kCopies; ++k)
    kernel.loop += fmt::format("  fma.rn.f32 %d{0}, %a{1}, %a{2}, %d{0};\n", k % kChains,
                               k % kInputs, (k + 3) % kInputs);
  for (int c = 0; c < kChains; ++c)
    kernel.finish += fmt::format("  @%first st.global.f32 [%out+{}], %d{};\n", slot(c), c);
  return ptx_text(kernel);
}

// FFMA Rd, Ra, Rb, Rc: opcode in bits 0-11, Rd 16-23, Ra 24-31, Rb 32-39, Rc 64-71, and whether Ra,
// Rb, Rc are latched for reuse in bits 122-124 (as nvdisasm shows them).
struct Ffma {
  std::uint64_t words[2];

  explicit Ffma(const char* bytes) { std::memcpy(words, bytes, sizeof words); }
  bool is_one() const { return (words[0] & 0xfff) == 0x223; }
  // Ra, Rb or Rc.
  unsigned source(int position) const {
    return (position == 2 ? words[1] : words[0] >> (24 + 8 * position)) & 0xff;
  }
  bool latches(int position) const { return words[1] >> (58 + position) & 1; }
  void set_inputs(unsigned a, unsigned b, bool reuse_a) {
    words[0] = (words[0] & ~0xffff000000ull) | std::uint64_t{b} << 32 | a << 24;
    words[1] = (words[1] & ~(7ull << 58)) | std::uint64_t{reuse_a} << 58;
  }
};

std::vector<char*> ffmas_of(std::vector<char>& cubin) {
  const ElfImage image(cubin);
  const auto text = image.section(std::string(".text.") + kEntry)->bytes;
  char* code = cubin.data() + (text.data() - cubin.data());
  std::vector<char*> ffmas;
  for (std::size_t at = 0; at < text.size(); at += 16)
    if (Ffma(code + at).is_one()) ffmas.push_back(code + at);
  return ffmas;
}

// Cycles per FFMA if each bank delivers one operand a cycle and an instruction's reads may overlap
// those of one neighbour: every two neighbours take two cycles, or as many as they read from the
// busier bank; the mean over which neighbour it is.
double predicted_cycles(std::vector<char> cubin) {
  std::vector<std::array<int, 2>> reads;
  std::optional<Ffma> before;
  for (const char* at : ffmas_of(cubin)) {
    const Ffma f(at);
    std::array<int, 2> of_bank = {};
    for (int i = 0; i < 3; ++i)
      if (!before || !before->latches(i) || before->source(i) != f.source(i))
        ++of_bank[f.source(i) % 2];
    reads.push_back(of_bank);
    before = f;
  }
  double cycles = 0;
  for (std::size_t i = 0; i + 1 < reads.size(); ++i)
    cycles += std::max({2, reads[i][0] + reads[i + 1][0], reads[i][1] + reads[i + 1][1]});
  return cycles / 2 / static_cast<double>(reads.size() - 1);
}

void choose_registers(std::vector<char>& cubin, const Choice& choice) {
  const std::vector<char*> ffmas = ffmas_of(cubin);
  std::set<unsigned> inputs;
  for (const char* at : ffmas) inputs.insert({Ffma(at).source(0), Ffma(at).source(1)});
  const auto modulus = static_cast<unsigned>(choice.modulus);
  // The n-th input whose register is, or is not, alike to `like`.
  const auto pick = [&](unsigned like, bool alike, std::size_t n) {
    std::vector<unsigned> fitting;
    std::ranges::copy_if(inputs, std::back_inserter(fitting),
                         [&](unsigned r) { return (r % modulus == like % modulus) == alike; });
    if (fitting.size() < 2)
      throw Error(ExitCode::failed, "too few input registers to choose a bank from");
    return fitting[n % fitting.size()];
  };
  for (std::size_t i = 0; i < ffmas.size(); ++i) {
    Ffma f(ffmas[i]);
    const bool first_of_pair = choice.pairs && i % 2 == 0;
    const std::size_t turn = choice.pairs ? i / 2 : i;
    const unsigned like = first_of_pair ? Ffma(ffmas[i + 1]).source(2) : f.source(2);
    f.set_inputs(pick(like, true, turn),
                 pick(f.source(2), choice.all_alike && !first_of_pair, turn + 1),
                 first_of_pair && choice.reuse);
    std::memcpy(ffmas[i], f.words, sizeof f.words);
  }
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const Choice& choice = choice_of(c);
  KernelUse use{.kernel = kEntry, .sass = {{"FFMA", kCopies, kCopies}}, .ptx = ptx(target)};
  if (choice.modulus > 0)
    use.edit = [&choice](std::vector<char>& cubin) { choose_registers(cubin, choice); };
  return {use};
}

void run(State& s) {
  s.set_param("operands", choice_of(s.which()).meaning);
  constexpr int kRounds = 2;
  constexpr double kA = 0.5;
  const GeneratedKernel kernel(s, kEntry, kThreads, (kChains + kInputs) * kThreads * 4,
                               kChains * kThreads * 4);
  std::vector<float> in;
  for (int c = 0; c < kChains; ++c) in.insert(in.end(), kThreads, static_cast<float>(c + 1));
  in.insert(in.end(), std::size_t{kInputs} * kThreads, static_cast<float>(kA));
  kernel.set_inputs(in);
  const auto out = kernel.outputs_after<float>(kRounds);
  constexpr int kSteps = kRounds * kCopies / kChains;  // of each chain
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t chain = i / kThreads;
    const double expected = static_cast<double>(chain + 1) + kSteps * kA * kA;
    s.require(out[i] == expected, fmt::format("a chain ended with {}, not {}", out[i], expected));
  }
  const auto per_instruction = [](const auto& cycles, int warps) {
    return cycles * 4 / (warps * kCopies);
  };
  std::vector<double> samples =
      s.cycles({.ops = 32.0 * kWarps[0] * kCopies, .limit = {128, limits::ffma().source}},
               kernel.on_every_sm(kWarps[0] * 32));
  for (double& cycles : samples) cycles = per_instruction(cycles, kWarps[0]);
  s.add_metric("cycles_per_instruction", "cycle", Better::lower, samples);
  s.add_exact("predicted_cycles_per_instruction", "cycle", Better::lower,
              predicted_cycles(assemble(kernels(s.which(), s.target()).front(), s.target())));
  Series series{
      .name = "cycles_per_instruction", .unit = "cycle", .axes = {{"warps", {}}}, .values = {}};
  for (const int warps : kWarps) {
    series.axes[0].points.emplace_back(std::int64_t{warps});
    series.add(per_instruction(s.cycles_once(kernel.on_every_sm(warps * 32)), warps));
  }
  s.add_series(std::move(series));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Choice& choice : kChoices)
    all.push_back({.name = std::string("ffma/") + choice.name,
                   .params = {{"state", "burst"}},
                   .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "sass/operands",
    .question = "What do register banks and the operand reuse cache cost or save an FFMA?",
    .metrics = {{"cycles_per_instruction",
                 "Cycles of a scheduler for each FFMA; the series is by warps."},
                {"predicted_cycles_per_instruction",
                 "Cycles of a scheduler for each FFMA if two register banks each deliver an "
                 "operand a cycle."}},
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
