// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma: the matrix multiply-accumulate of sm_100 and sm_103, A and B in shared memory (SS),
// the accumulators in tensor memory, one CTA.
//
// Rows of A and B are 128 bytes, 128-byte swizzled, K-major, as TMA would leave them; every type's
// instruction takes 32 bytes of K, so four in a row walk along one tile and start again. All add to
// the same accumulators, in order, as a kernel's do along K. One thread issues: a batch of MMAs and
// a commit, then the wait for the batch before, so that the tensor core always has one in hand.
// latency_cycles is one MMA alone, from its issue through commit to the barrier's phase being seen.
#include <fmt/format.h>

#include <random>

#include "harness/element.hpp"
#include "harness/generated_kernel.hpp"
#include "harness/limits.hpp"
#include "harness/ptx/tcgen05_descriptor.hpp"
#include "harness/ptx_text.hpp"

namespace {

using namespace assay;
namespace umma = assay::ptx::tcgen05;

constexpr int kThreads = 128;  // each warp reads its 32 lanes of the accumulators
constexpr int kRowBytes = 128, kM = 128;
constexpr int kBatch = 16, kAlone = 8;  // MMAs: of one commit; of one round of the latency loop
// Tensor memory: accumulators in columns 0 to N - 1, then scales, one 32-bit word for 4 blocks of a
// row: four columns for the rows of A, up to eight for the columns of B.
constexpr int kScalesOfA = 256, kScalesOfB = 272, kScaleColumns = 32;

struct Type {
  const char* name;     // of the case
  const char* element;  // what tiles are filled with
  const char* kind;     // and qualifiers
  const char* opcode;
  const char* limit;
  int k;
  double a, b;  // for checking
  umma::Kind code;
  umma::Element type;

  bool scaled() const { return code == umma::Kind::mxf4nvf4; }
};
// nvf4: e2m1 in blocks of 16 that share a ue4m3 scale. The instruction of K = 96, which only sm_103
// has, is another.
constexpr Type kTypes[] = {
    {"bf16", "bf16", "f16", "UTCHMMA", "bf16", 16, 0.5, 0.25, umma::Kind::f16, umma::Element::bf16},
    {"f16", "f16", "f16", "UTCHMMA", "f16", 16, 0.5, 0.25, umma::Kind::f16, umma::Element::f16},
    {"e4m3", "e4m3", "f8f6f4", "UTCQMMA", "e4m3", 32, 0.5, 0.25, umma::Kind::f8f6f4,
     umma::Element::e4m3},
    {"nvf4", "e2m1", "mxf4nvf4.block_scale.block16", "UTCOMMA", "mxf4", 64, 1, 0.5,
     umma::Kind::mxf4nvf4, umma::Element::e2m1},
};

const Type& type_of(const Case& c) {
  for (const Type& type : kTypes)
    if (c.text("a") == type.name) return type;
  throw std::logic_error("a case of an unknown type");
}

struct Kernel {
  const Type& type;
  int n;
  bool latency;

  const char* entry() const { return latency ? "latency" : "throughput"; }
  int mmas() const { return latency ? kAlone : 2 * kBatch; }  // in one round of the loop
  int tile_bytes() const { return (kM + n) * kRowBytes; }
  // Dynamic shared memory: the tiles of A and B, two barriers, the address of the accumulators.
  int barriers() const { return tile_bytes(); }
  int slot() const { return tile_bytes() + 16; }
  int shared_bytes() const { return tile_bytes() + 32; }
  // Inputs: the tiles, the word that all accumulators start as, the word that all scales are.
  std::size_t in_words() const { return static_cast<std::size_t>(tile_bytes() / 4 + 2); }
  std::size_t out_words() const { return static_cast<std::size_t>(n * kThreads); }

  std::string setup() const;
  std::string mma(int step) const;
  std::string loop() const;
  std::string finish() const;
  std::string ptx(Target target) const;
};

std::string repeated(const std::string& reg, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + reg;
  return text;
}

std::string Kernel::setup() const {
  std::string text = fmt::format(
      "  mov.u32 %tile, tile;\n"
      "  add.u32 %bar0, %tile, {0};\n"
      "  add.u32 %bar1, %tile, {0} + 8;\n"
      "  add.u32 %slot, %tile, {1};\n"
      "  @%lead mbarrier.init.shared::cta.b64 [%bar0], 1;\n"
      "  @%lead mbarrier.init.shared::cta.b64 [%bar1], 1;\n"
      "  fence.mbarrier_init.release.cluster;\n",
      barriers(), slot());
  text += load_tile(tile_bytes(), kThreads) + allocate_tensor_memory("%slot");
  // Warp w reaches lanes 32 w and up: bits 16 and up of an address. Each fills them in all columns,
  // 32 at a time.
  text += fmt::format(
      "  shr.u32 %warp, %thread, 5;\n"
      "  shfl.sync.idx.b32 %warp, %warp, 0, 31, 0xffffffff;\n"  // now known to be the warp's
      "  setp.ne.u32 %idle, %warp, 0;\n"
      "  shl.b32 %lanes, %warp, 21;\n"
      "  add.u32 %lanes, %lanes, %tmem;\n"
      "  ld.global.b32 %accumulator, [%in+{}];\n"
      "  ld.global.b32 %scale, [%in+{}];\n",
      tile_bytes(), tile_bytes() + 4);
  const auto store = [&](int column, const std::string& reg) {
    text += fmt::format("  tcgen05.st.sync.aligned.32x32b.x32.b32 [%lanes+{}], {{{}}};\n", column,
                        repeated(reg, 32));
  };
  for (int column = 0; column < n; column += 32) store(column, "%accumulator");
  if (type.scaled()) store(kScalesOfA, "%scale");
  static_assert(kScalesOfB + 256 / 32 <= kScalesOfA + kScaleColumns);
  text += fmt::format(
      "  tcgen05.wait::st.sync.aligned;\n"
      "  tcgen05.fence::before_thread_sync;\n"
      "  bar.sync 0;\n"
      "  tcgen05.fence::after_thread_sync;\n"
      "  add.u32 %scales_a, %tmem, {};\n"
      "  add.u32 %scales_b, %tmem, {};\n"
      "  mov.u32 %parity, 0;\n"
      "  setp.ne.u32 %add, 1, 0;\n"
      "  shr.u32 %at, %tile, 4;\n"
      "  cvt.u64.u32 %from, %at;\n",
      kScalesOfA, kScalesOfB);
  for (int step = 0; step < 4; ++step) {
    const std::uint64_t a = ptx::advance(umma::k_major_128b(0), static_cast<unsigned>(step) * 32);
    text += fmt::format("  add.u64 %a{0}, %from, {1};\n  add.u64 %b{0}, %from, {2};\n", step, a,
                        ptx::advance(a, kM * kRowBytes));
  }
  return text;
}

std::string Kernel::mma(int step) const {
  const umma::Instruction what{.kind = type.code, .a = type.type, .b = type.type, .m = kM, .n = n};
  const std::uint32_t descriptor =
      type.scaled() ? umma::instruction_descriptor(what, {.type = umma::Scale::ue4m3})
                    : umma::instruction_descriptor(what);
  return fmt::format(
      "  @%elected tcgen05.mma.cta_group::1.kind::{} [%tmem], %a{}, %b{}, {}{}, %add;\n", type.kind,
      step % 4, step % 4, descriptor, type.scaled() ? ", [%scales_a], [%scales_b]" : "");
}

std::string commit(int barrier) {
  return fmt::format(
      "  @%elected tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
      "[%bar{}];\n",
      barrier);
}

// For the phase of this parity to end.
std::string wait(const std::string& label, int barrier, const std::string& parity) {
  return fmt::format(
      "{0}:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar{1}], {2};\n"
      "  @!%done bra {0};\n",
      label, barrier, parity);
}

std::string Kernel::loop() const {
  // ptxas sees that the elected lane of one warp issues, and needs no loop over lanes.
  std::string text = "  @%idle bra issued;\n  elect.sync _|%elected, 0xffffffff;\n";
  if (latency) {
    for (int i = 0; i < kAlone; ++i)
      text += mma(0) + commit(0) + wait(fmt::format("wait{}", i), 0, "%parity") +
              "  xor.b32 %parity, %parity, 1;\n";
    return text + "issued:\n";
  }
  // The wait for barrier 1 is for the round before: in the first one for the phase before all.
  for (int i = 0; i < kBatch; ++i) text += mma(i);
  text += commit(0) + "  xor.b32 %before, %parity, 1;\n" + wait("wait1", 1, "%before");
  for (int i = 0; i < kBatch; ++i) text += mma(i);
  text += commit(1) + wait("wait0", 0, "%parity") + "  xor.b32 %parity, %parity, 1;\n";
  return text + "issued:\n";
}

// Out: the accumulators, [column][lane].
std::string Kernel::finish() const {
  std::string text;
  if (!latency)
    text += "  xor.b32 %before, %parity, 1;\n  @%idle bra drained;\n" +
            wait("drain", 1, "%before") + "drained:\n";
  text +=
      "  bar.sync 0;\n"
      "  tcgen05.fence::after_thread_sync;\n"
      "  mad.wide.u32 %out, %thread, 4, %out;\n";
  std::string registers;
  for (int r = 0; r < 32; ++r) registers += fmt::format("{}%r{}", r ? ", " : "", r);
  for (int column = 0; column < n; column += 32) {
    text += fmt::format(
        "  tcgen05.ld.sync.aligned.32x32b.x32.b32 {{{}}}, [%lanes+{}];\n"
        "  tcgen05.wait::ld.sync.aligned;\n",
        registers, column);
    for (int r = 0; r < 32; ++r)
      text +=
          fmt::format("  @%first st.global.b32 [%out+{}], %r{};\n", (column + r) * kThreads * 4, r);
  }
  return text + release_tensor_memory();
}

std::string Kernel::ptx(Target target) const {
  return ptx_text({.target = target,
                   .entry = entry(),
                   .threads = kThreads,
                   .declarations =
                       "  .reg .pred %idle, %elected, %add, %done;\n"
                       "  .reg .b32 %tile, %slot, %bar<2>, %warp, %lanes, %at, %parity, "
                       "%before, %r<32>;\n"
                       "  .reg .b32 %accumulator, %scale, %scales_a, %scales_b;\n"
                       "  .reg .b64 %from, %a<4>, %b<4>;\n",
                   .setup = setup(),
                   .loop = loop(),
                   .finish = finish(),
                   .globals = "  .extern .shared .align 1024 .b8 tile[];\n"});
}

Kernel kernel_of(const Case& c, bool latency) {
  return {type_of(c), static_cast<int>(c.i64("n")), latency};
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  std::vector<KernelUse> uses;
  for (const bool latency : {false, true}) {
    const Kernel kernel = kernel_of(c, latency);
    // The two targets' names for scales of blocks of 16.
    std::string opcode = kernel.type.opcode;
    if (kernel.type.scaled()) opcode += target == Target::sm_103a ? ".BLOCK16" : ".4X";
    uses.push_back({.kernel = kernel.entry(),
                    .sass = {{opcode, kernel.mmas(), kernel.mmas()}, {"ELECT", 0, 0}},
                    .ptx = kernel.ptx(target)});
  }
  return uses;
}

// The tiles' bytes, by `element(in A?)`; accumulators start at `d0`; all scales are 1.
std::vector<std::uint32_t> inputs(const Kernel& kernel, double d0,
                                  const std::function<double(bool)>& element) {
  std::vector<std::uint32_t> words(kernel.in_words());
  const std::size_t tile_words = words.size() - 2;
  for (std::size_t i = 0; i < tile_words; ++i)
    words[i] = static_cast<std::uint32_t>(
        pack(kernel.type.element, 32, [&] { return element(i * 4 < kM * kRowBytes); }));
  words[tile_words] = static_cast<std::uint32_t>(pack("f32", 32, d0));
  words[tile_words + 1] = static_cast<std::uint32_t>(pack("e4m3", 32, 1.0));
  return words;
}

std::function<void(const Launch&)> prepare(State& s, const Kernel& kernel) {
  const GeneratedKernel loaded(s, kernel.entry(), kThreads, kernel.in_words() * 4,
                               kernel.out_words() * 4,
                               static_cast<std::size_t>(kernel.shared_bytes()));
  // With all elements of A and of B alike, k products are added to every accumulator each time,
  // wherever in the tiles an element lies.
  constexpr double kStart = 3;
  const Type& type = kernel.type;
  loaded.set_inputs(inputs(kernel, kStart, [&](bool in_a) { return in_a ? type.a : type.b; }));
  const double expected = kStart + 2.0 * kernel.mmas() * type.k * type.a * type.b;
  for (const std::uint32_t word : loaded.outputs_after<std::uint32_t>(2)) {
    const double found = unpack("f32", word);
    s.require(found == expected,
              fmt::format("an accumulator ended with {}, not {}", found, expected));
  }
  std::mt19937_64 random(s.seed());
  std::uniform_real_distribution<double> spread(-1, 1);
  loaded.set_inputs(inputs(kernel, 1, [&](bool) { return spread(random); }));
  return loaded.on_every_sm();
}

void run(State& s) {
  const Kernel both = kernel_of(s.which(), false);
  s.cycles({.flop = 2.0 * kM * both.n * both.type.k * both.mmas(),
            .limit = limits::tensor(s.target(), both.type.limit)},
           prepare(s, both));
  s.cycles({.steps = kAlone}, prepare(s, kernel_of(s.which(), true)));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Type& type : kTypes)
    for (const std::int64_t n : {256, 128})
      for (const char* state : {"burst", "sustained"}) {
        const bool sustained = state[0] == 's';
        if (sustained && n != 256) continue;
        all.push_back(
            {.name = fmt::format("{}/m128n{}/ss{}", type.name, n, sustained ? "/sustained" : ""),
             .params = {{"a", type.name},
                        {"b", type.name},
                        {"accumulate", "f32"},
                        {"n", n},
                        {"k", std::int64_t{type.k}},
                        {"source", "ss"},
                        {"state", state}},
             .suite = n == 256 && !sustained ? Suite::quick : Suite::full});
      }
  return all;
}

const Registration registration{{
    .name = "tensor_core/tcgen05",
    .question = "What does Blackwell's tcgen05.mma deliver per data type and N, and how long does "
                "one take alone?",
    .cases = cases(),
    .targets = {Target::sm_100a, Target::sm_103a},
    .kernels = kernels,
    .run = run,
}};

}  // namespace
