// SPDX-License-Identifier: Apache-2.0
// wgmma: Hopper's warpgroup-level matrix multiply-accumulate, A and B both in shared memory (SS).
//
// Rows of A and B are 128 bytes, 128-byte swizzled, K-major, as TMA would leave them; each
// instruction takes 32 bytes of K, so four in a row walk along one tile and start again. Successive
// instructions of a warpgroup add to the same accumulators, which the hardware pipelines: published
// latencies (Luo et al., arXiv:2501.12084, table 9) are the interval of such a chain of one
// warpgroup, and so is latency_cycles here. Two warpgroups in turn hide what is left between
// groups.
#include <fmt/format.h>

#include <random>

#include "harness/element.hpp"
#include "harness/generated_kernel.hpp"
#include "harness/limits.hpp"
#include "harness/ptx/matrix_descriptor.hpp"
#include "harness/ptx_text.hpp"

namespace {

using namespace assay;

constexpr int kRowBytes = 128, kRowsA = 64;
constexpr int kUnroll = 32;  // in one commit group: what the wait costs is spread over them

struct Type {
  const char *element, *accumulator, *ptx_types, *flags, *opcode;  // opcode after MxNxK
  int k;
};
// The trailing zeros say "not negated", for 16-bit types also "not transposed".
constexpr Type kTypes[] = {
    {"bf16", "f32", "f32.bf16.bf16", ", 1, 1, 0, 0", ".F32.BF16", 16},
    {"f16", "f32", "f32.f16.f16", ", 1, 1, 0, 0", ".F32", 16},
    {"tf32", "f32", "f32.tf32.tf32", ", 1, 1", ".F32.TF32", 8},
    {"e4m3", "f32", "f32.e4m3.e4m3", ", 1, 1", ".F32.E4M3.E4M3", 32},
    {"s8", "s32", "s32.s8.s8", "", ".S8.S8", 32},
};

const Type& type_of(const Case& c) {
  for (const Type& type : kTypes)
    if (c.text("a") == type.element) return type;
  throw std::logic_error("a case of an unknown type");
}

struct Kernel {
  const Type& type;
  int n, warpgroups;
  const char* entry;

  int threads() const { return warpgroups * 128; }
  int registers() const { return n / 2; }  // 64 x n accumulators over 128 threads
  int tile_bytes() const { return (kRowsA + n) * kRowBytes; }
  // Inputs: the tiles of A and B, then the accumulators, [register][thread].
  std::size_t in_words() const {
    return static_cast<std::size_t>(tile_bytes() / 4 + registers() * threads());
  }
  std::string ptx(Target target) const;
};

std::string Kernel::ptx(Target target) const {
  std::string accumulators;
  for (int r = 0; r < registers(); ++r) accumulators += fmt::format("{}%d{}", r ? ", " : "", r);
  PtxKernel kernel{.target = target, .entry = entry, .threads = threads()};
  kernel.declarations = fmt::format(
      "  .shared .align 1024 .b8 tile[{}];\n  .reg .b32 %d<{}>;\n"
      "  .reg .pred %add;\n  .reg .b32 %at, %tile;\n  .reg .b64 %from, %a<4>, %b<4>;\n",
      tile_bytes(), registers());
  kernel.setup = "  mov.u32 %tile, tile;\n" + load_tile(tile_bytes(), threads()) +
                 "  mad.wide.u32 %in, %thread, 4, %in;\n"
                 "  mad.wide.u32 %out, %thread, 4, %out;\n"
                 "  setp.ne.u32 %add, 1, 0;\n";
  for (int r = 0; r < registers(); ++r)
    kernel.setup +=
        fmt::format("  ld.global.b32 %d{}, [%in+{}];\n", r, tile_bytes() + r * threads() * 4);
  // Descriptors: the constant fields, the address in units of 16 bytes, 32 bytes per step of K.
  kernel.setup += "  shr.u32 %at, %tile, 4;\n  cvt.u64.u32 %from, %at;\n";
  for (int step = 0; step < 4; ++step) {
    const std::uint64_t a = ptx::advance(ptx::encode_k_major_128b(0), step * 32);
    const std::uint64_t b = ptx::advance(a, kRowsA * kRowBytes);
    kernel.setup +=
        fmt::format("  add.u64 %a{0}, %from, {1};\n  add.u64 %b{0}, %from, {2};\n", step, a, b);
  }
  kernel.loop = "  wgmma.fence.sync.aligned;\n";
  for (int u = 0; u < kUnroll; ++u)
    kernel.loop +=
        fmt::format("  wgmma.mma_async.sync.aligned.m64n{}k{}.{} {{{}}}, %a{}, %b{}, %add{};\n", n,
                    type.k, type.ptx_types, accumulators, u % 4, u % 4, type.flags);
  kernel.loop += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (int r = 0; r < registers(); ++r)
    kernel.finish +=
        fmt::format("  @%first st.global.b32 [%out+{}], %d{};\n", r * threads() * 4, r);
  return ptx_text(kernel);
}

Kernel throughput_of(const Case& c) {
  return {type_of(c), static_cast<int>(c.i64("n")), 2, "throughput"};
}
Kernel latency_of(const Case& c) {
  return {type_of(c), static_cast<int>(c.i64("n")), 1, "latency"};
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  std::vector<KernelUse> uses;
  for (const Kernel& kernel : {throughput_of(c), latency_of(c)}) {
    const std::string element = kernel.type.element;
    const char* family = element == "e4m3" ? "QGMMA" : element == "s8" ? "IGMMA" : "HGMMA";
    uses.push_back({.kernel = kernel.entry,
                    .sass = {{fmt::format("{}.64x{}x{}{}", family, kernel.n, kernel.type.k,
                                          kernel.type.opcode),
                              kUnroll, kUnroll}},
                    .ptx = kernel.ptx(target)});
  }
  return uses;
}

// With all elements of A and of B alike, k products are added to every accumulator each time,
// wherever in the tiles an element lies.
void check_values(State& s, const Kernel& kernel, const GeneratedKernel& loaded) {
  const double a = 0.5, b = kernel.type.accumulator[0] == 's' ? 4 : 0.25, d0 = 3;
  const double a_used = kernel.type.accumulator[0] == 's' ? 2 : a;
  std::vector<std::uint32_t> words(kernel.in_words());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t byte = i * 4;
    const bool in_a = byte < kRowsA * kRowBytes;
    words[i] = static_cast<std::uint32_t>(byte < static_cast<std::size_t>(kernel.tile_bytes())
                                              ? pack(kernel.type.element, 32, in_a ? a_used : b)
                                              : pack(kernel.type.accumulator, 32, d0));
  }
  loaded.set_inputs(words);
  const double expected = d0 + 2 * kUnroll * kernel.type.k * a_used * b;
  for (const std::uint32_t word : loaded.outputs_after<std::uint32_t>(2)) {
    const double found = unpack(kernel.type.accumulator, word);
    s.require(found == expected,
              fmt::format("an accumulator ended with {}, not {}", found, expected));
  }
}

std::function<void(const Launch&)> prepare(State& s, const Kernel& kernel) {
  const GeneratedKernel loaded(s, kernel.entry, kernel.threads(), kernel.in_words() * 4,
                               static_cast<std::size_t>(kernel.registers() * kernel.threads()) * 4);
  check_values(s, kernel, loaded);
  std::mt19937_64 random(s.seed());
  const double reach = kernel.type.accumulator[0] == 's' ? 127 : 1;
  std::uniform_real_distribution<double> spread(-reach, reach);
  std::vector<std::uint32_t> words(kernel.in_words());
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = static_cast<std::uint32_t>(
        i * 4 < static_cast<std::size_t>(kernel.tile_bytes())
            ? pack(kernel.type.element, 32, [&] { return spread(random); })
            : pack(kernel.type.accumulator, 32, 1.0));
  loaded.set_inputs(words);
  return loaded.on_every_sm();
}

void run(State& s) {
  const Kernel both = throughput_of(s.which());
  const double flop = 2.0 * kRowsA * both.n * both.type.k * kUnroll * both.warpgroups;
  s.cycles({.flop = flop, .limit = limits::tensor(s.target(), both.type.element)},
           prepare(s, both));
  s.cycles({.steps = kUnroll}, prepare(s, latency_of(s.which())));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Type& type : kTypes)
    for (const std::int64_t n : {256, 128, 64, 32, 16, 8})
      for (const char* state : {"burst", "sustained"}) {
        const bool sustained = state[0] == 's';
        if (sustained && n != 256) continue;
        all.push_back(
            {.name = fmt::format("{}/m64n{}/ss{}", type.element, n, sustained ? "/sustained" : ""),
             .params = {{"a", type.element},
                        {"b", type.element},
                        {"accumulate", type.accumulator},
                        {"n", n},
                        {"k", std::int64_t{type.k}},
                        {"source", "ss"},
                        {"state", state}},
             .suite = n == 256 ? Suite::quick : Suite::full});
      }
  return all;
}

const Registration registration{{
    .name = "tensor_core/wgmma",
    .question = "What does Hopper's warpgroup MMA deliver per data type and N, and at which "
                "interval does one warpgroup issue it?",
    .cases = cases(),
    .targets = {Target::sm_90a},
    .kernels = kernels,
    .run = run,
}};

}  // namespace
