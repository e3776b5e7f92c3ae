// SPDX-License-Identifier: Apache-2.0
#include "probes/special_function/overlap_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "harness/callable.hpp"
#include "harness/element.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "probes/tensor_core/mma_sync.hpp"
#include "probes/tensor_core/wgmma_form.hpp"

namespace assay::overlap {
namespace {

constexpr int kRowBytes = 128;
constexpr int kRegistersA = 4, kRegistersB = 2;  // of mma.sync
constexpr int kSums = 8;  // in turn, so that no addition waits for the one before
// Contracts towards 0.62, whatever it starts from.
constexpr double kScale = -0.25, kOffset = -0.5;
constexpr double kStart = 1, kA = 0.5, kB = 0.0625;  // for checking

// Shared memory of wgmma: the tile of A, then that of B.
int tile_bytes(const Kernel& kernel) { return (kM + kernel.type.n()) * kRowBytes; }
// MMAs of mma.sync side by side in S, m16n8.
int tiles(const Kernel& kernel) { return kernel.type.n() / 8; }

bool is_half(const Type& type) { return std::string_view(type.accumulator) == "f16"; }

// How often 2^x is taken of an element in a step.
int passes_over(const Kernel& kernel, int element) {
  const int elements = kernel.type.elements();
  return kernel.exps / elements + (element < kernel.exps % elements);
}

std::string registers(const char* prefix, int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i ? ", " : "", prefix, first + i);
  return text;
}
// Of S.
std::string registers(const Kernel& kernel, int buffer, int first, int count) {
  return registers("%d", buffer * kernel.type.registers() + first, count);
}

WgmmaForm wgmma_of(const Type& type) {
  return {.a = type.element, .b = type.element, .accumulator = type.accumulator, .n = type.n()};
}
InstructionRow mma_sync_of(const Type& type) {
  return mma_sync::row_of(
      {.a = type.element, .b = type.element, .accumulator = type.accumulator, .k = type.k()});
}

// One step's MMAs, one instruction an entry. They add to what 2^x left in S, or ptxas would put it
// off until behind them.
std::vector<std::string> mmas(const Kernel& kernel, int buffer) {
  std::vector<std::string> list;
  const Type& type = kernel.type;
  for (int step = 0; step < kDepth; ++step) {
    if (type.family == Family::wgmma) {
      list.push_back(wgmma_of(type).ptx(registers(kernel, buffer, 0, type.registers()),
                                        fmt::format("%a{}", step % 4),
                                        fmt::format("%b{}", step % 4), ""));
      continue;
    }
    for (int tile = 0; tile < tiles(kernel); ++tile) {
      // A of its own for each buffer, or their MMAs would be the same.
      std::string text = "  " + mma_sync_of(type).ptx + "\n";
      text = replace_all(text, "<d>", registers(kernel, buffer, 4 * tile, 4));
      text = replace_all(text, "<a>", registers("%a", buffer * kRegistersA, kRegistersA));
      list.push_back(replace_all(text, "<b>", registers("%b", tile * kRegistersB, kRegistersB)));
    }
  }
  return list;
}

// The work on one element in `x`, which adds to the sum of that number.
std::string work(const Softmax& softmax, const std::string& x, int sum) {
  return replace_all(
      fmt::format("  {};\n  ex2.approx.ftz.f32 <x>, <x>;\n{}",
                  softmax.scale ? "fma.rn.ftz.f32 <x>, <x>, %scale, %offset" : "neg.f32 <x>, <x>",
                  softmax.sum ? fmt::format("  add.rn.ftz.f32 %sum{0}, %sum{0}, <x>;\n", sum)
                              : std::string()),
      "<x>", x);
}

// One step's work on the elements, one register an entry. Those that have a second turn take it
// before the next few have their first, or ptxas keeps more values at hand than there are
// registers.
std::vector<std::string> exps(const Kernel& kernel, int buffer) {
  constexpr int kBlock = 16;
  const int step = is_half(kernel.type) ? 2 : 1;
  std::vector<std::string> list;
  for (int first = 0; first < kernel.type.elements(); first += kBlock)
    for (int pass = 0; pass < passes_over(kernel, first); ++pass)
      for (int j = first; j < first + kBlock; j += step) {
        if (pass >= passes_over(kernel, j)) continue;
        const std::string s = registers(kernel, buffer, j / step, 1);
        list.push_back(step == 1
                           ? work(kernel.softmax, s, j % kSums)
                           : fmt::format("  mov.b32 {{%h0, %h1}}, {0};\n  cvt.f32.f16 %x0, %h0;\n"
                                         "  cvt.f32.f16 %x1, %h1;\n{1}{2}"
                                         "  cvt.rn.f16x2.f32 {0}, %x1, %x0;\n",
                                         s, work(kernel.softmax, "%x0", j % kSums),
                                         work(kernel.softmax, "%x1", (j + 1) % kSums)));
      }
  return list;
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& entry : list) text += entry;
  return text;
}

// Entries of both lists, each list spread evenly over the whole.
std::string interleaved(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    text += a[i];
    for (; next < b.size() && next * a.size() < (i + 1) * b.size(); ++next) text += b[next];
  }
  for (; next < b.size(); ++next) text += b[next];
  return text;
}

// The start of a step's wgmmas, or of some of them, as one group.
std::string start_wgmmas(const Kernel& kernel, int buffer, int first = 0, int end = kDepth) {
  if (!kernel.mma) return "";
  const bool turns = kernel.schedule.ping_pong;
  const std::vector<std::string> all = mmas(kernel, buffer);
  return (turns ? "  bar.sync %mine, 256;\n" : "") + std::string("  wgmma.fence.sync.aligned;\n") +
         joined({all.begin() + first, all.begin() + end}) + "  wgmma.commit_group.sync.aligned;\n" +
         (turns ? "  bar.arrive %next, 256;\n" : "");
}

std::string wait_for_wgmmas(const Kernel& kernel, int pending) {
  return kernel.mma ? fmt::format("  wgmma.wait_group.sync.aligned {};\n", pending) : "";
}

// MMAs into S, then 2^x of it.
std::string in_order(const Kernel& kernel) {
  const std::string multiply =
      kernel.type.family == Family::wgmma
          ? start_wgmmas(kernel, 0) + wait_for_wgmmas(kernel, 0)
          : joined(kernel.mma ? mmas(kernel, 0) : std::vector<std::string>{});
  return multiply + joined(exps(kernel, 0));
}

// The wgmmas of a step into one buffer, then 2^x of the other, which the step before filled. They
// start before those of the step before are waited for, so that the tensor cores always have some.
// What a loop has in flight at its end, ptxas 13.0 loses sight of, and then waits behind each
// wgmma: so rounds have many steps, and end with a wait. What is not in flight, it mixes into the
// start of the wgmmas, which then come late: so the last wgmma of a round's last step is left to
// the next.
std::string two_stage_wgmma(const Kernel& kernel) {
  const int last = kernel.steps() - 1;
  std::string text = wait_for_wgmmas(kernel, 0) + start_wgmmas(kernel, 1, kDepth - 1);
  for (int step = 0; step <= last; ++step)
    text += start_wgmmas(kernel, step % 2, 0, step == last ? kDepth - 1 : kDepth) +
            wait_for_wgmmas(kernel, 1) + joined(exps(kernel, 1 - step % 2));
  return text;
}

std::string two_stage_mma_sync(const Kernel& kernel) {
  std::string text;
  for (int step = 0; step < kernel.steps(); ++step)
    text += interleaved(kernel.mma ? mmas(kernel, step % 2) : std::vector<std::string>{},
                        exps(kernel, 1 - step % 2));
  return text;
}

std::string loop(const Kernel& kernel) {
  if (kernel.buffers() == 1) return in_order(kernel);
  return kernel.type.family == Family::wgmma ? two_stage_wgmma(kernel) : two_stage_mma_sync(kernel);
}

// In: for wgmma the tiles, for mma.sync the fragments of A and B, all of them [word]; then the
// words that elements and sums start as, scale and offset.
int operand_words(const Kernel& kernel) {
  return kernel.type.family == Family::wgmma
             ? tile_bytes(kernel) / 4
             : (kernel.buffers() * kRegistersA + tiles(kernel) * kRegistersB) * 32;
}
// Of S in a thread, all buffers.
int state_registers(const Kernel& kernel) { return kernel.buffers() * kernel.type.registers(); }
int out_registers(const Kernel& kernel) { return state_registers(kernel) + kSums; }

std::string setup(const Kernel& kernel) {
  std::string text;
  if (kernel.type.family == Family::wgmma) {
    text += "  mov.u32 %tile, tile;\n" + load_tile(tile_bytes(kernel), kernel.threads()) +
            "  setp.ne.u32 %add, 1, 0;\n"
            "  shr.u32 %at, %tile, 4;\n  cvt.u64.u32 %from, %at;\n";
    for (int step = 0; step < 4; ++step) {
      const std::uint64_t a =
          ptx::advance(ptx::encode_k_major_128b(0), static_cast<unsigned>(step) * 32);
      text += fmt::format("  add.u64 %a{0}, %from, {1};\n  add.u64 %b{0}, %from, {2};\n", step, a,
                          ptx::advance(a, kM * kRowBytes));
    }
  } else {
    text +=
        "  and.b32 %at, %thread, 31;\n"
        "  mad.wide.u32 %from, %at, 4, %in;\n";
    const auto load = [&](const char* name, int i, int slot) {
      text += fmt::format("  ld.global.b32 %{}{}, [%from+{}];\n", name, i, slot * 32 * 4);
    };
    const int of_a = kernel.buffers() * kRegistersA;
    for (int i = 0; i < of_a; ++i) load("a", i, i);
    for (int i = 0; i < tiles(kernel) * kRegistersB; ++i) load("b", i, of_a + i);
  }
  const int words = operand_words(kernel) * 4;
  for (int i = 0; i < state_registers(kernel); ++i)
    text += fmt::format("  ld.global.b32 %d{}, [%in+{}];\n", i, words);
  for (int i = 0; i < kSums; ++i)
    text += fmt::format("  ld.global.f32 %sum{}, [%in+{}];\n", i, words + 4);
  text += fmt::format("  ld.global.f32 %scale, [%in+{}];\n  ld.global.f32 %offset, [%in+{}];\n",
                      words + 8, words + 12);
  // Barrier g + 1 lets group g start its MMAs. Its turn comes from the group before; the first
  // turn of group 0 from the last group, once, before the loop.
  if (kernel.schedule.ping_pong && kernel.mma)
    text += fmt::format(
        "  shr.u32 %at, %thread, 7;\n"
        "  shfl.sync.idx.b32 %at, %at, 0, 31, 0xffffffff;\n"
        "  add.u32 %mine, %at, 1;\n"
        "  setp.eq.u32 %last, %mine, {0};\n"
        "  selp.b32 %next, 1, %at, %last;\n"
        "  @!%last add.u32 %next, %next, 2;\n"
        "  @%last bar.arrive %next, 256;\n",
        kernel.schedule.groups);
  return text;
}

// Out: [register][thread], S and the sums.
std::string finish(const Kernel& kernel) {
  std::string text;
  if (kernel.schedule.ping_pong && kernel.mma)  // takes the turn that nobody waits for
    text += "  setp.eq.u32 %last, %mine, 1;\n  @%last bar.sync %mine, 256;\n";
  if (kernel.type.family == Family::wgmma) text += "  wgmma.wait_group.sync.aligned 0;\n";
  text += "  @!%first bra stored;\n  mad.wide.u32 %out, %thread, 4, %out;\n";
  const int state = state_registers(kernel);
  for (int r = 0; r < out_registers(kernel); ++r)
    text += fmt::format("  st.global.b32 [%out+{}], %{}{};\n", r * kernel.threads() * 4,
                        r < state ? "d" : "sum", r < state ? r : r - state);
  return text + "stored:\n";
}

std::string ptx(const Kernel& kernel, Target target) {
  const bool wgmma = kernel.type.family == Family::wgmma;
  return ptx_text(
      {.target = target,
       .entry = kernel.entry(),
       .threads = kernel.threads(),
       .declarations =
           fmt::format("  .reg .b32 %d<{}>;\n  .reg .f32 %sum<{}>, %scale, %offset, %x<2>;\n"
                       "  .reg .b16 %h<2>;\n"
                       "  .reg .pred %add, %last;\n"
                       "  .reg .b32 %at, %tile, %mine, %next;\n  .reg .b64 %from;\n",
                       state_registers(kernel), kSums) +
           (wgmma ? fmt::format("  .shared .align 1024 .b8 tile[{}];\n  .reg .b64 %a<4>, %b<4>;\n",
                                tile_bytes(kernel))
                  : fmt::format("  .reg .b32 %a<{}>, %b<{}>;\n", kernel.buffers() * kRegistersA,
                                tiles(kernel) * kRegistersB)),
       .setup = setup(kernel),
       .loop = loop(kernel),
       .finish = finish(kernel)});
}

}  // namespace

int Type::registers() const { return elements() * element_bits(accumulator) / 32; }

int Type::k() const { return 32 * 8 / element_bits(element); }  // 32 bytes of either family's

std::string Kernel::entry() const {
  return mma && exps ? fmt::format("both_{}", exps) : mma ? "mma" : fmt::format("exp_{}", exps);
}

double Kernel::flop() const {
  return mma ? 2.0 * kM * type.n() * type.k() * kDepth * steps() * schedule.groups : 0;
}

KernelUse Kernel::use(Target target) const {
  const bool wgmma = type.family == Family::wgmma;
  const std::string opcode =
      wgmma ? wgmma_of(type).opcode() : mma_sync_of(type).sass(target).front().opcode;
  const int count = mma ? steps() * kDepth * (wgmma ? 1 : tiles(*this)) : 0, exp = steps() * exps;
  KernelUse use{.kernel = entry(),
                .sass = {{opcode, count, count},
                         {"MUFU.EX2", exp, exp},
                         {"FFMA", softmax.scale ? exp : 0, softmax.scale ? exp : 0},
                         {"FADD", softmax.sum ? exp : 0, softmax.sum ? exp : 0},
                         {"FMUL", 0, 0}},
                .ptx = ptx(*this, target)};
  if (is_half(type)) {
    use.sass.push_back({"HADD2.F32", exp, exp});
    use.sass.push_back({"F2FP", exp / 2, exp / 2});
  }
  // A wait for each step: if ptxas found the MMAs unsafe to overlap, it would have put in more.
  const int waits = buffers() == 2 ? steps() + 1 : steps();
  if (wgmma && mma) use.sass.push_back({"WARPGROUP.DEPBAR", waits, waits});
  return use;
}

Expected expected_after(const Kernel& kernel, int rounds, double product) {
  const int buffers = kernel.buffers(), elements = kernel.type.elements();
  const int last = kernel.steps() - 1;
  Expected now{std::vector<double>(static_cast<std::size_t>(buffers * elements), kStart), 0};
  const auto element = [&](int buffer, int j) -> double& {
    return now.elements[static_cast<std::size_t>(buffer * elements + j)];
  };
  const auto multiply = [&](int buffer, int mmas) {
    for (int j = 0; kernel.mma && j < elements; ++j) element(buffer, j) += mmas * product;
  };
  for (int step = 0; step < rounds * kernel.steps(); ++step) {
    const int filled = step % buffers, ready = buffers == 2 ? 1 - filled : filled;
    const bool moves = kernel.type.family == Family::wgmma && buffers == 2;  // a wgmma, see above
    if (moves && step % kernel.steps() == 0) multiply(1, 1);
    multiply(filled, moves && step % kernel.steps() == last ? kDepth - 1 : kDepth);
    for (int j = 0; j < elements; ++j)
      for (int pass = 0; pass < passes_over(kernel, j); ++pass) {
        const double s = element(ready, j);
        element(ready, j) = std::exp2(kernel.softmax.scale ? kScale * s + kOffset : -s);
        if (kernel.softmax.sum) now.sum += element(ready, j);
      }
  }
  return now;
}

double tolerance(const Kernel& kernel, double product) {
  constexpr double kApproximate = 1e-4;  // many ex2.approx, each 2^-22 off
  // Of a sum of 8-bit floats wgmma keeps 13 bits behind the point of its greatest term, and cuts
  // (numerics/accumulate); an f16 keeps 10.
  const int bits = is_half(kernel.type) ? 10 : element_bits(kernel.type.element) == 8 ? 13 : 23;
  // Each of a step's MMAs may lose so much of s, of which 2^x makes scale ln 2 s times as much.
  const double greatest = kStart + kDepth * product;
  const double scale = kernel.softmax.scale ? -kScale : 1;
  const double grows = std::max(1.0, scale * std::numbers::ln2 * greatest);
  return std::max(kApproximate, kDepth * std::ldexp(grows, -bits));
}

Callable<void(const Launch&)> prepare(State& s, const Kernel& kernel) {
  constexpr int kRounds = 2;
  const Type& type = kernel.type;
  const auto words = static_cast<std::size_t>(operand_words(kernel));
  const std::size_t words_a = type.family == Family::wgmma
                                  ? kM * kRowBytes / 4
                                  : static_cast<std::size_t>(kernel.buffers()) * kRegistersA * 32;
  const auto word = [](const char* type, const auto& value) {
    return static_cast<std::uint32_t>(pack(type, 32, value));
  };
  const auto threads = static_cast<std::size_t>(kernel.threads());
  const GeneratedKernel loaded(s, kernel.entry(), kernel.threads(), (words + 4) * 4,
                               static_cast<std::size_t>(out_registers(kernel)) * threads * 4);
  std::vector<std::uint32_t> in(words);
  for (std::size_t i = 0; i < words; ++i) in[i] = word(type.element, i < words_a ? kA : kB);
  in.push_back(word(type.accumulator, kStart));
  for (const double value : {0.0, kScale, kOffset}) in.push_back(word("f32", value));
  loaded.set_inputs(in);

  const double product = type.k() * kA * kB, within = tolerance(kernel, product);
  const Expected expected = expected_after(kernel, kRounds, product);
  const auto out = loaded.outputs_after<std::uint32_t>(kRounds);
  const auto require = [&](double found, double wanted, const char* what) {
    s.require(std::abs(found - wanted) <= within * std::abs(wanted),
              fmt::format("{}: {} ended as {}, not {} within {:.2g} of it", kernel.entry(), what,
                          found, wanted, within));
  };
  const std::size_t packed = is_half(type) ? 2 : 1;
  const auto state = static_cast<std::size_t>(state_registers(kernel));
  for (std::size_t thread = 0; thread < threads; ++thread) {
    for (std::size_t j = 0; j < expected.elements.size(); ++j)
      require(unpack(type.accumulator, out[j / packed * threads + thread] >> (j % packed * 16)),
              expected.elements[j], "an element of S");
    double sum = 0;
    for (std::size_t i = 0; i < kSums; ++i)
      sum += unpack("f32", out[(state + i) * threads + thread]);
    require(sum, expected.sum, "the sum of a thread");
  }
  std::mt19937_64 random(s.seed());
  std::uniform_real_distribution<double> spread(-1, 1);
  for (std::size_t i = 0; i < words; ++i)
    in[i] = word(type.element, Callable<double()>([&] { return spread(random); }));
  loaded.set_inputs(in);
  return loaded.on_every_sm();
}

}  // namespace assay::overlap
