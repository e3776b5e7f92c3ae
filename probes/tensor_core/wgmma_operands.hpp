// SPDX-License-Identifier: Apache-2.0
// A and B of wgmma on the host: their bits, where they lie, and their product.
#pragma once
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "harness/callable.hpp"
#include "probes/tensor_core/wgmma_form.hpp"

namespace assay {

struct WgmmaOperands {
  // Rows of 128 bytes along K, in order: 64 of A, n of B. A sparse A holds its elements that are
  // not zero, in the first half of its rows.
  std::vector<std::uint32_t> a, b;
  // Which elements those are: four bits for every group of A, [row][group]. A group is four
  // elements of which two are not zero, their positions two bits each, the lower in the low bits;
  // of tf32 it is two elements and 0b0100 the first, 0b1110 the second. Empty if A is dense.
  // PTX ISA 9.0, "Sparse matrix storage" of wgmma.mma_async.sp.
  std::vector<std::uint8_t> metadata;

  // What a kernel reads: the swizzled tile; registers of A, [step][register][thread], if they are
  // its source; metadata, [step][thread], if sparse.
  std::vector<std::uint32_t> words(const WgmmaForm& form) const;
  static std::size_t word_count(const WgmmaForm& form);

  // 64 x n: the sums of products along one tile.
  std::vector<double> product(const WgmmaForm& form) const;
};

// Each call gives the next 32 bits of a matrix, row by row.
using Words = Callable<std::uint32_t()>;
Words packed(const std::string& element, Callable<double()> next);
// Floats from -1 to 1, integers of the whole range.
Words uniform(const std::string& element, std::mt19937_64& random);

// With legal metadata, at random, if A is sparse.
WgmmaOperands operands_of(const WgmmaForm& form, const Words& a, const Words& b,
                          std::mt19937_64& random);
// For checking: all sums are exact in every type of accumulator, f16 too.
WgmmaOperands small_integers(const WgmmaForm& form, std::uint64_t seed);
// For timing.
WgmmaOperands uniform_operands(const WgmmaForm& form, std::uint64_t seed);

// Row and column of D that a thread's accumulator `index` (not register: f16 has two in one) is.
std::pair<int, int> accumulator_place(int index, int thread);

}  // namespace assay
