// SPDX-License-Identifier: Apache-2.0
// The skinny product in the host model: all packings, on shapes that are no multiple of anything,
// with so little room that there are several passes and phases.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/semantics/number.hpp"
#include "harness/model_case/model_case.hpp"
#include "kernels/skinny/arrange.hpp"
#include "kernels/skinny/reference.hpp"
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {
namespace {

struct Shape {
  SkinnyWeights weights;
  int m, n, k;
  int cluster;  // CTAs that share k; more than 1: on sm_90 alone
  int ctas;
  int shared_bytes;  // of a CTA; 0: what sm_89 has
};

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

// The first output that is farther from the sum in float64 than skinny.hpp's bound.
std::string first_wrong(const Shape& s, const Drawn& x, const Drawn& w, const Drawn& scales,
                        double scale, const std::vector<std::uint16_t>& found) {
  const auto n = static_cast<std::size_t>(s.n), k = static_cast<std::size_t>(s.k);
  const auto block = static_cast<std::size_t>(scale_block(s.weights));
  const std::size_t row_scales = scales.values.size() / n;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t token = i / n, row = i % n;
    double sum = 0, magnitude = 0;
    for (std::size_t j = 0; j < k; ++j) {
      double weight = w.values[row * k + j] * scale;
      if (scale_bytes(s.weights) > 0)
        weight *= scales.values[row * row_scales + (block == 0 ? 0 : j / block)];
      const double product = x.values[token * k + j] * weight;
      sum += product;
      magnitude += std::fabs(product);
    }
    const double is = model::to_double(number("bf16"), found[i]);
    if (!(std::fabs(is - sum) <= skinny_bound(s.k, sum, magnitude)))
      return "D[" + std::to_string(token) + "][" + std::to_string(row) + "] is " +
             std::to_string(is) + ", not " + std::to_string(sum);
  }
  return {};
}

std::string kernel_name(const Shape& s, int tokens) {
  // As the compiler mangles skinny_product<Format, tokens, hopper>.
  std::string format = name(s.weights);
  format[0] = static_cast<char>(format[0] - 'a' + 'A');
  return "14skinny_productINS0_" + std::to_string(format.size()) + format + "ELi" +
         std::to_string(tokens) + "ELb" + (s.cluster > 1 ? "1" : "0") + "E";
}

SkinnyLayout layout_of(const Shape& s) {
  return arrange(s.weights, s.m, s.n, s.k,
                 {.ctas = s.ctas,
                  .shared_bytes = s.shared_bytes > 0 ? s.shared_bytes : 99 * 1024,
                  .hopper = s.cluster > 1,
                  .cluster = s.cluster});
}

ModelResult run(const Shape& s, model::Gpu& gpu, const model::Options& options) {
  std::uint64_t state = options.seed;
  const auto next = [&] {  // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  };
  const auto count = [](int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  };
  SkinnyLayout l = layout_of(s);
  const Drawn x = drawn("bf16", count(s.m, s.k), -2, 2, next),
              w = drawn_weights(s.weights, count(s.n, s.k), next);
  const int each = scale_bytes(s.weights);
  const int row_scales = each == 0 ? 0 : scale_row_bytes(s.weights, s.k) / each;
  const Drawn scales = drawn_scales(s.weights, count(s.n, row_scales), next);
  const bool scaled = s.weights == SkinnyWeights::nvf4;
  const Drawn scale = drawn("f32", scaled ? 1 : 0, 0.25, 4, next);
  const auto upload = [&](const char* name, const Drawn& d) {
    const model::Address at = gpu.allocate(name, std::max<std::size_t>(d.bytes.size(), 1));
    gpu.write(at, d.bytes);
    return at;
  };
  const model::Address d = gpu.allocate("D", count(s.m, s.n) * 2);
  SkinnyArguments& a = l.arguments;
  const auto pointer = [](auto*& to, model::Address at) {
    to = std::bit_cast<std::remove_reference_t<decltype(to)>>(at);
  };
  pointer(a.d, d);
  pointer(a.x, upload("X", x));
  pointer(a.w, upload("W", w));
  pointer(a.scales, upload("scales", scales));
  pointer(a.scale, upload("scale", scale));
  model::Arguments arguments;
  arguments.push(a);
  ModelResult result;
  model::Shape shape{.grid = {l.grid, 1, 1},
                     .block = {l.threads, 1, 1},
                     .dynamic_shared_bytes = static_cast<std::uint32_t>(l.shared_bytes)};
  if (s.cluster > 1) shape.cluster = {s.cluster, 1, 1};
  result.outcome = gpu.launch(gpu.kernel(kernel_name(s, l.tokens)), shape, arguments, options);
  if (!result.outcome.finished) return result;
  const auto found = gpu.read<std::uint16_t>(d, count(s.m, s.n));
  result.hash = model::crc32(
      std::span(reinterpret_cast<const std::uint8_t*>(found.data()), found.size() * 2));
  result.wrong = first_wrong(s, x, w, scales, scaled ? scale.values[0] : 1, found);
  return result;
}

std::vector<Shape> shapes() {
  // Rows are no multiple of a tile or of the CTAs; k is several units and a part of one, or has
  // more than one phase.
  constexpr int kHopperRoom = 190 * 1024;
  std::vector<Shape> all;
  for (const SkinnyWeights w : kSkinnyWeights) {
    const int step = skinny_step(w);
    all.push_back({w, 1, 77, 5 * step, 1, 3});
    all.push_back({w, 1, 45, 2560 + step, 2, 4, kHopperRoom});
    all.push_back({w, 3, 131, 1280 + step, 1, 2});
    all.push_back({w, 13, 50, 1280, 1, 3});
    all.push_back({w, 5, 99, 1280 + step, 2, 4, kHopperRoom});
    // There are several blocks of rows, which end inside a block's last tile.
    all.push_back({w, 1, 149, 2560 + step, 2, 2, kHopperRoom});
    all.push_back({w, 3, 211, 1280 + step, 2, 2, kHopperRoom});
  }
  all.push_back({SkinnyWeights::bf16, 16, 147, 2568, 2, 4, 150 * 1024});
  all.push_back({SkinnyWeights::s4, 25, 40, 1280, 1, 2});
  // A warp's second block of rows is behind the end, in each of several phases.
  all.push_back({SkinnyWeights::bf16, 20, 37, 2560, 1, 1});
  // Tokens of a phase come during the one before: with sums in their place, beside them in several
  // passes, and in a cluster.
  all.push_back({SkinnyWeights::mxf4, 12, 75, 5152, 1, 1});
  all.push_back({SkinnyWeights::bf16, 17, 140, 2568, 1, 1});
  all.push_back({SkinnyWeights::s8, 33, 75, 2576, 2, 2, 130 * 1024});
  all.push_back({SkinnyWeights::s2, 64, 40, 1280, 1, 2});
  all.push_back({SkinnyWeights::nvf4, 33, 260, 1280, 4, 4, kHopperRoom});
  // Few tokens, in phases.
  all.push_back({SkinnyWeights::s4, 1, 149, 2816, 2, 2, 72 * 1024});
  all.push_back({SkinnyWeights::bf16, 4, 211, 2568, 2, 2, 74 * 1024});
  all.push_back({SkinnyWeights::mxf4, 3, 211, 5152, 2, 2, 160 * 1024});
  return all;
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const Shape& s : shapes())
    cases.push_back({.name = std::string("kernels/gemv/") + name(s.weights) + "/m" +
                             std::to_string(s.m) + "n" + std::to_string(s.n) + "k" +
                             std::to_string(s.k) +
                             (s.cluster > 1 ? "/cluster" + std::to_string(s.cluster) : ""),
                     .kernels = {kernel_name(s, layout_of(s).tokens)},
                     .run = [s](model::Gpu& gpu, const model::Options& options) {
                       return run(s, gpu, options);
                     }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels
