// SPDX-License-Identifier: Apache-2.0
// What the values of wgmma are checked with, checked itself.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "harness/element.hpp"
#include "probes/tensor_core/wgmma_operands.hpp"

namespace assay {
namespace {

constexpr int kRowWords = WgmmaForm::kRowBytes / 4;

WgmmaForm form_of(const char* element, int n, bool in_registers, bool sparse) {
  const bool integer =
      element[0] == 's' || element[0] == 'u' || element[0] == 'b' && element[1] == '1';
  return {element, element, integer ? "s32" : "f32", n, in_registers, sparse};
}

TEST(Wgmma, FormsKnowTheirShapes) {
  const WgmmaForm bf16 = form_of("bf16", 256, false, false);
  EXPECT_EQ(bf16.k(), 16);
  EXPECT_EQ(bf16.steps(), 4);
  EXPECT_EQ(bf16.registers(), 128);
  EXPECT_EQ(bf16.tile_bytes(), 40 * 1024);
  EXPECT_EQ(bf16.flop(), 2.0 * 64 * 256 * 16);
  EXPECT_EQ(bf16.opcode(), "HGMMA.64x256x16.F32.BF16");
  const WgmmaForm mixed{"e4m3", "e5m2", "f16", 64, true, true};
  EXPECT_EQ(mixed.k(), 64);
  EXPECT_EQ(mixed.steps(), 2);
  EXPECT_EQ(mixed.registers(), 16);
  EXPECT_EQ(mixed.tile_bytes(), 8 * 1024);
  EXPECT_EQ(mixed.name(), "e4m3_e5m2/m64n64/sparse_rs/acc_f16");
  EXPECT_EQ(mixed.opcode(), "QGMMA.SP.64x64x64.F16.E4M3.E5M2");
  EXPECT_EQ(form_of("b1", 8, false, false).k(), 256);
}

TEST(Wgmma, AFormComesBackFromItsParams) {
  for (const bool in_registers : {false, true})
    for (const bool sparse : {false, true}) {
      const WgmmaForm form = form_of("tf32", 48, in_registers, sparse);
      EXPECT_EQ(WgmmaForm::of({.params = form.params()}).name(), form.name());
    }
}

// Luo et al., arXiv:2501.12084, table 9: the intervals at N = 32, 16 and 8, from shared memory.
TEST(Wgmma, SharedMemorySetsThePaceOfSmallN) {
  EXPECT_EQ(form_of("f16", 64, false, false).shared_memory_cycles(), 32);
  EXPECT_EQ(form_of("f16", 32, false, false).shared_memory_cycles(), 24);
  EXPECT_EQ(form_of("f16", 16, false, false).shared_memory_cycles(), 20);
  EXPECT_EQ(form_of("f16", 8, false, false).shared_memory_cycles(), 18);
  EXPECT_EQ(form_of("f16", 256, true, false).shared_memory_cycles(), 64);
  EXPECT_EQ(form_of("f16", 256, false, true).shared_memory_cycles(), 144);
}

TEST(Wgmma, EveryElementOfDIsInOnePlace) {
  std::set<std::pair<int, int>> seen;
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < 12; ++i) seen.insert(accumulator_place(i, thread));
  EXPECT_EQ(seen.size(), 64u * 24);
  EXPECT_EQ(seen.rbegin()->first, 63);
  EXPECT_EQ(accumulator_place(0, 0), std::pair(0, 0));
  EXPECT_EQ(accumulator_place(7, 128 + 37), std::pair(16 + 1 + 8, 8 + 3));  // of warpgroup 1
}

TEST(Wgmma, TilesAreSwizzledAndFragmentsAreNot) {
  std::uint32_t next = 0;
  std::mt19937_64 random(1);
  const Words count = [&] { return next++; };
  const WgmmaForm ss = form_of("f16", 8, false, false), rs = form_of("f16", 8, true, false);
  const WgmmaOperands operands = operands_of(ss, count, count, random);
  const std::vector<std::uint32_t> tile = operands.words(ss);
  ASSERT_EQ(tile.size(), WgmmaOperands::word_count(ss));
  // Row 3, 16-byte chunk 1, is in chunk 1 ^ 3.
  EXPECT_EQ(tile[3 * kRowWords + 2 * 4], 3u * kRowWords + 1 * 4);
  EXPECT_EQ(tile[64 * kRowWords], 64u * kRowWords);  // B follows A

  const std::vector<std::uint32_t> words = operands.words(rs);
  ASSERT_EQ(words.size(), WgmmaOperands::word_count(rs));
  EXPECT_EQ(words[0], 64u * kRowWords);  // no A in the tile
  // Step 1, register 3 of thread 37 (warp 1, group 1, second of its four): row 16 + 1 + 8, bytes
  // 32 + 16 + 4.
  const std::size_t at = 8 * kRowWords + (1 * 4 + 3) * 128 + 37;
  EXPECT_EQ(words[at], 25u * kRowWords + (32 + 16 + 4) / 4);
}

// The figures of the PTX ISA as strides: bits of a thread's index and position of an element in
// its metadata, to the element's index, 64 * k + m. CUTLASS 3.9,
// cute/atom/mma_traits_sm90_gmma_sparse.hpp.
struct MetadataLayout {
  const char* element;
  std::array<int, 2> thread_strides;  // of bits 0 and 1
  int along_k;                        // elements before the metadata goes on 8 rows below
};
constexpr MetadataLayout kLayouts[] = {
    {"e4m3", {8, 2048}, 32}, {"bf16", {1024, 0}, 16}, {"tf32", {512, 0}, 8}};

TEST(Wgmma, MetadataLiesAsCutlassHasIt) {
  for (const MetadataLayout& layout : kLayouts) {
    const WgmmaForm form = form_of(layout.element, 8, true, true);
    WgmmaOperands operands = small_integers(form, 7);
    const std::vector<std::uint32_t> words = operands.words(form);
    const int group = form.a == "tf32" ? 2 : 4, groups = form.steps() * form.k() / group;
    for (int step = 0; step < form.steps(); ++step)
      for (int t = 0; t < 128; ++t) {
        const std::uint32_t word =
            words[words.size() - static_cast<std::size_t>((form.steps() - step) * 128 - t)];
        for (int nibble = 0; nibble < 8; ++nibble) {
          const int k_in_word = nibble * group % layout.along_k;
          const int below = nibble * group / layout.along_k;
          const int index = t % 2 * layout.thread_strides[0] +
                            t / 2 % 2 * layout.thread_strides[1] + t / 4 % 8 + t / 32 * 16 +
                            64 * k_in_word + 8 * below;
          const int row = index % 64, k = index / 64 + step * form.k();
          EXPECT_EQ(word >> (4 * nibble) & 15,
                    operands.metadata[static_cast<std::size_t>(row * groups + k / group)])
              << layout.element << " thread " << t << " nibble " << nibble;
        }
      }
  }
}

TEST(Wgmma, MetadataIsOrdered) {
  for (const char* element : {"bf16", "s8", "tf32"}) {
    std::set<int> seen;
    for (const std::uint8_t code : small_integers(form_of(element, 8, false, true), 3).metadata) {
      EXPECT_LT(code & 3, code >> 2);
      seen.insert(code);
    }
    EXPECT_EQ(seen.size(), std::string_view(element) == "tf32" ? 2u : 6u) << element;
  }
}

// A row of A that is 5, 7 and then zeros, packed, against a B whose elements all differ.
TEST(Wgmma, SparseProductsTakeTheElementsThatMetadataNames) {
  const WgmmaForm form = form_of("s8", 8, false, true);
  WgmmaOperands operands = small_integers(form, 1);
  std::ranges::fill(operands.a, 0);
  operands.a[0] = 0x00000705;
  operands.metadata[0] = 0b1101;  // elements 1 and 3
  operands.b[0] = 0x40'30'20'10;
  EXPECT_EQ(operands.product(form)[0], 5 * 0x20 + 7 * 0x40);
  operands.metadata[0] = 0b1000;  // 0 and 2
  EXPECT_EQ(operands.product(form)[0], 5 * 0x10 + 7 * 0x30);
}

TEST(Wgmma, SparseTf32TakesOneOfTwo) {
  const WgmmaForm form = form_of("tf32", 8, false, true);
  WgmmaOperands operands = small_integers(form, 1);
  std::ranges::fill(operands.a, 0);
  const auto word = [](double value) {
    return static_cast<std::uint32_t>(pack("tf32", 32, value));
  };
  operands.a[1] = word(3);  // of the second pair
  operands.b[2] = word(5);
  operands.b[3] = word(7);
  operands.metadata[1] = 0b0100;
  EXPECT_EQ(operands.product(form)[0], 15);
  operands.metadata[1] = 0b1110;
  EXPECT_EQ(operands.product(form)[0], 21);
}

// Sums that the check relies on being exact.
TEST(Wgmma, SumsStayWithinWhatF16Counts) {
  for (const bool sparse : {false, true})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const WgmmaForm form{"e4m3", "e4m3", "f16", 256, false, sparse};
      const double times = 2 * 32.0 / form.steps();
      for (const double sum : small_integers(form, seed).product(form))
        EXPECT_LE(std::abs(3 + times * sum), 2048);
    }
}

}  // namespace
}  // namespace assay
