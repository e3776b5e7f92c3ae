// SPDX-License-Identifier: Apache-2.0
// What it costs to turn the accumulators of S = Q K^T into the e4m3 A fragment of P V, per tile of
// 64 x 128: with shuffles, with byte permutes and half as many shuffles, or with the rows of V in
// another order in memory, which costs nothing here. The middle way is what FlashAttention-3 does
// in ReorgCFp8toAFp8 (github.com/Dao-AILab/flash-attention, hopper/utils.h).
//
// One warpgroup per SM converts a tile in each round: scales it as softmax's last step would,
// rounds to e4m3, permutes. That alone is timed, beside the same without the permutation. Before,
// one tile is multiplied with a V by wgmma: the product must be exactly that of P and V. The maps
// show which accumulator belongs where, and the order that V's rows would need instead.
#include <fmt/format.h>

#include <cstring>
#include <random>

#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/numerics/float_format.hpp"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/statistics.hpp"
#include "probes/numerics/fp8_permutation.hpp"
#include "probes/numerics/mma_instruction.hpp"

namespace assay::numerics {
namespace {

constexpr int kThreads = 128, kRows = 64, kColumns = 128, kValues = 8;  // V is 128 x 8
constexpr int kAccumulators = kRows * kColumns / kThreads, kWords = kAccumulators / 4;
constexpr int kTileBytes = kColumns * kValues;

// S as accumulators of m64n128, P V's instruction.
const MmaInstruction& first_mma() {
  static const MmaInstruction mma{Family::wgmma, "e4m3", "f32", kRows, kColumns, 32};
  return mma;
}
const MmaInstruction& second_mma() {
  static const MmaInstruction mma{Family::wgmma, "e4m3", "f32", kRows, kValues, 32};
  return mma;
}

Permutation permutation_of(const Case& c) {
  for (const Permutation permutation : kPermutations)
    if (c.name == name(permutation)) return permutation;
  throw std::logic_error("a case of an unknown permutation");
}

std::string load_accumulators(int offset) {
  std::string text =
      "  mad.wide.u32 %mine, %thread, 4, %in;\n"
      "  mad.wide.u32 %out, %thread, 4, %out;\n";
  for (int r = 0; r < kAccumulators; ++r)
    text += fmt::format("  ld.global.f32 %s{}, [%mine+{}];\n", r, offset + r * kThreads * 4);
  return text;
}

std::vector<SassRule> conversion_rules(Permutation permutation) {
  const int exchanged = shuffles(permutation), permuted = byte_permutes(permutation);
  return {{"F2FP", kAccumulators / 2, kAccumulators / 2},
          {"SHFL", exchanged, exchanged},
          {"PRMT", permuted, permuted}};
}

// Every word is xor-ed to what came before, so that it is needed; the scale changes its sign, so
// that there is something to convert in every round. Inputs: the accumulators; outputs: the words.
KernelUse conversion_kernel(const char* entry, Permutation permutation, Target target) {
  std::string setup =
      load_accumulators(0) + permutation_setup() + "  mov.f32 %scale, 0f3F000000;\n";
  std::string loop = convert(permutation), finish;
  for (int w = 0; w < kWords; ++w) {
    setup += fmt::format("  mov.b32 %fold{}, 0;\n", w);
    loop += fmt::format("  xor.b32 %fold{0}, %fold{0}, %a{0};\n", w);
    finish += fmt::format("  @%first st.global.b32 [%out+{}], %fold{};\n", w * kThreads * 4, w);
  }
  loop += "  neg.f32 %scale, %scale;\n";
  return {.kernel = entry,
          .sass = conversion_rules(permutation),
          .ptx = ptx_text({.target = target,
                           .entry = entry,
                           .threads = kThreads,
                           .declarations = permutation_declarations() +
                                           "  .reg .b64 %mine;\n  .reg .b32 %fold<16>;\n",
                           .setup = setup,
                           .loop = loop,
                           .finish = finish})};
}

// Inputs: V in four tiles of 32 rows, then the accumulators; outputs: P V's accumulators.
KernelUse product_kernel(Permutation permutation, Target target) {
  const std::uint64_t v = ptx::encode({0, 16, 8 * 32, ptx::Swizzle::bytes32});
  std::string setup = "  mov.u32 %tile, tile;\n" + load_tile(kTileBytes, kThreads) +
                      "  shr.u32 %at, %tile, 4;\n  cvt.u64.u32 %from, %at;\n"
                      "  setp.ne.u32 %add, 1, 0;\n  mov.f32 %scale, 0f3F800000;\n" +
                      load_accumulators(kTileBytes) + permutation_setup();
  std::string loop = convert(permutation), finish;
  for (int r = 0; r < 4; ++r) loop += fmt::format("  mov.b32 %d{}, 0;\n", r);
  loop += "  wgmma.fence.sync.aligned;\n";
  for (int block = 0; block < kColumns / 32; ++block) {
    setup += fmt::format("  add.u64 %v{}, %from, {};\n", block,
                         ptx::advance(v, static_cast<std::uint32_t>(block) * kTileBytes / 4));
    loop += fmt::format(
        "  wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {{%d0, %d1, %d2, %d3}}, "
        "{{%a{}, %a{}, %a{}, %a{}}}, %v{}, %add, 1, 1;\n",
        4 * block, 4 * block + 1, 4 * block + 2, 4 * block + 3, block);
  }
  loop += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (int r = 0; r < 4; ++r)
    finish += fmt::format("  @%first st.global.b32 [%out+{}], %d{};\n", r * kThreads * 4, r);
  return {.kernel = "product",
          .sass = {{"QGMMA.64x8x32.F32.E4M3.E4M3", 4, 4}},
          .ptx = ptx_text(
              {.target = target,
               .entry = "product",
               .threads = kThreads,
               .declarations = permutation_declarations() +
                               fmt::format("  .shared .align 1024 .b8 tile[{}];\n", kTileBytes) +
                               "  .reg .pred %add;\n  .reg .b32 %tile, %at, %d<4>;\n"
                               "  .reg .b64 %mine, %from, %v<4>;\n",
               .setup = setup,
               .loop = loop,
               .finish = finish})};
}

std::vector<float> random_accumulators(State& s) {
  std::mt19937_64 random(s.seed());
  std::uniform_real_distribution<float> spread(-8, 8);
  std::vector<float> values(static_cast<std::size_t>(kAccumulators * kThreads));
  for (float& x : values) x = spread(random);
  return values;
}

// After three rounds: of two that cancel and one with the scale's sign turned.
void check_words(State& s, Permutation permutation, const std::vector<float>& accumulators,
                 const GeneratedKernel& kernel) {
  kernel.set_inputs(accumulators);
  const auto found = kernel.outputs_after<std::uint32_t>(3);
  const FloatFormat e4m3 = float_format("e4m3");
  for (int word = 0; word < kWords; ++word)
    for (int thread = 0; thread < kThreads; ++thread) {
      std::uint32_t expected = 0;
      for (int element = 0; element < 4; ++element) {
        const Source from = permutation == Permutation::permute_other_operand
                                ? Source{thread % 4, packed_register(word % 4, element)}
                                : source_of(thread % 4, word % 4, element);
        const int reg = word / 4 * 16 + from.reg, other = thread - thread % 4 + from.lane;
        const float x = accumulators[static_cast<std::size_t>(reg * kThreads + other)];
        expected |= static_cast<std::uint32_t>(encode(e4m3, -0.5 * x)) << (8 * element);
      }
      const std::uint32_t word_found = found[static_cast<std::size_t>(word * kThreads + thread)];
      s.require(word_found == expected,
                fmt::format("thread {}, A register {}: {:#010x}, not {:#010x}", thread, word,
                            word_found, expected));
    }
}

// Small integers, so that every sum is exact in the accumulators of any MMA.
void check_product(State& s, Permutation permutation) {
  std::mt19937_64 random(s.seed());
  std::uniform_int_distribution<int> small(-3, 3);
  std::vector<int> p(static_cast<std::size_t>(kRows * kColumns)),
      v(static_cast<std::size_t>(kTileBytes));
  for (int& x : p) x = small(random);
  for (int& x : v) x = small(random);
  const auto order = other_operand_order();
  std::vector<std::byte> in(static_cast<std::size_t>(kTileBytes + kRows * kColumns * 4));
  const FloatFormat e4m3 = float_format("e4m3");
  for (int k = 0; k < kColumns; ++k)
    for (int column = 0; column < kValues; ++column) {
      const int row = permutation == Permutation::permute_other_operand
                          ? k / 32 * 32 + order[static_cast<std::size_t>(k % 32)]
                          : k;
      const int at =
          k / 32 * (kTileBytes / 4) + tile_offset(second_mma(), Operand::b, {k % 32, column});
      in[static_cast<std::size_t>(at)] =
          static_cast<std::byte>(encode(e4m3, v[static_cast<std::size_t>(row * kValues + column)]));
    }
  for (const Slot slot : first_mma().slots(Operand::d)) {
    const Position at = documented_position(first_mma(), Operand::d, slot);
    const auto x = static_cast<float>(p[static_cast<std::size_t>(at.row * kColumns + at.column)]);
    std::memcpy(in.data() + kTileBytes + (slot.reg * kThreads + slot.thread) * 4, &x, 4);
  }
  const GeneratedKernel kernel(s, "product", kThreads, in.size(), std::size_t{4} * kThreads * 4);
  kernel.set_inputs(in);
  const auto found = kernel.outputs_after<float>(1);
  for (const Slot slot : second_mma().slots(Operand::d)) {
    const Position at = documented_position(second_mma(), Operand::d, slot);
    int expected = 0;
    for (int k = 0; k < kColumns; ++k)
      expected += p[static_cast<std::size_t>(at.row * kColumns + k)] *
                  v[static_cast<std::size_t>(k * kValues + at.column)];
    const float x = found[static_cast<std::size_t>(slot.reg * kThreads + slot.thread)];
    s.require(
        x == static_cast<float>(expected),
        fmt::format("row {}, column {} of P V is {}, not {}", at.row, at.column, x, expected));
  }
}

std::vector<Value> numbers(int count) {
  std::vector<Value> all;
  for (std::int64_t i = 0; i < count; ++i) all.emplace_back(i);
  return all;
}

void add_maps(State& s) {
  Series lanes{.name = "source_lane",
               .unit = "lane of the quad",
               .axes = {{"register", numbers(4)}, {"lane", numbers(4)}, {"element", numbers(4)}},
               .values = {}};
  Series registers = lanes;
  registers.name = "source_register";
  registers.unit = "register";
  for (int reg = 0; reg < 4; ++reg)
    for (int lane = 0; lane < 4; ++lane)
      for (int element = 0; element < 4; ++element) {
        const Source from = source_of(lane, reg, element);
        lanes.values.push_back(from.lane);
        registers.values.push_back(from.reg);
      }
  const auto order = other_operand_order();
  s.add_series(std::move(lanes));
  s.add_series(std::move(registers));
  s.add_series({.name = "other_operand_order",
                .unit = "row of V",
                .axes = {{"k", numbers(32)}},
                .values = {order.begin(), order.end()}});
}

void run(State& s) {
  const Permutation permutation = permutation_of(s.which());
  check_product(s, permutation);
  const std::vector<float> accumulators = random_accumulators(s);
  const auto measure = [&](const char* entry, Permutation what) {
    const GeneratedKernel kernel(s, entry, kThreads, accumulators.size() * sizeof(float),
                                 std::size_t{kWords} * kThreads * 4);
    check_words(s, what, accumulators, kernel);
    return s.cycles({}, kernel.on_every_sm());
  };
  const std::vector<double> permuted = measure("permuted", permutation);
  const std::vector<double> plain = measure("plain", Permutation::permute_other_operand);
  std::vector<double> added = permuted;
  for (double& cycles : added) cycles -= median(plain);
  s.add_metric("cycles_per_tile", "cycle", Better::lower, permuted);
  s.add_metric("conversion_cycles_per_tile", "cycle", Better::lower, plain);
  s.may_be_negative("added_cycles_per_tile");
  s.add_metric("added_cycles_per_tile", "cycle", Better::lower, added);
  s.lead_with("cycles_per_tile");
  add_maps(s);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Permutation permutation : kPermutations)
    all.push_back({.name = name(permutation),
                   .params = {{"a", "e4m3"},
                              {"tile", fmt::format("m{}n{}", kRows, kColumns)},
                              {"shuffles", std::int64_t{shuffles(permutation)}},
                              {"byte_permutes", std::int64_t{byte_permutes(permutation)}}},
                   .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "numerics/fp8_permutation",
    .question = "What does it cost to turn the accumulators of one wgmma into the fp8 operand of "
                "the next, as attention must?",
    .metrics = {{"cycles_per_tile",
                 "Cycles to scale, round and permute a tile of 64 x 128 accumulators."},
                {"conversion_cycles_per_tile",
                 "Cycles to scale and round the same tile without permuting it."},
                {"added_cycles_per_tile", "Cycles that the permutation adds to a tile."},
                {"source_lane",
                 "Lane of the quad whose accumulator belongs in each element of the A fragment."},
                {"source_register",
                 "Register of that lane, of the 16 accumulators over the same 32 columns."},
                {"other_operand_order",
                 "Row of V that must lie at each k of 32 where nothing is permuted."}},
    .cases = cases(),
    .targets = targets_with(Feature::wgmma),
    .kernels =
        [](const Case& c, Target target) {
          const Permutation permutation = permutation_of(c);
          return std::vector<KernelUse>{
              conversion_kernel("permuted", permutation, target),
              conversion_kernel("plain", Permutation::permute_other_operand, target),
              product_kernel(permutation, target)};
        },
    .run = run,
}};

}  // namespace
}  // namespace assay::numerics
