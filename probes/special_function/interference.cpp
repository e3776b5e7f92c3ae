// SPDX-License-Identifier: Apache-2.0
// What an instruction of another warp costs the tensor cores, although it is not theirs.
//
// One warpgroup keeps them busy with wgmma, the next group of which is always started before the
// one before is waited for; on each scheduler one warp beside it executes some other instruction,
// far too few to take as long. If neither got in the other's way, the round would take what the
// wgmmas do. What it takes longer, per instruction, is what overlap can never hide.
//
// MUFU.EX2 costs nothing as long as there are few, but at its full rate, one every 8 cycles of a
// scheduler, it has not all of it beside wgmma. independent_efficiency is the share that a round of
// wgmmas has of the time when elements beside it, which have nothing to do with it, need their unit
// just as long: a bare MUFU.EX2, or with the FFMA, or the FFMA and FADD of softmax. What a real
// loop loses beyond that it loses by its schedule.
//
// wgmma reads and writes its accumulators in the register file, half as many registers when they
// are f16: if ports of the register file are the reason, those lose less. B, and A if it is not in
// registers, it reads in shared memory, of whose time n = 128 takes three quarters: LDS, STS and
// SHFL have the rest.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "harness/callable.hpp"
#include "harness/element.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/statistics.hpp"
#include "probes/tensor_core/wgmma_operands.hpp"

namespace assay {
namespace {

constexpr int kThreads = 2 * WgmmaForm::kWarpgroup;
constexpr int kMmas = 32, kOthers = 128, kChains = 8;  // in one round: wgmmas, others of a thread
constexpr int kMoreOthers[] = {256, 512, 1024};        // for the cost against their density
// Of elements with one MUFU.EX2 each, of which a scheduler starts one every 8 cycles, as many as
// fill the round of wgmmas, 64 cycles each; and fewer.
constexpr int kMmaCycles = 64, kExCycles = 8, kBalanced = kMmas * kMmaCycles / kExCycles;
constexpr int kFewer[] = {64, 128, 160, 192, 208, 224, 240};
constexpr double kStart = 1, kA = 0.5, kB = 0.125;  // for checking: sums exact in f16 too

// x <- step(x) on {0}, with %p and %q. Values by `element`: floats -1 and 1/4, integers 3 and 5.
struct Other {
  const char *name, *ptx, *element, *opcode;
  double (*step)(double x, double p, double q);
};

std::uint32_t word(double value) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value));
}

// cvt packs x above q, and what comes of that is x again, as a float.
double packed_halves(double x, double, double q) {
  const auto upper = static_cast<std::uint32_t>(pack("f16", 32, x)) & 0xffff0000u;
  const auto lower = static_cast<std::uint32_t>(pack("f16", 32, q)) & 0xffffu;
  return std::bit_cast<float>(upper | lower);
}

// x's upper half is taken for an f16.
double upper_half(double x, double, double) {
  return unpack("f16", std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16);
}

// x's bits are taken for an integer, and those of the float that it becomes for the next.
double as_integer(double x, double, double) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(word(x))));
}

const Other kList[] = {
    {"mufu_ex2", "neg.f32 {0}, {0}; ex2.approx.ftz.f32 {0}, {0};", "f32", "MUFU.EX2",
     [](double x, double, double) { return std::exp2(-x); }},
    {"ffma", "fma.rn.f32 {0}, {0}, %p, %q;", "f32", "FFMA",
     [](double x, double p, double q) { return x * p + q; }},
    {"fadd", "add.rn.f32 {0}, {0}, %p;", "f32", "FADD",
     [](double x, double p, double) { return x + p; }},
    {"fmul", "mul.rn.f32 {0}, {0}, %p;", "f32", "FMUL",
     [](double x, double p, double) { return x * p; }},
    {"fmnmx", "neg.f32 {0}, {0}; max.f32 {0}, {0}, %p;", "f32", "FMNMX",
     [](double x, double p, double) { return std::max(-x, p); }},
    {"hadd2_f32", "{ .reg .b16 %l, %h; mov.b32 {%l, %h}, {0}; cvt.f32.f16 {0}, %h; }", "f32",
     "HADD2.F32", upper_half},
    {"hfma2", "fma.rn.f16x2 {0}, {0}, %p, %q;", "f16", "HFMA2",
     [](double x, double p, double q) { return x * p + q; }},
    {"iadd3", "add.u32 {0}, {0}, %p; add.u32 {0}, {0}, %q;", "u32", "IADD3",
     [](double x, double p, double q) { return double{1} * word(x + p + q); }},
    {"imad", "mad.lo.u32 {0}, {0}, %p, %q;", "u32", "IMAD",
     [](double x, double p, double q) { return double{1} * word(x * p + q); }},
    {"lop3", "lop3.b32 {0}, {0}, %p, %q, 0x6a;", "u32", "LOP3",
     [](double x, double p, double q) { return double{1} * (word(q) ^ (word(x) & word(p))); }},
    {"f2fp", "cvt.rn.f16x2.f32 {0}, {0}, %q;", "f32", "F2FP", packed_halves},
    {"i2fp", "cvt.rn.f32.s32 {0}, {0};", "u32", "I2FP.F32.S32", as_integer},
    // A load that nothing uses ptxas drops, even if volatile; additions are free, see IADD3.
    {"lds", "{ .reg .b32 %t; ld.volatile.shared.b32 %t, [%mine]; add.u32 {0}, {0}, %t; }", "u32",
     "LDS", [](double x, double, double q) { return double{1} * word(x + q); }},
    {"sts", "st.volatile.shared.b32 [%mine], {0};", "f32", "STS",
     [](double x, double, double) { return x; }},
    {"shfl", "shfl.sync.down.b32 {0}, {0}, 1, 31, 0xffffffff;", "u32", "SHFL",
     [](double x, double, double) { return x; }},
};

const Other& other(std::string_view name) { return *std::ranges::find(kList, name, &Other::name); }

// What softmax does to an element, or could do without the multiply-adds: see overlap.cpp.
const Other kElements[] = {
    {"ex2", "neg.f32 {0}, {0}; ex2.approx.ftz.f32 {0}, {0};", "f32", "MUFU.EX2",
     [](double x, double, double) { return std::exp2(-x); }},
    {"ffma_ex2", "fma.rn.f32 {0}, {0}, %p, %q; ex2.approx.ftz.f32 {0}, {0};", "f32", "MUFU.EX2",
     [](double x, double p, double q) { return std::exp2(x * p + q); }},
    {"ffma_ex2_fadd",
     "fma.rn.f32 {0}, {0}, %p, %q; ex2.approx.ftz.f32 {0}, {0}; add.rn.f32 {0}, {0}, %q;", "f32",
     "MUFU.EX2", [](double x, double p, double q) { return std::exp2(x * p + q) + q; }},
};

struct Kernel {
  WgmmaForm form;
  const Other* other;    // none: wgmma alone
  int others = kOthers;  // of a thread in one round

  std::string entry() const;
  std::string ptx(Target target) const;
  KernelUse use(Target target) const;
};

std::string Kernel::entry() const {
  if (!other) return "mma";
  return others == kOthers ? other->name : fmt::format("{}_{}", other->name, others);
}

std::string registers(const char* prefix, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i ? ", " : "", prefix, i);
  return text;
}

// In: the tile; the words that accumulators and x start as, p and q. Out: [register][thread],
// accumulators of the first warpgroup, x of the second.
std::string Kernel::ptx(Target target) const {
  const int tile = form.tile_bytes();
  PtxKernel kernel{.target = target, .entry = entry(), .threads = kThreads};
  kernel.declarations = fmt::format(
      "  .shared .align 1024 .b8 tile[{}];\n  .shared .align 4 .b8 scratch[{}];\n"
      "  .reg .b32 %d<{}>, %x<{}>, %p, %q;\n"
      "  .reg .pred %add, %second;\n  .reg .b32 %at, %tile, %group, %mine;\n"
      "  .reg .b64 %from, %a<4>, %b<4>;\n",
      tile, kThreads * 4, form.registers(), kChains);
  kernel.setup =
      "  mov.u32 %tile, tile;\n" + load_tile(tile, kThreads) +
      "  shr.u32 %group, %thread, 7;\n"
      "  shfl.sync.idx.b32 %group, %group, 0, 31, 0xffffffff;\n"  // known to be the warp's
      "  setp.ne.u32 %second, %group, 0;\n"
      "  mad.wide.u32 %out, %thread, 4, %out;\n"
      "  setp.ne.u32 %add, 1, 0;\n"
      "  shr.u32 %at, %tile, 4;\n  cvt.u64.u32 %from, %at;\n";
  for (int step = 0; step < 4; ++step) {
    const std::uint64_t a =
        ptx::advance(ptx::encode_k_major_128b(0), static_cast<unsigned>(step) * 32);
    kernel.setup += fmt::format("  add.u64 %a{0}, %from, {1};\n  add.u64 %b{0}, %from, {2};\n",
                                step, a, ptx::advance(a, WgmmaForm::kRows * WgmmaForm::kRowBytes));
  }
  for (int r = 0; r < form.registers(); ++r)
    kernel.setup += fmt::format("  ld.global.b32 %d{}, [%in+{}];\n", r, tile);
  for (int c = 0; c < kChains; ++c)
    // For all ptxas knows, x differs between threads: else it shuffles once.
    kernel.setup += fmt::format(
        "  ld.global.b32 %x{0}, [%in+{1}];\n  and.b32 %at, %thread, %zero;\n"
        "  xor.b32 %x{0}, %x{0}, %at;\n",
        c, tile + 4);
  kernel.setup += fmt::format("  ld.global.b32 %p, [%in+{}];\n  ld.global.b32 %q, [%in+{}];\n",
                              tile + 8, tile + 12);
  kernel.setup +=
      "  mov.u32 %mine, scratch;\n  mad.lo.u32 %mine, %thread, 4, %mine;\n"
      "  st.shared.b32 [%mine], %q;\n";
  kernel.loop = "  @%second bra second;\n  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < kMmas; ++i)
    kernel.loop += form.ptx(registers("%d", form.registers()), fmt::format("%a{}", i % 4),
                            fmt::format("%b{}", i % 4), "");
  kernel.loop +=
      "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 1;\n"
      "  bra joined;\nsecond:\n";
  for (int i = 0; other && i < others; ++i)
    kernel.loop += "  " + replace_all(other->ptx, "{0}", fmt::format("%x{}", i % kChains)) + "\n";
  kernel.loop += "joined:\n";
  kernel.finish = "  @%second bra others;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (int r = 0; r < form.registers(); ++r)
    kernel.finish += fmt::format("  @%first st.global.b32 [%out+{}], %d{};\n", r * kThreads * 4, r);
  kernel.finish += "  bra stored;\nothers:\n";
  for (int c = 0; c < kChains; ++c)
    kernel.finish += fmt::format("  @%first st.global.b32 [%out+{}], %x{};\n", c * kThreads * 4, c);
  kernel.finish += "stored:\n";
  return ptx_text(kernel);
}

KernelUse Kernel::use(Target target) const {
  KernelUse use{.kernel = entry(),
                .sass = {{form.opcode(), kMmas, kMmas}, {"WARPGROUP.DEPBAR", 1, 1}},
                .ptx = ptx(target)};
  if (other) use.sass.push_back({other->opcode, others, others + 1});  // one counts rounds
  return use;
}

WgmmaForm form_of(const Case& c) { return WgmmaForm::of(c); }

std::vector<KernelUse> kernels(const Case& c, Target target) {
  std::vector<KernelUse> uses = {Kernel{form_of(c), nullptr}.use(target)};
  for (const Other& other : kList) uses.push_back(Kernel{form_of(c), &other}.use(target));
  for (const int others : kMoreOthers)
    uses.push_back(Kernel{form_of(c), &other("ffma"), others}.use(target));
  for (const Other& element : kElements)
    uses.push_back(Kernel{form_of(c), &element, kBalanced}.use(target));
  for (const int elements : kFewer)
    uses.push_back(Kernel{form_of(c), &kElements[0], elements}.use(target));
  return uses;
}

// Loads the kernel, checks it on operands that are all alike, gives it random ones.
Callable<void(const Launch&)> prepare(State& s, const Kernel& kernel) {
  constexpr int kRounds = 2;
  const WgmmaForm& form = kernel.form;
  const auto tile_words = static_cast<std::size_t>(form.tile_bytes() / 4);
  const GeneratedKernel loaded(s, kernel.entry(), kThreads, (tile_words + 4) * 4,
                               static_cast<std::size_t>(form.registers() * kThreads) * 4);
  const std::string element = kernel.other ? kernel.other->element : "f32";
  const bool integer = element == "u32";
  const double p = integer ? 3 : -1, q = integer ? 5 : 0.25;
  const auto bits = [](const std::string& type, double value) {
    return static_cast<std::uint32_t>(pack(type, 32, value));
  };
  std::vector<std::uint32_t> in(tile_words);
  for (std::size_t i = 0; i < tile_words; ++i)
    in[i] = bits(form.a, i < WgmmaForm::kRows * WgmmaForm::kRowBytes / 4 ? kA : kB);
  in.push_back(bits(form.accumulator, kStart));
  for (const double value : {kStart, p, q}) in.push_back(bits(element, value));
  loaded.set_inputs(in);

  const double sum = kStart + kRounds * kMmas * form.k() * kA * kB;
  double x = kStart;
  for (int i = 0; kernel.other && i < kRounds * kernel.others / kChains; ++i)
    x = kernel.other->step(x, p, q);
  const auto out = loaded.outputs_after<std::uint32_t>(kRounds);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool second = i % kThreads >= WgmmaForm::kWarpgroup;
    if (second && i >= std::size_t{kChains} * kThreads) continue;  // stays unwritten
    const double found = unpack(second ? element : form.accumulator, out[i]);
    const double expected = second ? x : sum;
    s.require(
        std::abs(found - expected) <= 1e-5 * std::abs(expected),
        fmt::format("{}: {} ended as {}, not {}", kernel.entry(),
                    second ? "another instruction's chain" : "an accumulator", found, expected));
  }
  const WgmmaOperands random = uniform_operands(form, s.seed());
  std::vector<std::uint32_t> timed = random.words(form);
  timed.insert(timed.end(), in.end() - 4, in.end());
  loaded.set_inputs(timed);
  return loaded.on_every_sm();
}

void run(State& s) {
  // What an instruction of a pipe of its own takes away is the noise of a difference.
  for (const char* name :
       {"tensor_cycles_per_ex2", "tensor_cycles_per_instruction", "tensor_cycles_per_ffma"})
    s.may_be_negative(name);
  const WgmmaForm form = form_of(s.which());
  const double alone = median(s.cycles({.flop = form.flop() * kMmas}, prepare(s, {form, nullptr})));
  std::vector<double> lost = s.cycles({}, prepare(s, {form, &other("mufu_ex2")}));
  for (double& cycles : lost) cycles = (cycles - alone) / kOthers;
  s.add_metric("tensor_cycles_per_ex2", "cycle", Better::lower, lost);
  s.lead_with("tensor_cycles_per_ex2");
  for (const Other& element : kElements) {
    std::vector<double> efficiency = s.cycles({}, prepare(s, {form, &element, kBalanced}));
    // While the wgmmas run; what is left of the round then has the unit to itself.
    if (&element == kElements) {
      std::vector<double> ex2_rate = efficiency;
      for (double& cycles : ex2_rate) cycles = 128.0 / kExCycles * (2 - cycles / alone);
      s.add_metric("ex2_per_clock_per_sm_beside_wgmma", "op/clk/SM", Better::higher, ex2_rate);
    }
    for (double& cycles : efficiency) cycles = alone / cycles;
    s.add_metric(fmt::format("independent_efficiency_{}", element.name), "", Better::higher,
                 efficiency);
  }
  Series rounds{"round_to_mma_time", "", {{"ex2_to_mma_time", {}}}, {}};
  for (const int elements : kFewer) {
    rounds.axes[0].points.emplace_back(fmt::format("{:.3f}", double{1} * elements / kBalanced));
    rounds.add(s.cycles_once(prepare(s, {form, &kElements[0], elements})) / alone);
  }
  s.add_series(std::move(rounds));

  Axis instructions{"instruction", {}};
  std::vector<double> costs;
  for (const Other& other : kList) {
    instructions.points.emplace_back(other.name);
    costs.push_back((s.cycles_once(prepare(s, {form, &other})) - alone) / kOthers);
  }
  const auto cost = [&](const char* name) {
    return costs[static_cast<std::size_t>(&other(name) - kList)];
  };
  s.add_series({"tensor_cycles_per_instruction", "cycle", {instructions}, costs});
  s.set_param("share_of_issue_slots", fmt::format("{:.4f}", kOthers / alone));

  Axis density{"ffma_per_mma", {std::int64_t{kOthers / kMmas}}};
  std::vector<double> dense = {cost("ffma")};
  for (const int others : kMoreOthers) {
    density.points.emplace_back(std::int64_t{others / kMmas});
    dense.push_back((s.cycles_once(prepare(s, {form, &other("ffma"), others})) - alone) / others);
  }
  s.add_series({"tensor_cycles_per_ffma", "cycle", {density}, dense});
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const WgmmaForm& form :
       {WgmmaForm{"bf16", "bf16", "f32", 128}, WgmmaForm{"f16", "f16", "f16", 128},
        WgmmaForm{"tf32", "tf32", "f32", 128}, WgmmaForm{"e4m3", "e4m3", "f32", 128}}) {
    Params params = form.params();
    params["state"] = "burst";
    all.push_back({.name = fmt::format("wgmma_{}_{}", form.a, form.accumulator),
                   .params = params,
                   .suite = Suite::full});
  }
  return all;
}

const Registration registration{{
    .name = "special_function/interference",
    .question = "How many cycles do the tensor cores lose to each instruction that other warps "
                "execute elsewhere?",
    .metrics =
        {{"flop_per_clock_per_sm",
          "Operations of wgmma that one SM does in a cycle with nothing else running."},
         {"tensor_cycles_per_ex2",
          "Cycles by which a round of wgmmas takes longer for each MUFU.EX2 of the other warps."},
         {"ex2_per_clock_per_sm_beside_wgmma",
          "Results of MUFU.EX2 that one SM gets in a cycle while wgmmas run."},
         {"independent_efficiency_*",
          "Time of the wgmmas alone over the time with * elements beside them that need their unit "
          "as long."},
         {"round_to_mma_time",
          "Time of a round with MUFU.EX2 beside it over that of the wgmmas alone, by how many "
          "there are."},
         {"tensor_cycles_per_instruction",
          "Cycles by which a round of wgmmas takes longer for each instruction of other warps, by "
          "instruction."},
         {"tensor_cycles_per_ffma",
          "Cycles by which a round of wgmmas takes longer for each FFMA, by how many there are."}},
    .cases = cases(),
    .targets = targets_with(Feature::wgmma),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
}  // namespace assay
