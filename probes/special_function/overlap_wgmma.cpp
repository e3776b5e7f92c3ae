// SPDX-License-Identifier: Apache-2.0
// Whether 2^x of one warpgroup hides behind wgmma of another, as attention on Hopper arranges it.
//
// One loop: warps 0-3 start wgmmas, warps 4-7 compute 2^-x (see ex2.cpp); and the same loop with
// either alone. A round is balanced by the units' rates: an m64n256k16 takes 128 cycles of an SM's
// tensor cores, in which its special function units deliver 2048 results, 16 a thread.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "harness/element.hpp"
#include "harness/generated_kernel.hpp"
#include "harness/ptx/matrix_descriptor.hpp"
#include "harness/ptx_text.hpp"
#include "probes/special_function/overlap.hpp"

namespace {

using namespace assay;

constexpr int kThreads = 256;
constexpr int kM = 64, kN = 256, kK = 16, kRowBytes = 128;
constexpr int kTileBytes = (kM + kN) * kRowBytes, kAccumulators = kM * kN / 128;
constexpr int kMmas = 32, kEx2s = 16 * kMmas, kChains = 8;  // in one round, of one thread
constexpr double kStart = 1;                                // of accumulators and of x

struct Kernel {
  const char* entry;
  bool mma, ex2;

  std::string ptx() const;
};
constexpr Kernel kBoth{"both", true, true}, kMma{"mma", true, false}, kEx2{"ex2", false, true};

std::string mmas() {
  std::string accumulators, text = "  wgmma.fence.sync.aligned;\n";
  for (int r = 0; r < kAccumulators; ++r) accumulators += fmt::format("{}%d{}", r ? ", " : "", r);
  for (int i = 0; i < kMmas; ++i)
    text += fmt::format(
        "  wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{{}}}, %a{}, %b{}, %add, 1, 1, 0, "
        "0;\n",
        accumulators, i % 4, i % 4);
  return text + "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
}

std::string ex2s() {
  std::string text;
  for (int i = 0; i < kEx2s; ++i)
    text +=
        fmt::format("  neg.f32 %x{0}, %x{0};\n  ex2.approx.ftz.f32 %x{0}, %x{0};\n", i % kChains);
  return text;
}

// In: the tiles of A and B, then a word that everything starts as. Out: [register][thread],
// accumulators in threads 0-127, x in the others.
std::string Kernel::ptx() const {
  PtxKernel kernel{.target = Target::sm_90a, .entry = entry, .threads = kThreads};
  kernel.declarations = fmt::format(
      "  .shared .align 1024 .b8 tile[{}];\n  .reg .b32 %d<{}>;\n  .reg .f32 %x<{}>;\n"
      "  .reg .pred %add, %second;\n  .reg .b32 %at, %tile, %group;\n"
      "  .reg .b64 %from, %a<4>, %b<4>;\n",
      kTileBytes, kAccumulators, kChains);
  kernel.setup =
      "  mov.u32 %tile, tile;\n" + load_tile(kTileBytes, kThreads) +
      "  shr.u32 %group, %thread, 7;\n"
      "  shfl.sync.idx.b32 %group, %group, 0, 31, 0xffffffff;\n"  // known to be the warp's
      "  setp.ne.u32 %second, %group, 0;\n"
      "  mad.wide.u32 %out, %thread, 4, %out;\n"
      "  setp.ne.u32 %add, 1, 0;\n"
      "  shr.u32 %at, %tile, 4;\n"
      "  cvt.u64.u32 %from, %at;\n";
  for (int step = 0; step < 4; ++step) {
    const std::uint64_t a =
        ptx::advance(ptx::encode_k_major_128b(0), static_cast<unsigned>(step) * 32);
    kernel.setup += fmt::format("  add.u64 %a{0}, %from, {1};\n  add.u64 %b{0}, %from, {2};\n",
                                step, a, ptx::advance(a, kM * kRowBytes));
  }
  for (int r = 0; r < kAccumulators; ++r)
    kernel.setup += fmt::format("  ld.global.b32 %d{}, [%in+{}];\n", r, kTileBytes);
  for (int c = 0; c < kChains; ++c)
    kernel.setup += fmt::format("  ld.global.f32 %x{}, [%in+{}];\n", c, kTileBytes);
  kernel.loop = "  @%second bra second;\n" + (mma ? mmas() : "") + "  bra joined;\nsecond:\n" +
                (ex2 ? ex2s() : "") + "joined:\n";
  kernel.finish = "  @!%first bra stored;\n  @%second bra store_x;\n";
  for (int r = 0; r < kAccumulators; ++r)
    kernel.finish += fmt::format("  st.global.b32 [%out+{}], %d{};\n", r * kThreads * 4, r);
  kernel.finish += "  bra stored;\nstore_x:\n";
  for (int c = 0; c < kChains; ++c)
    kernel.finish += fmt::format("  st.global.f32 [%out+{}], %x{};\n", c * kThreads * 4, c);
  kernel.finish += "stored:\n";
  return ptx_text(kernel);
}

std::vector<KernelUse> kernels(const Case&, Target) {
  std::vector<KernelUse> uses;
  for (const Kernel& kernel : {kBoth, kMma, kEx2}) {
    const int mmas = kernel.mma ? kMmas : 0, ex2s = kernel.ex2 ? kEx2s : 0;
    uses.push_back({.kernel = kernel.entry,
                    .sass = {{"HGMMA.64x256x16.F32", mmas, mmas}, {"MUFU.EX2", ex2s, ex2s}},
                    .ptx = kernel.ptx()});
  }
  return uses;
}

std::function<void(const Launch&)> prepare(State& s, const Kernel& kernel) {
  constexpr std::size_t kTileWords = kTileBytes / 4;
  std::vector<std::uint32_t> in(kTileWords + 1);
  const GeneratedKernel loaded(s, kernel.entry, kThreads, in.size() * 4,
                               std::size_t{kAccumulators} * kThreads * 4);
  const auto word = [](const char* type, const auto& value) {
    return static_cast<std::uint32_t>(pack(type, 32, value));
  };
  constexpr int kRounds = 2;
  constexpr double kA = 0.5, kB = 0.25;
  for (std::size_t i = 0; i < kTileWords; ++i)
    in[i] = word("f16", i < kM * kRowBytes / 4 ? kA : kB);
  in[kTileWords] = word("f32", kStart);
  loaded.set_inputs(in);
  const auto out = loaded.outputs_after<std::uint32_t>(kRounds);
  const double sum = kernel.mma ? kStart + kRounds * kMmas * kK * kA * kB : kStart;
  double x = kStart;
  for (int i = 0; kernel.ex2 && i < kRounds * kEx2s / kChains; ++i) x = std::exp2(-x);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool second = i % kThreads >= 128;
    if (second && i >= std::size_t{kChains} * kThreads) continue;  // stays unwritten
    const double found = unpack("f32", out[i]), expected = second ? x : sum;
    s.require(std::abs(found - expected) <= 1e-5 * expected,
              fmt::format("a {} ended with {}, not {}", second ? "chain of 2^-x" : "accumulator",
                          found, expected));
  }
  std::mt19937_64 random(s.seed());
  std::uniform_real_distribution<double> spread(-1, 1);
  for (std::size_t i = 0; i < kTileWords; ++i)
    in[i] = word("f16", std::function<double()>([&] { return spread(random); }));
  loaded.set_inputs(in);
  return loaded.on_every_sm();
}

void run(State& s) {
  measure_overlap(s, {.flop = 2.0 * kM * kN * kK * kMmas, .ops = 128.0 * kEx2s}, prepare(s, kBoth),
                  prepare(s, kMma), prepare(s, kEx2));
}

const Registration registration{{
    .name = "special_function/overlap_wgmma",
    .question = "How much of the time of one warpgroup's 2^x hides behind another's wgmma?",
    .cases = {{.name = "m64n256",
               .params = {{"a", "f16"}, {"b", "f16"}, {"accumulate", "f32"}, {"state", "burst"}}}},
    .targets = {Target::sm_90a},
    .kernels = kernels,
    .run = run,
}};

}  // namespace
