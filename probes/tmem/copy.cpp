// SPDX-License-Identifier: Apache-2.0
// tcgen05.cp: from shared memory to tensor memory, by shape and with the decompression of 6- and
// 4-bit floats. "128x256b" is lanes and bits of each; ".warpx2" and ".warpx4" write what they read
// to two or four quarters of the lanes. Bandwidth counts what is written.
//
// latency_cycles is one copy alone, from its issue through commit to the barrier's phase being
// seen. PTX ISA 9.0, "tcgen05.cp" and "Packing formats".
#include <fmt/format.h>

#include "harness/callable.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/instruction/tcgen05_batches.hpp"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"

namespace {

using namespace assay;
namespace umma = assay::ptx::tcgen05;

constexpr int kThreads = 128;
constexpr int kTileBytes = 128 * 32;                      // of the largest shape
constexpr int kColumns = Tcgen05Batches::kBatch * 2 * 8;  // eight for each copy of a round
constexpr std::uint32_t kSource = 0x2d2d2d2d;             // every byte and every nibble below alike
constexpr std::uint32_t kPoison = 0xdeadbeef;

struct Shape {
  const char *name, *ptx, *opcode;
  int lanes, bits;  // written
};
constexpr Shape kShapes[] = {
    {"128x256b", "128x256b", "", 128, 256},
    {"4x256b", "4x256b", ".4dp256bit", 4, 256},
    {"128x128b", "128x128b", ".128dp128bit", 128, 128},
    {"64x128b_warpx2_02_13", "64x128b.warpx2::02_13", ".2x64dp128bit_lw02_lw13", 128, 128},
    {"64x128b_warpx2_01_23", "64x128b.warpx2::01_23", ".2x64dp128bit_lw01_lw23", 128, 128},
    {"32x128b_warpx4", "32x128b.warpx4", ".4x32dp128bit", 128, 128},
};
struct Packing {
  const char *name, *ptx, *opcode;
};
constexpr Packing kPackings[] = {{"", "", ""},
                                 {"/b6x16_p32", ".b8x16.b6x16_p32", ".U6x16P32"},
                                 {"/b4x16_p64", ".b8x16.b4x16_p64", ".U4x16P64"}};

struct Copy {
  const Shape& shape;
  const Packing& packing;
  bool latency;

  Tcgen05Batches batches() const {
    return {latency, 1, [this](int i) {
              return fmt::format("  @%elected tcgen05.cp.cta_group::1.{}{} [%to{}], %matrix;\n",
                                 shape.ptx, packing.ptx, i);
            }};
  }
  const char* entry() const { return latency ? "latency" : "throughput"; }
  int cells() const { return shape.lanes * shape.bits / 32; }
  std::string ptx(Target target) const;
};

// Out: tensor memory, [column][lane].
std::string Copy::ptx(Target target) const {
  const Tcgen05Batches loop = batches();
  PtxKernel kernel{.target = target, .entry = entry(), .threads = kThreads};
  kernel.globals = ".extern .shared .align 1024 .b8 tile[];\n\n";
  kernel.declarations =
      loop.declarations() + fmt::format(
                                "  .reg .pred %idle, %more;\n"
                                "  .reg .b32 %tile, %slot, %warp, %lanes, %at, %end, %poison, "
                                "%word, %to<{}>;\n"
                                "  .reg .b64 %matrix;\n",
                                loop.operations());
  // No swizzle: 8 rows of 16 bytes are together, then the next 16 bytes of those, then the next 8
  // rows.
  const bool wide = shape.bits == 256;
  const std::uint64_t matrix = umma::matrix_descriptor({.start_address = 0,
                                                        .leading_byte_offset = 128,
                                                        .stride_byte_offset = wide ? 256u : 128u,
                                                        .swizzle = ptx::Swizzle::none});
  kernel.setup =
      "  mov.u32 %tile, tile;\n" + loop.setup("%tile", kTileBytes) +
      fmt::format("  add.u32 %slot, %tile, {};\n", kTileBytes + Tcgen05Batches::kBarrierBytes) +
      load_tile(kTileBytes, kThreads) + allocate_tensor_memory("%slot") +
      fmt::format(
          "  shr.u32 %warp, %thread, 5;\n"
          "  shfl.sync.idx.b32 %warp, %warp, 0, 31, 0xffffffff;\n"
          "  setp.ne.u32 %idle, %warp, 0;\n"
          "  shl.b32 %lanes, %warp, 21;\n"
          "  add.u32 %lanes, %lanes, %tmem;\n"
          "  add.u32 %end, %lanes, {};\n"
          "  mov.u32 %poison, {};\n"
          "  mov.u32 %at, %lanes;\n"
          "poison:\n"
          "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%at], {{%poison}};\n"
          "  add.u32 %at, %at, 1;\n"
          "  setp.lt.u32 %more, %at, %end;\n"
          "  @%more bra poison;\n"
          "  tcgen05.wait::st.sync.aligned;\n"
          "  tcgen05.fence::before_thread_sync;\n"
          "  bar.sync 0;\n"
          "  tcgen05.fence::after_thread_sync;\n"
          "  shr.u32 %at, %tile, 4;\n"
          "  cvt.u64.u32 %matrix, %at;\n"
          "  add.u64 %matrix, %matrix, {};\n",
          kColumns, kPoison, matrix);
  for (int i = 0; i < loop.operations(); ++i)
    kernel.setup += fmt::format("  add.u32 %to{}, %tmem, {};\n", i, 8 * i);
  kernel.loop = loop.loop();
  kernel.finish = loop.drain() +
                  fmt::format(
                      "  bar.sync 0;\n"
                      "  tcgen05.fence::after_thread_sync;\n"
                      "  mad.wide.u32 %out, %thread, 4, %out;\n"
                      "  mov.u32 %at, %lanes;\n"
                      "read:\n"
                      "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%word}}, [%at];\n"
                      "  tcgen05.wait::ld.sync.aligned;\n"
                      "  @%first st.global.b32 [%out], %word;\n"
                      "  add.u64 %out, %out, {};\n"
                      "  add.u32 %at, %at, 1;\n"
                      "  setp.lt.u32 %more, %at, %end;\n"
                      "  @%more bra read;\n",
                      kThreads * 4) +
                  release_tensor_memory();
  return ptx_text(kernel);
}

Copy copy_of(const Case& c, bool latency) {
  return {kShapes[c.i64("shape_number")], kPackings[c.i64("packing_number")], latency};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (std::size_t s = 0; s < std::size(kShapes); ++s)
    for (std::size_t p = 0; p < std::size(kPackings); ++p)
      all.push_back({.name = std::string(kShapes[s].name) + kPackings[p].name,
                     .params = {{"shape", kShapes[s].name},
                                {"shape_number", static_cast<std::int64_t>(s)},
                                {"packing_number", static_cast<std::int64_t>(p)}},
                     .suite = Suite::full});
  return all;
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  std::vector<KernelUse> uses;
  for (const bool latency : {false, true}) {
    const Copy copy = copy_of(c, latency);
    const int count = copy.batches().operations();
    const std::string opcode = std::string("UTCCP.T.S") + copy.shape.opcode + copy.packing.opcode;
    uses.push_back({.kernel = copy.entry(),
                    .sass = {{opcode, count, count}, {"ELECT", 0, 0}},
                    .ptx = copy.ptx(target)});
  }
  return uses;
}

// Each copy fills as many cells as its shape says, with what it found in shared memory; where that
// was decompressed, with the word that four elements became.
void check_values(State& s, const Copy& copy, const GeneratedKernel& loaded) {
  loaded.set_inputs(std::vector<std::uint32_t>(kTileBytes / 4, kSource));
  const std::vector<std::uint32_t> out = loaded.outputs_after<std::uint32_t>(2);
  constexpr std::size_t kEach = 8 * kThreads;  // cells of a copy's eight columns
  for (int i = 0; i < copy.batches().operations(); ++i) {
    int written = 0;
    std::uint32_t word = copy.packing.ptx[0] ? 0 : kSource;
    for (std::size_t cell = i * kEach; cell < (i + 1) * kEach; ++cell) {
      if (out[cell] == kPoison) continue;
      if (written++ == 0 && word == 0) word = out[cell];
      s.require(out[cell] == word,
                fmt::format("copy {} left {:#x} beside {:#x}", i, out[cell], word));
    }
    s.require(written == copy.cells(),
              fmt::format("copy {} wrote {} cells, not {}", i, written, copy.cells()));
    if (copy.packing.ptx[0] && i == 0)
      s.set_param("decompressed_word", fmt::format("{:#010x}", word));
  }
}

Callable<void(const Launch&)> prepare(State& s, const Copy& copy) {
  const GeneratedKernel loaded(s, copy.entry(), kThreads, kTileBytes,
                               static_cast<std::size_t>(kColumns) * kThreads * 4,
                               kTileBytes + Tcgen05Batches::kBarrierBytes + 16);
  check_values(s, copy, loaded);
  return loaded.on_every_sm();
}

void run(State& s) {
  const Copy many = copy_of(s.which(), false);
  s.limit("B/clk/SM", limits::unknown("of tensor memory"));
  s.cycles({.bytes = 4.0 * many.cells() * many.batches().operations()}, prepare(s, many));
  s.cycles({.steps = Tcgen05Batches::kAlone}, prepare(s, copy_of(s.which(), true)));
}

const Registration registration{{
    .name = "tmem/cp",
    .question = "How fast does tensor memory get what shared memory holds, and how long does one "
                "copy take?",
    .metrics = {{"bytes_per_clock_per_sm", "Bytes of tensor memory that one SM writes in a cycle."},
                {"latency_cycles",
                 "Cycles of one copy alone, from its issue through commit until the barrier's "
                 "phase is seen."}},
    .cases = cases(),
    .targets = targets_with(Feature::tcgen05),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
