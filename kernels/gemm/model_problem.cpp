// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/model_problem.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "harness/element.hpp"
#include "harness/numerics/float_format.hpp"
#include "kernels/gemm/bound.hpp"

namespace assay::kernels {
namespace {

std::size_t count(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

std::size_t bytes_of(const std::string& type) {
  return static_cast<std::size_t>(element_bits(type)) / 8;
}

// The pointer whose value is an address of the model's.
void* pointer(model::Address at) { return std::bit_cast<void*>(at); }

GemmRounding rounding_of(const std::string& type) {
  if (type == "bf16") return {0x1p-8, 0};
  if (type == "f16") return {0x1p-11, 0x1p-25};
  return {0x1p-24, 0};
}

// Values whose elements along k are next to each other, as they are or after a transposition.
std::vector<double> along_k(const std::vector<double>& values, int rows, int k, bool already) {
  if (already) return values;
  std::vector<double> turned(values.size());
  for (std::size_t row = 0; row < count(rows, 1); ++row)
    for (std::size_t x = 0; x < count(k, 1); ++x)
      turned[row * count(k, 1) + x] = values[x * count(rows, 1) + row];
  return turned;
}

// In four sums at once, which the compiler may not make of one by itself.
void add_products(GemmSum& sum, const double* a, const double* b, int elements) {
  std::array<double, 4> products{}, magnitudes{};
  const auto add = [&](int at, std::size_t lane) {
    const double one = a[at] * b[at];
    products[lane] += one;
    magnitudes[lane] += std::fabs(one);
  };
  int at = 0;
  for (; at + 4 <= elements; at += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) add(at + static_cast<int>(lane), lane);
  for (; at < elements; ++at) add(at, 0);
  const auto total = [](const std::array<double, 4>& of) {
    return (of[0] + of[1]) + (of[2] + of[3]);
  };
  sum.add(total(products), total(magnitudes));
}

}  // namespace

ModelProblem::ModelProblem(model::Gpu& gpu, const GemmProblem& problem, std::uint64_t seed)
    : problem_(problem) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto make = [&](const char* name, const std::string& type, std::size_t elements,
                        const auto& draw) {
    const numerics::FloatFormat format = numerics::float_format(type);
    const std::size_t width = bytes_of(type);
    Values made;
    std::vector<std::uint8_t> stored(elements * width);
    for (std::size_t i = 0; i < elements; ++i) {
      const numerics::Bits bits = numerics::encode(format, draw());
      made.values.push_back(numerics::value(format, bits));
      for (std::size_t byte = 0; byte < width; ++byte)
        stored[i * width + byte] = static_cast<std::uint8_t>(bits >> (8 * byte));
    }
    made.at = gpu.allocate(name, stored.size());
    gpu.write(made.at, stored);
    return made;
  };
  const auto element = [&] { return normal(random); };
  const auto factor = [&] { return 0.5 + std::ldexp(static_cast<double>(random() >> 11), -53); };
  const GemmProblem& p = problem_;
  a_ = make("A", p.type, count(p.m, p.k), element);
  b_ = make("B", p.b_type(), count(p.n, p.k), element);
  if (p.beta != 0) c_ = make("C", p.d_type(), count(p.m, p.n), element);
  if (p.bias) bias_ = make("bias", p.d_type(), count(1, p.n), element);
  if (p.scaling != Scaling::none) {
    const bool each = p.scaling == Scaling::row;
    scale_a_ = make("scales of A", "f32", count(1, each ? p.m : 1), factor);
    scale_b_ = make("scales of B", "f32", count(1, each ? p.n : 1), factor);
  }
  d_ = gpu.allocate("D", count(p.m, p.n) * bytes_of(p.d_type()));
}

GemmOperands ModelProblem::operands() const {
  return {pointer(d_),
          pointer(a_.at),
          pointer(b_.at),
          pointer(c_.at),
          pointer(bias_.at),
          static_cast<const float*>(pointer(scale_a_.at)),
          static_cast<const float*>(pointer(scale_b_.at))};
}

void ModelProblem::compare(model::Gpu& gpu, ModelResult& result) const {
  const GemmProblem& p = problem_;
  const std::size_t width = bytes_of(p.d_type());
  const numerics::FloatFormat format = numerics::float_format(p.d_type());
  const auto stored = gpu.read<std::uint8_t>(d_, count(p.m, p.n) * width);
  result.hash = model::crc32(std::span(stored));
  const auto scale = [](const Values& scales, int at) {
    if (scales.values.empty()) return 1.0;
    return scales.values[scales.values.size() == 1 ? 0 : static_cast<std::size_t>(at)];
  };
  // Rows of A and columns of B, their elements next to each other.
  const std::vector<double> along_a = along_k(a_.values, p.m, p.k, p.layout[0] == 'n'),
                            along_b = along_k(b_.values, p.n, p.k, p.layout[1] == 't');
  for (int row = 0; row < p.m; ++row)
    for (int column = 0; column < p.n; ++column) {
      const double *a = along_a.data() + count(row, p.k), *b = along_b.data() + count(column, p.k);
      GemmSum sum;
      for (int first = 0; first < p.k; first += 32)
        add_products(sum, a + first, b + first, std::min(32, p.k - first));
      const std::size_t at = count(row, p.n) + static_cast<std::size_t>(column);
      const double c = p.beta != 0 ? p.beta * c_.values[at] : 0;
      const double bias = p.bias ? bias_.values[static_cast<std::size_t>(column)] : 0;
      const GemmExpected expected =
          gemm_expected(sum, bytes_of(p.type) == 1, p.k,
                        {.factor = p.alpha * scale(scale_a_, row) * scale(scale_b_, column),
                         .addend = c + bias,
                         .magnitude = std::fabs(c) + std::fabs(bias),
                         .activation = static_cast<int>(p.activation)},
                        rounding_of(p.d_type()));
      numerics::Bits bits = 0;
      for (std::size_t byte = 0; byte < width; ++byte)
        bits |= numerics::Bits{stored[at * width + byte]} << (8 * byte);
      const double found = numerics::value(format, bits);
      if (!(std::fabs(found - expected.value) <= expected.bound)) {
        result.wrong = "D[" + std::to_string(row) + "][" + std::to_string(column) + "] is " +
                       std::to_string(found) + ", not " + std::to_string(expected.value);
        return;
      }
    }
}

}  // namespace assay::kernels
