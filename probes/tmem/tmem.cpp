// SPDX-License-Identifier: Apache-2.0
// Tensor memory to registers and back: tcgen05.ld, tcgen05.ld.red and tcgen05.st by shape.
//
// Tensor memory has 128 lanes of 512 columns of 32 bits. Warp w of a CTA reaches the 32 lanes
// 32 (w mod 4) and up. A shape says how many lanes (32 or 16) and how many bits of each one
// instruction moves, `.xN` repeats it along the columns; a thread's share is `registers`.
// PTX ISA 9.0, "TensorCore 5th Generation Family Instructions: tcgen05.ld, tcgen05.st".
#include <fmt/format.h>

#include <algorithm>

#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"

namespace {

using namespace assay;

constexpr int kSteps = 8;        // instructions in one iteration of a latency chain
constexpr int kRegisters = 128;  // of the largest instruction, per thread
constexpr int kInFlight = 96;    // registers that a loop may have under way: no spills
constexpr int kHalf = 256;       // columns: warps 0-3 work in the lower half, 4-7 in the upper

struct Access {
  std::string operation;  // "ld", "ld_red" or "st"
  bool latency;
  std::string shape;  // "16x64b"
  int times;          // the N of .xN

  int lanes() const { return shape == "32x32b" ? 32 : 16; }
  // Of 16x32bx2 two halves lie side by side: for threads 0-15, and for the others.
  bool halves() const { return shape == "16x32bx2"; }
  int columns() const {
    return times * (halves() ? 2 : 1) *
           (shape == "16x256b"   ? 8
            : shape == "16x128b" ? 4
            : shape == "16x64b"  ? 2
                                 : 1);
  }
  int registers() const { return lanes() * columns() / 32; }
  int warps() const { return latency ? 1 : 8; }
  // Different instructions in one iteration, each on columns and registers of its own.
  int group() const { return latency ? 1 : std::clamp(kInFlight / registers(), 1, 8); }
  // A load may also bring the greatest of a thread's registers, of which there must be two.
  bool store() const { return operation == "st"; }
  bool reduces() const { return operation == "ld_red"; }
  std::string mnemonic() const { return reduces() ? "ld.red" : operation; }
};

std::string registers_of(const Access& a, int member) {
  std::string text;
  for (int i = 0; i < a.registers(); ++i)
    text += fmt::format("{}%r{}", i ? ", " : "", member * a.registers() + i);
  return text;
}

std::string instruction(const Access& a, int member, const std::string& base) {
  std::string at = fmt::format("[{}+{}]", base, member * a.columns());
  if (a.halves()) at += fmt::format(", {}", a.times);
  std::string registers = "{" + registers_of(a, member) + "}";
  if (a.reduces()) registers += fmt::format(", %greatest{}", member);
  return fmt::format("  tcgen05.{}.sync.aligned.{}.x{}{} {}, {};\n", a.mnemonic(), a.shape, a.times,
                     a.reduces() ? ".max.u32" : ".b32", a.store() ? at : registers,
                     a.store() ? registers : at);
}

// What the loop waits for: of a reduction its result, which is the last one too.
std::string last_register(const Access& a, int member) {
  if (a.reduces()) return fmt::format("%greatest{}", member);
  return fmt::format("%r{}", (member + 1) * a.registers() - 1);
}

// One iteration of the measured loop.
std::string body(const Access& a) {
  const std::string wait =
      fmt::format("  tcgen05.wait::{}.sync.aligned;\n", a.store() ? "st" : "ld");
  std::string text;
  if (a.latency) {
    for (int step = 0; step < kSteps; ++step) {
      text += instruction(a, 0, "%at") + wait;
      if (!a.store())  // the next address is ready when this value is
        text += fmt::format(
            "  and.b32 %t, {0}, %zero;\n  or.b32 %at, %base, %t;\n"
            "  add.u32 %seen, %seen, {0};\n",
            last_register(a, 0));
    }
    return text;
  }
  for (int member = 0; member < a.group(); ++member) text += instruction(a, member, "%base");
  text += wait;
  if (a.store()) return text;
  text += "  @%never bra keep;\n";
  for (int member = 0; member < a.group(); ++member)
    text += fmt::format("  add.u32 %seen, %seen, {};\n", last_register(a, member));
  return text;
}

// Behind the loop, where a loop of loads could go for all that anybody knows: it wants every
// register of every load, without which the assembler would let loads share registers, and so wait
// for one another.
std::string keep(const Access& a) {
  if (a.store() || a.latency) return "";
  std::string text = "  bra kept;\nkeep:\n";
  for (int i = 0; i < a.group() * a.registers(); ++i)
    text += fmt::format("  add.u32 %sum, %sum, %r{};\n", i);
  return text + "kept:\n";
}

// Before the loop. Loads: every column c of lane l is made to hold l << 16 | c, and one instruction
// is tried: %sum is what it brings, %last its last register. Stores: registers get values of their
// own.
std::string prepare(const Access& a) {
  std::string text;
  if (a.store()) {
    for (int i = 0; i < a.group() * a.registers(); ++i)
      text += fmt::format("  mad.lo.u32 %r{}, %thread, {}, {};\n", i, kRegisters, i + 1);
    return text;
  }
  text += fmt::format(
      "  shl.b32 %t, %row, 16;\n"
      "  or.b32 %t, %t, %half;\n"
      "  mov.u32 %at, %base;\n"
      "  add.u32 %count, %zero, {};\n"  // not a constant: 256 copies of the loop are no better
      "fill:\n"
      "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%at], {{%t}};\n"
      "  add.u32 %t, %t, 1;\n"
      "  add.u32 %at, %at, 1;\n"
      "  sub.u32 %count, %count, 1;\n"
      "  setp.ne.u32 %p, %count, 0;\n"
      "  @%p bra fill;\n"
      "  tcgen05.wait::st.sync.aligned;\n"
      "  mov.u32 %at, %base;\n",
      kHalf);
  text += instruction(a, 0, "%base") + "  tcgen05.wait::ld.sync.aligned;\n";
  for (int i = 0; i < a.registers(); ++i) text += fmt::format("  add.u32 %sum, %sum, %r{};\n", i);
  return text + fmt::format("  mov.u32 %last, {};\n", last_register(a, 0));
}

// After the loop of stores: the same shape loads back what was stored, into %sum with weights, so
// that a swap shows.
std::string read_back(const Access& a) {
  if (!a.store()) return "";
  std::string text;
  for (int member = 0; member < a.group(); ++member) {
    text += fmt::format(
        "  tcgen05.ld.sync.aligned.{}.x{}.b32 {{{}}}, [%base+{}]{};\n"
        "  tcgen05.wait::ld.sync.aligned;\n",
        a.shape, a.times, registers_of(a, 0), member * a.columns(),
        a.halves() ? fmt::format(", {}", a.times) : "");
    for (int i = 0; i < a.registers(); ++i)
      text +=
          fmt::format("  mad.lo.u32 %sum, %r{}, {}, %sum;\n", i, member * a.registers() + i + 1);
  }
  return text;
}

// Out: [3][thread] words, %sum, %last and %seen.
std::string ptx(const Access& a, Target target) {
  const int threads = a.warps() * 32;
  PtxKernel kernel{.target = target, .entry = "tmem", .threads = threads};
  kernel.declarations = fmt::format(
      "  .shared .align 4 .b32 address;\n"
      "  .reg .pred %p, %never;\n"
      "  .reg .b32 %slot, %warp, %row, %half, %base, %at, %t, %count, %sum, %last, %seen, "
      "%r<{}>, %greatest<8>;\n",
      kRegisters);
  // This warp's corner: lane 32 (w mod 4) in bits 16 and up, column 256 (w / 4) below.
  kernel.setup = "  mov.u32 %slot, address;\n" + allocate_tensor_memory("%slot") +
                 fmt::format(
                     "  mov.u32 %sum, 0;\n  mov.u32 %last, 0;\n  mov.u32 %seen, 0;\n"
                     "  setp.ne.u32 %never, %zero, 0;\n"
                     "  shr.u32 %warp, %thread, 5;\n"
                     "  and.b32 %row, %warp, 3;\n"
                     "  shl.b32 %t, %row, 21;\n"
                     "  shr.u32 %half, %warp, 2;\n"
                     "  mul.lo.u32 %half, %half, {};\n"
                     "  add.u32 %base, %tmem, %t;\n"
                     "  add.u32 %base, %base, %half;\n"
                     "  and.b32 %row, %thread, 127;\n"
                     "  mov.u32 %at, %base;\n",
                     kHalf) +
                 prepare(a);
  kernel.loop = body(a);
  kernel.finish = keep(a) + read_back(a) + "  mad.wide.u32 %out, %thread, 4, %out;\n";
  int plane = 0;
  for (const char* word : {"%sum", "%last", "%seen"})
    kernel.finish +=
        fmt::format("  @%first st.global.u32 [%out+{}], {};\n", plane++ * threads * 4, word);
  kernel.finish += release_tensor_memory();
  return ptx_text(kernel);
}

Access access_of(const Case& c) {
  return {c.text("operation"), c.text("figure") == "latency", c.text("shape"),
          static_cast<int>(c.i64("times"))};
}

std::vector<Case> cases(const std::string& operation) {
  std::vector<Case> all;
  const auto add = [&](const std::string& shape, std::initializer_list<int> repeats) {
    for (const int times : repeats)
      for (const bool latency : {false, true}) {
        const bool quick = operation != "ld_red" && shape != "16x32bx2";
        all.push_back({.name = fmt::format("{}_x{}{}", shape, times, latency ? "/latency" : ""),
                       .params = {{"operation", operation},
                                  {"shape", shape},
                                  {"times", times},
                                  {"figure", latency ? "latency" : "bandwidth"}},
                       .suite = quick && times == (latency ? 1 : 32) ? Suite::quick : Suite::full});
      }
  };
  if (operation == "ld_red") {
    add("32x32b", {2, 8, 32, 128});
    return all;
  }
  add("32x32b", {1, 2, 4, 8, 16, 32, 64, 128});
  add("16x64b", {1, 8, 32, 128});
  add("16x128b", {1, 8, 32, 64});
  add("16x256b", {1, 8, 32});
  add("16x32bx2", {1, 8, 32, 128});
  return all;
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const Access a = access_of(c);
  const int count = (a.latency ? kSteps : a.group()) * (a.halves() ? 2 : 1);
  const char* opcode = a.store() ? "STTM" : a.reduces() ? "LDTM.STAT" : "LDTM";
  return {{.kernel = "tmem", .sass = {{opcode, count, count}}, .ptx = ptx(a, target)}};
}

// What a warp's trial load must add up to: every cell of its corner once.
std::uint32_t cells(const Access& a, int warp) {
  std::uint32_t sum = 0;
  for (int lane = 0; lane < a.lanes(); ++lane)
    for (int column = 0; column < a.columns(); ++column)
      sum += static_cast<std::uint32_t>((warp % 4 * 32 + lane) << 16 | (warp / 4 * kHalf + column));
  return sum;
}

// What %seen must be on top of a trial's %last after one iteration of the loop: member m of the
// group reads the same lanes m * columns() further on.
std::uint32_t seen_in_loop(const Access& a, std::uint32_t last) {
  if (a.latency) return kSteps * last;
  std::uint32_t seen = 0;
  for (int member = 0; member < a.group(); ++member)
    seen += last + static_cast<std::uint32_t>(member * a.columns());
  return seen;
}

// What read_back() must make of the values that prepare() gave a thread's registers.
std::uint32_t stored(const Access& a, std::uint32_t thread) {
  std::uint32_t sum = 0;
  for (int i = 1; i <= a.group() * a.registers(); ++i)
    sum += (thread * kRegisters + static_cast<std::uint32_t>(i)) * static_cast<std::uint32_t>(i);
  return sum;
}

void check_values(State& s, const Access& a, const GeneratedKernel& loaded) {
  constexpr std::uint32_t kRounds = 2;
  const std::vector<std::uint32_t> out = loaded.outputs_after<std::uint32_t>(kRounds);
  const auto threads = static_cast<std::size_t>(a.warps() * 32);
  for (std::size_t warp = 0; warp < threads / 32; ++warp) {
    std::uint32_t sum = 0;
    for (std::size_t t = warp * 32; t < warp * 32 + 32; ++t) {
      if (a.store()) {
        s.require(out[t] == stored(a, static_cast<std::uint32_t>(t)),
                  "what was stored does not load back");
        continue;
      }
      sum += out[t];
      if (a.reduces())
        s.require(out[threads + t] == ((t % 128) << 16 | (warp / 4 * kHalf + a.columns() - 1)),
                  "a reduction's result is not its greatest cell");
      s.require(out[2 * threads + t] == kRounds * seen_in_loop(a, out[threads + t]),
                "the loop loaded something else than the trial did");
    }
    if (!a.store())
      s.require(sum == cells(a, static_cast<int>(warp)), "a load brought the wrong cells");
  }
}

void run(State& s) {
  const Access a = access_of(s.which());
  const int threads = a.warps() * 32;
  const GeneratedKernel loaded(s, "tmem", threads, 0, static_cast<std::size_t>(threads) * 12);
  check_values(s, a, loaded);
  const double bytes = 128.0 * a.registers() * a.group() * a.warps();
  s.limit("B/clk/SM", limits::unknown("of tensor memory"));
  s.cycles(a.latency ? Work{.steps = kSteps} : Work{.bytes = bytes}, loaded.on_every_sm());
}

Probe probe(const std::string& operation, const char* question, std::vector<Target> targets) {
  return {.name = "tmem/" + operation,
          .question = question,
          .cases = cases(operation),
          .targets = std::move(targets),
          .kernels = kernels,
          .run = run};
}

const Registration ld{
    probe("ld", "How fast do registers load from tensor memory, and how long does one load take?",
          targets_with(Feature::tcgen05))};
const Registration st{
    probe("st", "How fast do registers store to tensor memory, and how long does one store take?",
          targets_with(Feature::tcgen05))};
const Registration ld_red{probe("ld_red",
                                "What does it cost to get the maximum of what is loaded as well?",
                                targets_with(Feature::tcgen05_ld_red))};

}  // namespace
