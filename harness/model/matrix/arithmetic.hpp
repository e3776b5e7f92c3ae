// SPDX-License-Identifier: Apache-2.0
// What a matrix instruction computes: D = A B + C on bit patterns, one element in a word.
//
// Hopper's sums are those that the probe numerics/accumulate found on an H200 and predicted bit by
// bit: how many products are added at once, to how many bits they are cut, where C is added, how
// the result is rounded, what infinities and NaNs become. Where no chip was at hand, products are
// exact, their sum is rounded to f32 once, and error_bound() says how far a chip may be from it.
#pragma once
#include <cstdint>
#include <span>

#include "harness/model/matrix/element_type.hpp"
#include "harness/numerics/mma_model.hpp"

namespace assay::model::matrix {

// How the sums of a form are known.
enum class Certainty : std::uint8_t {
  measured,  // every bit of thousands of random sums was predicted, on an H200
  inferred,  // the same unit in another shape: what was measured, applied to it
  bounded,   // not silicon: exact products, rounded once, within error_bound()
};
const char* name(Certainty certainty);

enum class Machine : std::uint8_t { ada, hopper, blackwell };
enum class Unit : std::uint8_t { mma_sync, wgmma, tcgen05 };
enum class BitOperation : std::uint8_t { bit_and, bit_xor };

// Block scales: the product of two elements counts for scale_a * scale_b times as much, one scale
// for every `block` elements along K.
enum class Scale : std::uint8_t { none, ue8m0, ue4m3 };

struct Arithmetic {
  Type a, b, c, d;
  int m, n, k;  // k: products of one element of D; of a sparse form half of the instruction's
  Certainty certainty = Certainty::bounded;
  numerics::MmaModel model;  // where not bounded, of floating-point types but f64
  bool saturate = false;     // of s32: else it wraps round
  BitOperation bit_operation = BitOperation::bit_xor;  // of b1
  Scale scale = Scale::none;
  int block = 0;
  bool one_by_one = false;   // products are added in f32, each in its turn
  bool toward_zero = false;  // where bounded: how the exact sum becomes a D of f32

  int scales() const { return scale == Scale::none ? 0 : k / block; }  // of a row
};

// The arithmetic of one instruction. Throws Violation("matrix.type") for types that no instruction
// multiplies.
struct Operation {
  Machine machine;
  Unit unit;
  Type a, b, c, d;
  int m, n, k;
  bool sparse = false;  // k is then what is stored of A
};
Arithmetic arithmetic_of(const Operation& operation);

// A [m][k], B [n][k], C and D [m][n]; an empty C is 0. Scales [m][scales()] and [n][scales()]. Of a
// sparse form A holds what is stored, B is [n][2 k], and columns [m][k] say which of B's elements
// each of A's is multiplied by (sparsity.hpp).
struct Factors {
  std::span<const Word> a, b, c;
  std::span<const Word> scale_a = {}, scale_b = {};
  std::span<const std::uint8_t> columns = {};
};
void multiply(const Arithmetic& arithmetic, const Factors& factors, std::span<Word> d);

// mma.sync of f64: fused multiply-adds in the order of k, rounded to nearest.
void multiply_f64(const Arithmetic& arithmetic, std::span<const std::uint64_t> a,
                  std::span<const std::uint64_t> b, std::span<const std::uint64_t> c,
                  std::span<std::uint64_t> d);

// How far D[row][column] of a chip may be from the one computed here, where that is bounded, if the
// chip cuts each addend, and the result, no more than the coarsest known does (Ada's fp8 to 13 bits
// below the greatest exponent, all else to 23). Of finite operands of floating-point types.
double error_bound(const Arithmetic& arithmetic, const Factors& factors, int row, int column);

// imm-scale-a and imm-scale-b of wgmma, negate of tcgen05: -1 flips each element's sign.
void negate(Type type, std::span<Word> elements);

}  // namespace assay::model::matrix
