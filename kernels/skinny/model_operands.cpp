// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/model_operands.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "harness/model/semantics/number.hpp"
#include "kernels/skinny/reference.hpp"

namespace assay::kernels {
namespace {

model::Number number(const char* type) {
  model::Number n;
  model::parse_number(type, n);
  return n;
}

// Bytes of one operand and what they stand for.
struct Drawn {
  std::vector<std::uint8_t> bytes;
  std::vector<double> values;
};

// Numbers from 0 to `most`, or from -most, of a floating-point type.
template <class Next>
Drawn drawn(const char* type, std::size_t count, double least, double most, const Next& next) {
  const model::Number t = number(type);
  const auto each = static_cast<std::size_t>(t.bits / 8);
  Drawn d{std::vector<std::uint8_t>(count * each), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = model::from_double(
        t, least + (most - least) * std::ldexp(static_cast<double>(next() >> 11), -53));
    for (std::size_t b = 0; b < each; ++b)
      d.bytes[i * each + b] = static_cast<std::uint8_t>(bits >> 8 * b);
    d.values[i] = model::to_double(t, bits);
  }
  return d;
}

// Elements of the packed weights, all codes of them.
template <class Next>
Drawn drawn_weights(SkinnyWeights w, std::size_t count, const Next& next) {
  if (w == SkinnyWeights::bf16) return drawn("bf16", count, -2, 2, next);
  const int bits = weight_bits(w);
  Drawn d{std::vector<std::uint8_t>(count * static_cast<std::size_t>(bits) / 8),
          std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    auto code = static_cast<std::uint8_t>((next() >> 40) & ((1u << bits) - 1));
    if (w == SkinnyWeights::e4m3 && (code & 0x7f) == 0x7f) code ^= 1;  // NaN
    const std::size_t bit = i * static_cast<std::size_t>(bits);
    d.bytes[bit / 8] = static_cast<std::uint8_t>(d.bytes[bit / 8] | code << bit % 8);
    constexpr double kE2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    const int half = 1 << (bits - 1);
    d.values[i] = w == SkinnyWeights::e4m3 ? model::to_double(number("e4m3"), code)
                  : w == SkinnyWeights::mxf4 || w == SkinnyWeights::nvf4
                      ? (code & 8 ? -1 : 1) * kE2m1[code & 7]
                      : (code ^ half) - half;
  }
  return d;
}

constexpr std::uint8_t kNan = 0xff;  // of e4m3 and ue8m0, and twice of bf16

template <class Next>
Drawn drawn_scales(SkinnyWeights w, std::size_t count, const Next& next) {
  if (w == SkinnyWeights::nvf4) return drawn("e4m3", count, 0, 448, next);
  if (w != SkinnyWeights::mxf4)
    return drawn(scale_bytes(w) == 4 ? "f32" : "bf16", count, 0.125, 8, next);
  Drawn d{std::vector<std::uint8_t>(count), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    d.bytes[i] = static_cast<std::uint8_t>(117 + (next() >> 40) % 21);
    d.values[i] = std::ldexp(1.0, d.bytes[i] - 127);
  }
  return d;
}

std::size_t count(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

}  // namespace

SkinnyModelOperands::SkinnyModelOperands(model::Gpu& gpu, const SkinnyProblem& p,
                                         std::uint64_t seed)
    : problem_(p) {
  const auto next = [&seed] {  // splitmix64
    std::uint64_t z = seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  };
  const auto upload = [&](const char* name, Drawn drawn) {
    const model::Address at = gpu.allocate(name, std::max<std::size_t>(drawn.bytes.size(), 1));
    gpu.write(at, drawn.bytes);
    return Uploaded{at, std::move(drawn.values)};
  };
  const int each = scale_bytes(p.weights);
  const int row_scales = each == 0 ? 0 : scale_row_bytes(p.weights, p.k) / each;
  d_ = gpu.allocate("D", count(p.m, p.n) * 2);
  x_ = upload("X", drawn("bf16", count(p.m, p.k), -2, 2, next));
  w_ = upload("W", drawn_weights(p.weights, count(p.n, p.k), next));
  Drawn scales = drawn_scales(p.weights, count(p.n, row_scales), next);
  // What fills rows up is NaN.
  const std::size_t stride = count(row_scales, each);
  for (std::size_t row = 0; row < scales.bytes.size(); row += stride)
    std::fill(scales.bytes.begin() + static_cast<std::ptrdiff_t>(row) +
                  scales_of_row_bytes(p.weights, p.k),
              scales.bytes.begin() + static_cast<std::ptrdiff_t>(row + stride), kNan);
  scales_ = upload("scales", std::move(scales));
  scale_ = upload("scale", drawn("f32", p.weights == SkinnyWeights::nvf4 ? 1 : 0, 0.25, 4, next));
}

void SkinnyModelOperands::compare(model::Gpu& gpu, ModelResult& result) const {
  const SkinnyProblem& p = problem_;
  const auto found = gpu.read<std::uint16_t>(d_, count(p.m, p.n));
  result.hash = model::crc32(
      std::span(reinterpret_cast<const std::uint8_t*>(found.data()), found.size() * 2));
  const double scale = scale_.values.empty() ? 1 : scale_.values[0];
  result.wrong = [&]() -> std::string {
    const auto n = static_cast<std::size_t>(p.n), k = static_cast<std::size_t>(p.k);
    const auto block = static_cast<std::size_t>(scale_block(p.weights));
    const std::size_t row_scales = scales_.values.size() / n;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t token = i / n, row = i % n;
      double sum = 0, magnitude = 0;
      for (std::size_t j = 0; j < k; ++j) {
        double weight = w_.values[row * k + j] * scale;
        if (scale_bytes(p.weights) > 0)
          weight *= scales_.values[row * row_scales + (block == 0 ? 0 : j / block)];
        const double product = x_.values[token * k + j] * weight;
        sum += product;
        magnitude += std::fabs(product);
      }
      const double is = model::to_double(number("bf16"), found[i]);
      if (!(std::fabs(is - sum) <= skinny_bound(p.k, sum, magnitude)))
        return "D[" + std::to_string(token) + "][" + std::to_string(row) + "] is " +
               std::to_string(is) + ", not " + std::to_string(sum);
    }
    return {};
  }();
}

}  // namespace assay::kernels
