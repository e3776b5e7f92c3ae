// SPDX-License-Identifier: Apache-2.0
// Atomics in global and shared memory: throughput from all threads on one address to an address for
// each, and the latency of a chain.
//
// Addresses are run-time values that differ from lane to lane, so that ptxas cannot make one atomic
// of a warp's (it does where it sees that all lanes have one address). Where nothing is returned
// the instruction is red, as nvcc makes of an atomicAdd whose result is not used.
//
// For rates, floating-point sums take in turn an operand and its negative, odd threads the other
// way round, and so stay near zero. A sum of twos ends where one more is rounded away (512 in bf16,
// 4096 in f16): a loop around a compare-and-swap then stores what it found, every lane's compare
// holds at once, and one address would look several times as fast as it is. Each compare-and-swap
// compares with zero, and so fails after an address's first.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/callable.hpp"
#include "harness/device.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/statistics.hpp"
#include "probes/memory/two_clusters.hpp"

namespace {

using namespace assay;

constexpr int kThreads = 512, kUnroll = 16, kCheckedRounds = 2, kChecked = kUnroll * kCheckedRounds;
constexpr int kSlot = 16;  // bytes of an address: the widest operand
constexpr int kSharedBytes = kThreads * kSlot;
constexpr const char *kThroughput = "throughput", *kLatency = "latency";

struct Atomic {
  const char* name;
  const char* operation;  // as PTX writes it
  int words;              // 32-bit words of an operand
  std::uint32_t operand;  // each of its words that is not an upper half
  std::uint32_t result;   // of kChecked of them on zero
  const char* sass;       // of the reduction, where there is an instruction
};

// The floating-point sums that are checked, 32 times 2, are exact in every format.
constexpr Atomic kAtomics[] = {
    {"add_u32", "add.u32", 1, 3, 3 * kChecked, "ADD"},
    {"add_u64", "add.u64", 2, 3, 3 * kChecked, "ADD.64"},
    {"add_f32", "add.f32", 1, 0x40000000, 0x42800000, "ADD.F32"},
    {"add_f16x2", "add.noftz.f16x2", 1, 0x40004000, 0x54005400, "ADD.F16x2"},
    {"add_bf16x2", "add.noftz.bf16x2", 1, 0x40004000, 0x42804280, "ADD.BF16x2"},
    {"add_v4_f32", "v4.f32.add", 4, 0x40000000, 0x42800000, "ADD.F32x4"},
    {"max_u32", "max.u32", 1, 3, 3, "MAX"},
    {"min_s32", "min.s32", 1, 0x80000003, 0x80000003, "MIN.S32"},
    {"cas_b32", "cas.b32", 1, 3, 3, "CAS"},
    {"cas_b64", "cas.b64", 2, 3, 3, "CAS.64"},
};

const Atomic& atomic_of(const Case& c) {
  return *std::ranges::find(kAtomics, c.text("atomic"), [](const Atomic& a) { return a.name; });
}
bool is_shared(const Case& c) { return c.text("space") == "shared"; }
bool is_cas(const Atomic& a) { return std::string(a.operation).starts_with("cas"); }
bool is_float_sum(const Atomic& a) { return a.operand == 0x40000000 || a.operand == 0x40004000; }

// These have no instruction in shared memory but a loop around a compare-and-swap.
bool looped(const Atomic& a, bool shared) {
  const std::string operation = a.operation;
  return shared &&
         (operation.ends_with("f32") || operation.ends_with("f16x2") || operation == "add.u64");
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += (i ? ", " : "") + text;
  return times > 1 ? "{" + all + "}" : all;
}

// Of %value or %other, as `operand` says. With `wait`, the value returned becomes part of the next
// address: it is masked with zero.
std::string atomic_text(const Atomic& a, const char* operand, bool shared, bool wait) {
  const std::string space = shared ? "relaxed.cta.shared" : "relaxed.gpu.global";
  const bool wide = a.words == 2;
  const std::string value =
      wide ? fmt::format("{}64", operand) : repeated(fmt::format("{}32", operand), a.words);
  const std::string none = wide ? "%none64, " : "%none32, ";
  const std::string result = wide           ? "%result64"
                             : a.words == 4 ? "{%result32, %r1, %r2, %r3}"
                                            : "%result32";
  if (!wait && !is_cas(a))
    return fmt::format("  red.{}.{} [%address], {};\n", space, a.operation, value);
  std::string text = fmt::format("  atom.{}.{} {}, [%address], {}{};\n", space, a.operation, result,
                                 is_cas(a) ? none : "", value);
  if (!wait) return text;
  if (wide) text += "  cvt.u32.u64 %result32, %result64;\n";
  text += "  and.b32 %result32, %result32, %zero;\n";
  return text + (shared ? "  add.u32 %address, %address, %result32;\n"
                        : "  cvt.u64.u32 %offset, %result32;\n"
                          "  add.u64 %address, %address, %offset;\n");
}

KernelUse use_of(const Atomic& a, bool shared, bool latency, Target target) {
  PtxKernel kernel{
      .target = target, .entry = latency ? kLatency : kThroughput, .threads = kThreads};
  kernel.declarations = fmt::format(
      "  .reg .b32 %value32, %other32, %none32, %result32, %r1, %r2, %r3, %own;\n"
      "  .reg .b64 %value64, %other64, %none64, %result64, %offset, %from;\n  .reg .b32 %word<4>;\n"
      "  .reg .{} %address;\n  .shared .align 16 .b8 slots[{}];\n",
      shared ? "b32" : "b64", kSharedBytes);
  // in: the two operands of even threads, two words unused, then each thread's offset.
  kernel.setup = fmt::format(
      "  and.b32 %own, %thread, 1;\n  mad.wide.u32 %from, %own, 4, %in;\n"
      "  ld.global.u32 %value32, [%from];\n  cvt.u64.u32 %value64, %value32;\n"
      "  xor.b32 %own, %own, 1;\n  mad.wide.u32 %from, %own, 4, %in;\n"
      "  ld.global.u32 %other32, [%from];\n  cvt.u64.u32 %other64, %other32;\n"
      "  mov.b32 %none32, %zero;\n  cvt.u64.u32 %none64, %zero;\n"
      "  mad.lo.u32 %own, %cta, {}, %thread;\n"
      "  mad.wide.u32 %from, %own, 4, %in;\n  ld.global.u32 %own, [%from+16];\n",
      kThreads);
  if (shared)
    kernel.setup += fmt::format(
        "  mov.u32 %address, slots;\n  mad.lo.u32 %word0, %thread, {0}, %address;\n"
        "  st.shared.v4.u32 [%word0], {{%zero, %zero, %zero, %zero}};\n"
        "  add.u32 %address, %address, %own;\n",
        kSlot);
  else
    kernel.setup += "  cvt.u64.u32 %offset, %own;\n  add.u64 %address, %out, %offset;\n";
  for (int i = 0; i < kUnroll; ++i)
    kernel.loop += atomic_text(a, i % 2 == 0 ? "%value" : "%other", shared, latency);
  if (shared)
    kernel.finish = fmt::format(
        "  mov.u32 %word0, slots;\n  mad.lo.u32 %own, %thread, {0}, %word0;\n"
        "  ld.shared.v4.u32 {{%word0, %word1, %word2, %word3}}, [%own];\n"
        "  mad.wide.u32 %from, %thread, {0}, %out;\n"
        "  @%first st.global.v4.u32 [%from], {{%word0, %word1, %word2, %word3}};\n",
        kSlot);
  const bool loop = looped(a, shared);
  const std::string opcode =
      shared ? loop        ? "ATOMS"
               : is_cas(a) ? "ATOMS"
                           : fmt::format("ATOMS.{}", a.sass)
      : latency || is_cas(a)
          ? std::string("ATOMG.E")
          : (has(target, Feature::redg) ? std::string("REDG.E.") : std::string("RED.E.")) + a.sass;
  return {.kernel = kernel.entry,
          .sass = {{opcode, loop ? 1 : kUnroll, INT_MAX}},
          .ptx = ptx_text(kernel),
          .emulated = loop,
          .role = shared ? Role::latency : Role::none};
}

// Thread i of all has address i % addresses.
std::vector<std::uint32_t> inputs(std::uint32_t value, std::uint32_t other, std::size_t threads,
                                  std::size_t addresses, int slot) {
  std::vector<std::uint32_t> words = {value, other, 0, 0};
  for (std::size_t i = 0; i < threads; ++i)
    words.push_back(static_cast<std::uint32_t>(i % addresses) * static_cast<unsigned>(slot));
  return words;
}

constexpr std::size_t kLines = 64, kLineApart = 1024;  // words: homes change every 4 KiB on sm_90

class Bench {
 public:
  Bench(State& s, const Atomic& a, bool shared)
      : s_(s),
        a_(a),
        shared_(shared),
        ctas_(static_cast<std::size_t>(s.device().sm_count)),
        out_bytes_(std::max(ctas_ * kThreads * kSlot, kLines * kLineApart * 4)),
        in_(s.allocate<std::uint32_t>(4 + ctas_ * kThreads)),
        out_(s.allocate<std::uint32_t>(out_bytes_ / 4)) {}

  // Operations per clock, of one SM where memory is shared and else of all.
  Estimate rate(std::size_t addresses) {
    // Side by side, as an array of them would lie.
    upload(addresses, a_.words * 4, negated());
    const void* kernel = s_.generated_kernel(kThroughput);
    const Estimate cycles = s_.cycles_once([&](const Launch& l) {
      launch_generated(kernel, static_cast<int>(ctas_), kThreads, l, in_, out_);
    });
    return static_cast<double>(kThreads * kUnroll * (shared_ ? 1 : ctas_)) / cycles;
  }

  // Each on its own address: what a few rounds leave there is known.
  void check_values() {
    upload(threads(), kSlot, a_.operand);
    launch_checked(kThroughput, kThreads, ctas_);
    const auto found = download(out_, threads() * kSlot / 4, s_.stream());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto word = static_cast<int>(i % (kSlot / 4));
      const bool used = a_.words == 4 || word == 0;
      s_.require(found[i] == (used ? a_.result : 0),
                 fmt::format("word {} of address {} ended as {:#x}, not {:#x}", word,
                             i / (kSlot / 4), found[i], used ? a_.result : 0));
    }
  }

  // On the first word of line `line`, of kLines.
  Callable<void(const Launch&)> chain(std::size_t line) {
    upload(1, kSlot, negated());
    return [this, line, kernel = s_.generated_kernel(kLatency)](const Launch& l) {
      launch_generated(kernel, 1, 1, l, in_, out_ + line * kLineApart);
    };
  }
  std::size_t threads() const { return shared_ ? kThreads : ctas_ * kThreads; }

 private:
  // The operand that takes a floating-point 2 back: all that 2 has set is the exponent's top bit,
  // and the sign is the bit above it.
  std::uint32_t negated() const {
    return is_float_sum(a_) ? a_.operand | a_.operand << 1 : a_.operand;
  }
  void upload(std::size_t addresses, int slot, std::uint32_t other) {
    auto words = inputs(a_.operand, other, threads(), addresses, slot);
    if (shared_)  // CTAs are all alike
      for (std::size_t cta = 1; cta < ctas_; ++cta)
        words.insert(words.end(), words.begin() + 4, words.begin() + 4 + kThreads);
    check(
        cudaMemcpyAsync(in_, words.data(), words.size() * 4, cudaMemcpyHostToDevice, s_.stream()));
    check(cudaMemsetAsync(out_, 0, out_bytes_, s_.stream()));
    check(cudaStreamSynchronize(s_.stream()));
  }
  void launch_checked(const char* entry, int threads, std::size_t ctas) {
    const Buffer records(ctas * sizeof(StopwatchRecord));
    launch_generated(s_.generated_kernel(entry), static_cast<int>(ctas), threads,
                     {s_.stream(), kCheckedRounds, records.as<StopwatchRecord>()}, in_, out_);
    check(cudaStreamSynchronize(s_.stream()));
  }

  State& s_;
  const Atomic& a_;
  bool shared_;
  std::size_t ctas_, out_bytes_;
  std::uint32_t *in_, *out_;
};

// Atomics on global memory are carried out where the line is at home, in one of L2's partitions: a
// chain on one line tells of that line's distance. So many lines are looked at, and the nearest is
// measured; what the far ones take stands beside it.
void measure_latency(State& s, Bench& bench, bool shared) {
  std::size_t nearest = 0;
  std::optional<TwoClusters> homes;
  std::vector<double> of_lines;
  if (!shared) {
    for (std::size_t line = 0; line < kLines; ++line)
      of_lines.push_back(s.cycles_once(bench.chain(line)) / kUnroll);
    homes = two_clusters(of_lines);
    nearest = static_cast<std::size_t>(std::ranges::min_element(of_lines) - of_lines.begin());
  }
  s.cycles({.steps = kUnroll}, bench.chain(nearest));
  if (!homes) return;
  std::erase_if(of_lines, [&](double cycles) { return cycles < homes->boundary; });
  s.add_exact("far_latency_cycles", "cycle", Better::lower, median(of_lines));
}

void run(State& s) {
  const Atomic& a = atomic_of(s.which());
  const bool shared = is_shared(s.which());
  Bench bench(s, a, shared);
  bench.check_values();
  measure_latency(s, bench, shared);

  const char* unit = shared ? "op/clk/SM" : "op/clk";
  Series series{"ops_per_clock", unit, {{"addresses", {}}}, {}};
  std::vector<std::size_t> addresses;
  for (std::size_t n = 1; n < bench.threads(); n *= n < 64 ? 2 : 4) addresses.push_back(n);
  addresses.push_back(bench.threads());
  for (const std::size_t n : addresses) {
    series.axes[0].points.emplace_back(static_cast<std::int64_t>(n));
    series.add(bench.rate(n));
  }
  s.add_exact("ops_per_clock_one_address", unit, Better::higher, series.values.front());
  s.add_exact("ops_per_clock_own_addresses", unit, Better::higher, series.values.back());
  s.add_series(std::move(series));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* space : {"global", "shared"})
    for (const Atomic& a : kAtomics) {
      const std::string name = a.name;
      if (space == std::string("shared") && a.words == 4) continue;  // there is none
      all.push_back({.name = fmt::format("{}/{}", space, name),
                     .params = {{"space", space}, {"atomic", a.name}},
                     .suite = Suite::full});
      if (name == "add_v4_f32" || name == "add_bf16x2")
        all.back().targets = targets_with(Feature::vector_atomics);
    }
  return all;
}

const Registration registration{{
    .name = "memory/atomics",
    .question = "How long does an atomic take, and how many are done in a cycle, by how many "
                "threads share an address?",
    .metrics = {{"latency_cycles", "Cycles of one atomic in a chain of them on one address."},
                {"far_latency_cycles",
                 "The same on lines whose home is the far partition of L2; latency_cycles is then "
                 "of the nearest line."},
                {"ops_per_clock",
                 "Atomics done in a cycle, of one SM in shared memory and of all in global, by how "
                 "many addresses share them."},
                {"ops_per_clock_one_address",
                 "Atomics done in a cycle when all threads have one address."},
                {"ops_per_clock_own_addresses",
                 "Atomics done in a cycle when each thread has an address of its own."}},
    .cases = cases(),
    .pace = Pace::l2,
    .kernels =
        [](const Case& c, Target target) {
          return std::vector<KernelUse>{use_of(atomic_of(c), is_shared(c), false, target),
                                        use_of(atomic_of(c), is_shared(c), true, target)};
        },
    .run = run,
}};

}  // namespace
