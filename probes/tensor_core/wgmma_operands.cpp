// SPDX-License-Identifier: Apache-2.0
#include "probes/tensor_core/wgmma_operands.hpp"

#include <array>
#include <cmath>

#include "harness/callable.hpp"
#include "harness/element.hpp"
#include "harness/ptx/descriptor/swizzle.hpp"

namespace assay {
namespace {

constexpr int kRowWords = WgmmaForm::kRowBytes / 4;
constexpr int kWarpgroup = WgmmaForm::kWarpgroup;
constexpr std::uint8_t kFirst = 0b0100, kSecond = 0b1110;  // metadata of tf32
// Positions (0,1) (0,2) (0,3) (1,2) (1,3) (2,3), in order: others are not allowed.
constexpr std::array<std::uint8_t, 6> kPairs = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};

// Elements of A in one group of metadata.
int group_of(const WgmmaForm& form) { return form.a == "tf32" ? 2 : 4; }
int groups(const WgmmaForm& form) { return form.steps() * form.k() / group_of(form); }

int warp_row(int thread) { return thread / 32 * 16 + thread % 32 / 4; }

// Word of A that is register `reg` of the fragment of a thread: as mma's fragments of A, over four
// warps. PTX ISA 9.0, "Register Fragments for wgmma.mma_async matrix A".
std::size_t fragment_word(int step, int reg, int thread) {
  const int row = warp_row(thread) + reg % 2 * 8;
  return static_cast<std::size_t>(row * kRowWords + step * 8 + reg / 2 * 4 + thread % 4);
}

// The metadata that a thread brings to an instruction: eight groups of a row of 8-bit elements, the
// four threads of each group of four taking two rows and two halves of K; else four groups of each
// of two rows, from the first two threads of each four (selector 0). PTX ISA 9.0, figures "Sparse
// WGMMA metadata layout"; CUTLASS 3.9 has the same as ELayout_64x16, _64x32 and _64x64.
std::uint32_t metadata_word(const WgmmaForm& form, const std::vector<std::uint8_t>& metadata,
                            int step, int thread) {
  const int all = groups(form), first = step * all / form.steps();
  const bool narrow = element_bits(form.a) == 8;
  std::uint32_t word = 0;
  for (int i = 0; i < 8; ++i) {
    const int row = warp_row(thread) + 8 * (narrow ? thread % 2 : i / 4);
    const int group = first + (narrow ? thread / 2 % 2 * 8 + i : thread % 2 * 4 + i % 4);
    word |= std::uint32_t{metadata[static_cast<std::size_t>(row * all + group)]} << (4 * i);
  }
  return word;
}

std::vector<double> decoded(const std::string& element, const std::vector<std::uint32_t>& words) {
  const int bits = element_bits(element);
  std::vector<double> values;
  for (const std::uint32_t word : words)
    for (int at = 0; at < 32; at += bits) values.push_back(unpack(element, word >> at));
  return values;
}

// A with its zeros.
std::vector<double> expanded(const WgmmaForm& form, const std::vector<double>& packed,
                             const std::vector<std::uint8_t>& metadata) {
  const int group = group_of(form), all = groups(form);
  const std::size_t row_elements = packed.size() / WgmmaForm::kRows;
  std::vector<double> full(packed.size());
  for (int row = 0; row < WgmmaForm::kRows; ++row)
    for (int g = 0; g < all; ++g) {
      const double* from = &packed[static_cast<std::size_t>(row) * row_elements +
                                   static_cast<std::size_t>(g * group / 2)];
      double* to =
          &full[static_cast<std::size_t>(row) * row_elements + static_cast<std::size_t>(g * group)];
      const std::uint8_t code = metadata[static_cast<std::size_t>(row * all + g)];
      if (group == 2) {
        to[code == kSecond] = from[0];
      } else {
        to[code & 3] = from[0];
        to[code >> 2] = from[1];
      }
    }
  return full;
}

bool is_unsigned(const std::string& element) { return element == "u8" || element == "b1"; }

}  // namespace

std::size_t WgmmaOperands::word_count(const WgmmaForm& form) {
  const int fragments = form.in_registers ? form.steps() * WgmmaForm::kFragment : 0;
  const int metadata = form.sparse ? form.steps() : 0;
  return static_cast<std::size_t>(form.tile_bytes() / 4 + (fragments + metadata) * kWarpgroup);
}

std::vector<std::uint32_t> WgmmaOperands::words(const WgmmaForm& form) const {
  std::vector<std::uint32_t> all;
  all.reserve(word_count(form));
  if (!form.in_registers) all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::vector<std::uint32_t> plain = all;
  for (std::size_t i = 0; i < plain.size(); ++i)
    all[ptx::swizzle_offset(ptx::Swizzle::bytes128, static_cast<std::uint32_t>(i * 4)) / 4] =
        plain[i];
  if (form.in_registers)
    for (int step = 0; step < form.steps(); ++step)
      for (int reg = 0; reg < WgmmaForm::kFragment; ++reg)
        for (int thread = 0; thread < kWarpgroup; ++thread)
          all.push_back(a[fragment_word(step, reg, thread)]);
  if (form.sparse)
    for (int step = 0; step < form.steps(); ++step)
      for (int thread = 0; thread < kWarpgroup; ++thread)
        all.push_back(metadata_word(form, metadata, step, thread));
  return all;
}

std::vector<double> WgmmaOperands::product(const WgmmaForm& form) const {
  std::vector<double> left = decoded(form.a, a);
  if (form.sparse) left = expanded(form, left, metadata);
  const std::vector<double> right = decoded(form.b, b);
  const std::size_t k = left.size() / WgmmaForm::kRows;
  std::vector<double> result;
  for (std::size_t row = 0; row < WgmmaForm::kRows; ++row)
    for (std::size_t column = 0; column < static_cast<std::size_t>(form.n); ++column) {
      double sum = 0;
      for (std::size_t i = 0; i < k; ++i) sum += left[row * k + i] * right[column * k + i];
      result.push_back(sum);
    }
  return result;
}

Words packed(const std::string& element, Callable<double()> next) {
  return [element, next = std::move(next)] {
    return static_cast<std::uint32_t>(pack(element, 32, next));
  };
}

Words uniform(const std::string& element, std::mt19937_64& random) {
  const double largest = element == "s8" ? 127 : element == "u8" ? 255 : 1;
  std::uniform_real_distribution<double> spread(is_unsigned(element) ? 0 : -largest, largest);
  const bool whole = element == "s8" || is_unsigned(element);
  return packed(element, [spread, whole, &random]() mutable {
    const double value = spread(random);
    return whole ? std::round(value) : value;
  });
}

WgmmaOperands operands_of(const WgmmaForm& form, const Words& a, const Words& b,
                          std::mt19937_64& random) {
  WgmmaOperands operands;
  for (int i = 0; i < WgmmaForm::kRows * kRowWords; ++i) operands.a.push_back(a());
  for (int i = 0; i < form.n * kRowWords; ++i) operands.b.push_back(b());
  for (int i = 0; form.sparse && i < WgmmaForm::kRows * groups(form); ++i)
    operands.metadata.push_back(form.a == "tf32" ? (random() % 2 ? kSecond : kFirst)
                                                 : kPairs[random() % kPairs.size()]);
  return operands;
}

WgmmaOperands small_integers(const WgmmaForm& form, std::uint64_t seed) {
  // Largest are sums of sparse 8-bit floats: 64 products of at most 2, 32 times. Their standard
  // deviation, 32 sqrt(64 * 2 * 2/3), is a seventh of 2048, up to which f16 holds every integer.
  std::mt19937_64 random(seed);
  const auto up_to = [&random](const std::string& element, int largest) {
    std::uniform_int_distribution<int> spread(is_unsigned(element) ? 0 : -largest, largest);
    return packed(element, [spread, &random]() mutable { return spread(random); });
  };
  return operands_of(form, up_to(form.a, 2), up_to(form.b, 1), random);
}

WgmmaOperands uniform_operands(const WgmmaForm& form, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return operands_of(form, uniform(form.a, random), uniform(form.b, random), random);
}

std::pair<int, int> accumulator_place(int index, int thread) {
  return {warp_row(thread % kWarpgroup) + index % 4 / 2 * 8,
          index / 4 * 8 + thread % 4 * 2 + index % 2};
}

}  // namespace assay
