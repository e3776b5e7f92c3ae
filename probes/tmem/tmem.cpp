// SPDX-License-Identifier: Apache-2.0
// Tensor memory to registers and back: tcgen05.ld and tcgen05.st by shape.
//
// Tensor memory has 128 lanes of 512 columns of 32 bits. Warp w of a CTA reaches the 32 lanes
// 32 (w mod 4) and up. A shape says how many lanes (32 or 16) and how many bits of each one
// instruction moves, `.xN` repeats it along the columns; a thread's share is `registers`.
// PTX ISA 9.0, "TensorCore 5th Generation Family Instructions: tcgen05.ld, tcgen05.st".
#include <fmt/format.h>

#include <algorithm>

#include "harness/device.hpp"
#include "harness/instruction_probe.hpp"
#include "harness/state.hpp"

namespace {

using assay::Target;

constexpr int kSteps = 8;                   // instructions in one iteration of a latency chain
constexpr int kRegisters = 128;             // of the largest instruction, per thread
constexpr int kInFlight = 96;               // registers that a loop may have under way: no spills
constexpr int kColumns = 512, kHalf = 256;  // warps 0-3 work in the lower half, 4-7 in the upper

struct Access {
  bool store, latency;
  std::string shape;  // "16x64b"
  int times;          // the N of .xN

  int lanes() const { return shape == "32x32b" ? 32 : 16; }
  int columns() const {
    return times * (shape == "16x256b" ? 8 : shape == "16x128b" ? 4 : shape == "16x64b" ? 2 : 1);
  }
  int registers() const { return lanes() * columns() / 32; }
  int warps() const { return latency ? 1 : 8; }
  // Different instructions in one iteration, each on columns and registers of its own.
  int group() const { return latency ? 1 : std::clamp(kInFlight / registers(), 1, 8); }
  std::string mnemonic() const { return store ? "st" : "ld"; }
};

std::string registers_of(const Access& a, int member) {
  std::string text;
  for (int i = 0; i < a.registers(); ++i)
    text += fmt::format("{}%r{}", i ? ", " : "", member * a.registers() + i);
  return text;
}

std::string instruction(const Access& a, int member, const std::string& base) {
  const std::string at = fmt::format("[{}+{}]", base, member * a.columns());
  const std::string registers = "{" + registers_of(a, member) + "}";
  return fmt::format("  tcgen05.{}.sync.aligned.{}.x{}.b32 {}, {};\n", a.mnemonic(), a.shape,
                     a.times, a.store ? at : registers, a.store ? registers : at);
}

std::string last_register(const Access& a, int member) {
  return fmt::format("%r{}", (member + 1) * a.registers() - 1);
}

// One iteration of the measured loop.
std::string body(const Access& a) {
  const std::string wait = fmt::format("  tcgen05.wait::{}.sync.aligned;\n", a.mnemonic());
  std::string text;
  if (a.latency) {
    for (int step = 0; step < kSteps; ++step) {
      text += instruction(a, 0, "%at") + wait;
      if (!a.store)  // the next address is ready when this value is
        text += fmt::format(
            "  and.b32 %t, {0}, %zero;\n  or.b32 %at, %base, %t;\n"
            "  add.u32 %seen, %seen, {0};\n",
            last_register(a, 0));
    }
    return text;
  }
  for (int member = 0; member < a.group(); ++member) text += instruction(a, member, "%base");
  text += wait;
  if (a.store) return text;
  text += "  @%never bra keep;\n";
  for (int member = 0; member < a.group(); ++member)
    text += fmt::format("  add.u32 %seen, %seen, {};\n", last_register(a, member));
  return text;
}

// Where a loop of loads could go for all that anybody knows: it wants every register of every load,
// without which the assembler would let loads share registers, and so wait for one another.
std::string keep(const Access& a) {
  if (a.store || a.latency) return "";
  std::string text = "keep:\n";
  for (int i = 0; i < a.group() * a.registers(); ++i)
    text += fmt::format("  add.u32 %sum, %sum, %r{};\n", i);
  return text + "  bra finish;\n";
}

// Before the loop. Loads: every column c of lane l is made to hold l << 16 | c, and one instruction
// is tried: %sum is what it brings, %last its last register. Stores: registers get values of their
// own.
std::string prepare(const Access& a) {
  std::string text;
  if (a.store) {
    for (int i = 0; i < a.group() * a.registers(); ++i)
      text += fmt::format("  mad.lo.u32 %r{}, %thread, {}, {};\n", i, kRegisters, i + 1);
    return text;
  }
  text += fmt::format(
      "  shl.b32 %t, %lane, 16;\n"
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
  if (!a.store) return "";
  std::string text;
  for (int member = 0; member < a.group(); ++member) {
    text += fmt::format(
        "  tcgen05.ld.sync.aligned.{}.x{}.b32 {{{}}}, [%base+{}];\n"
        "  tcgen05.wait::ld.sync.aligned;\n",
        a.shape, a.times, registers_of(a, 0), member * a.columns());
    for (int i = 0; i < a.registers(); ++i)
      text +=
          fmt::format("  mad.lo.u32 %sum, %r{}, {}, %sum;\n", i, member * a.registers() + i + 1);
  }
  return text;
}

// .entry (u64 records, u64 out, u64 iterations, u32 zero); out is [3][CTA][thread] words: %sum,
// %last, %seen. `zero` is 0, which the assembler cannot know.
std::string ptx(const Access& a, Target target) {
  std::string text =
      fmt::format(".version 9.0\n.target {}\n.address_size 64\n\n", assay::name(target));
  text += fmt::format(
      ".visible .entry tmem(.param .u64 p_records, .param .u64 p_out, .param .u64 p_iterations,\n"
      "    .param .u32 p_zero)\n.maxntid {0}\n{{\n"
      "  .reg .pred %p, %first, %lead, %never;\n"
      "  .reg .b32 %thread, %warp, %lane, %half, %base, %at, %t, %count, %zero, %sum, %last, "
      "%seen;\n"
      "  .reg .b32 %cta, %ctas, %sm, %r<{1}>, %slot;\n"
      "  .reg .b64 %records, %out, %iterations, %start, %stop, %start_ns, %stop_ns, %plane;\n"
      "  .shared .align 4 .b32 allocated;\n"
      "  ld.param.u64 %records, [p_records];\n"
      "  ld.param.u64 %out, [p_out];\n"
      "  ld.param.u64 %iterations, [p_iterations];\n"
      "  ld.param.u32 %zero, [p_zero];\n"
      "  setp.ne.u32 %never, %zero, 0;\n"
      "  mov.u32 %thread, %tid.x;\n"
      "  mov.u32 %cta, %ctaid.x;\n"
      "  mov.u32 %ctas, %nctaid.x;\n"
      "  mov.u32 %sum, 0;\n  mov.u32 %last, 0;\n  mov.u32 %seen, 0;\n"
      // Warp 0 allocates all columns, and says that nobody here will allocate again.
      "  setp.lt.u32 %first, %thread, 32;\n"
      "  mov.u32 %t, allocated;\n"
      "  @!%first bra have;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%t], {2};\n"
      "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "have:\n"
      "  tcgen05.fence::before_thread_sync;\n"
      "  bar.sync 0;\n"
      "  tcgen05.fence::after_thread_sync;\n"
      "  ld.shared.u32 %base, [allocated];\n"
      // This warp's corner: lane 32 (w mod 4) in bits 16 and up, column 256 (w / 4) below.
      "  shr.u32 %warp, %thread, 5;\n"
      "  and.b32 %lane, %warp, 3;\n"
      "  shl.b32 %t, %lane, 21;\n"
      "  shr.u32 %half, %warp, 2;\n"
      "  mul.lo.u32 %half, %half, {3};\n"
      "  add.u32 %base, %base, %t;\n"
      "  add.u32 %base, %base, %half;\n"
      "  and.b32 %lane, %thread, 127;\n"
      "  mov.u32 %at, %base;\n",
      a.warps() * 32, kRegisters, kColumns, kHalf);
  text += prepare(a);
  text +=
      "  bar.sync 0;\n"
      "  mov.u64 %start_ns, %globaltimer;\n"
      "  mov.u64 %start, %clock64;\n"
      "repeat:\n"
      "  .pragma \"nounroll\";\n" +
      body(a) +
      "  sub.u64 %iterations, %iterations, 1;\n"
      "  setp.ne.u64 %p, %iterations, 0;\n"
      "  @%p bra repeat;\n"
      "finish:\n"
      "  bar.sync 0;\n"
      "  mov.u64 %stop, %clock64;\n"
      "  mov.u64 %stop_ns, %globaltimer;\n" +
      read_back(a);
  return text + fmt::format(
                    "  setp.eq.u32 %lead, %thread, 0;\n"
                    "  mov.u32 %sm, %smid;\n"
                    "  mad.wide.u32 %records, %cta, {}, %records;\n"
                    "  @%lead st.global.u64 [%records], %start;\n"
                    "  @%lead st.global.u64 [%records+8], %stop;\n"
                    "  @%lead st.global.u64 [%records+16], %start_ns;\n"
                    "  @%lead st.global.u64 [%records+24], %stop_ns;\n"
                    "  @%lead st.global.u32 [%records+32], %sm;\n"
                    "  mad.lo.u32 %slot, %cta, {}, %thread;\n"
                    "  mad.wide.u32 %out, %slot, 4, %out;\n"
                    "  mul.wide.u32 %plane, %ctas, {};\n"
                    "  st.global.u32 [%out], %sum;\n"
                    "  add.u64 %out, %out, %plane;\n"
                    "  st.global.u32 [%out], %last;\n"
                    "  add.u64 %out, %out, %plane;\n"
                    "  st.global.u32 [%out], %seen;\n"
                    "  tcgen05.fence::before_thread_sync;\n"
                    "  bar.sync 0;\n"
                    "  tcgen05.fence::after_thread_sync;\n"
                    "  ld.shared.u32 %base, [allocated];\n"
                    "  @!%first bra done;\n"
                    "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, {};\n"
                    "done:\n"
                    "  ret;\n{}}}\n",
                    sizeof(assay::StopwatchRecord), a.warps() * 32, a.warps() * 32 * 4, kColumns,
                    keep(a));
}

Access access_of(const assay::Case& c) {
  return {c.text("operation") == "st", c.text("figure") == "latency", c.text("shape"),
          static_cast<int>(c.i64("times"))};
}

std::vector<assay::Case> cases(const char* operation) {
  std::vector<assay::Case> all;
  const auto add = [&](const char* shape, std::initializer_list<int> repeats) {
    for (const int times : repeats)
      for (const bool latency : {false, true})
        all.push_back(
            {.name = fmt::format("{}_x{}{}", shape, times, latency ? "/latency" : ""),
             .params = {{"operation", operation},
                        {"shape", shape},
                        {"times", times},
                        {"figure", latency ? "latency" : "bandwidth"}},
             .suite = times == (latency ? 1 : 32) ? assay::Suite::quick : assay::Suite::full});
  };
  add("32x32b", {1, 8, 32, 128});
  add("16x64b", {1, 8, 32, 128});
  add("16x128b", {1, 8, 32, 64});
  add("16x256b", {1, 8, 32});
  return all;
}

std::vector<assay::KernelUse> kernels(const assay::Case& c, Target target) {
  const Access a = access_of(c);
  const int count = a.latency ? kSteps : a.group();
  return {{.kernel = "tmem",
           .sass = {{a.store ? "STTM" : "LDTM", count, count}},
           .ptx = ptx(a, target)}};
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

void check_result(assay::State& s, const Access& a, const std::vector<std::uint32_t>& out,
                  std::size_t plane, std::int64_t iterations) {
  const auto threads = static_cast<std::size_t>(a.warps() * 32);
  for (std::size_t warp = 0; warp < plane / 32; ++warp) {
    std::uint32_t sum = 0;
    for (std::size_t t = warp * 32; t < warp * 32 + 32; ++t) {
      if (a.store) {
        s.require(out[t] == stored(a, static_cast<std::uint32_t>(t % threads)),
                  "what was stored does not load back");
        continue;
      }
      sum += out[t];
      s.require(out[2 * plane + t] ==
                    static_cast<std::uint32_t>(iterations) * seen_in_loop(a, out[plane + t]),
                "the loop loaded something else than the trial did");
    }
    if (!a.store)
      s.require(sum == cells(a, static_cast<int>(warp % (threads / 32))),
                "a load brought the wrong cells");
  }
}

void run(assay::State& s) {
  const Access a = access_of(s.which());
  const auto threads = static_cast<unsigned>(a.warps() * 32);
  const auto ctas = static_cast<unsigned>(s.device().sm_count);
  const std::size_t plane = std::size_t{ctas} * threads;
  auto* out = s.allocate<std::uint32_t>(3 * plane);
  const void* kernel = s.generated_kernel("tmem");
  std::int64_t iterations = 0;
  const double bytes = 128.0 * a.registers() * a.group() * a.warps();
  const assay::Work work = a.latency ? assay::Work{.steps = kSteps} : assay::Work{.bytes = bytes};
  s.cycles(work, [&](const assay::Launch& l) {
    iterations = l.iterations;
    assay::StopwatchRecord* records = l.records;
    std::uint32_t zero = 0;
    void* arguments[] = {&records, &out, &iterations, &zero};
    const cudaLaunchConfig_t config{
        .gridDim = dim3(ctas), .blockDim = dim3(threads), .stream = l.stream};
    assay::check(cudaLaunchKernelExC(&config, kernel, arguments));
  });

  check_result(s, a, assay::download(out, 3 * plane, s.stream()), plane, iterations);
}

assay::Probe probe(const char* operation, const char* question) {
  return {.name = std::string("tmem/") + operation,
          .question = question,
          .cases = cases(operation),
          .targets = {Target::sm_100a, Target::sm_103a},
          .kernels = kernels,
          .run = run};
}

const assay::Registration ld{
    probe("ld", "How fast, and how soon, do registers get what tensor memory holds?")};
const assay::Registration st{probe("st", "How fast do registers reach tensor memory?")};

}  // namespace
