// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/model_operands.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <string>

#include "harness/model/semantics/number.hpp"

namespace assay::kernels {
namespace {

std::size_t count(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

model::Number bf16() {
  model::Number type;
  model::parse_number("bf16", type);
  return type;
}

model::TensorMapBytes matrix(model::Address at, int rows, int columns, int box_rows,
                             int box_columns) {
  const auto u64 = [](int value) { return static_cast<std::uint64_t>(value); };
  const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
  return model::encode({.type = model::MapElement::bf16,
                        .rank = 2,
                        .address = at,
                        .extents = {u64(columns), u64(rows), 1, 1, 1},
                        .strides = {u64(columns) * 2},
                        .swizzle = model::MapSwizzle::bytes128,
                        .box = {u32(box_columns), u32(box_rows), 1, 1, 1}});
}

std::vector<float> to_floats(const std::vector<std::uint16_t>& from) {
  std::vector<float> to(from.size());
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<float>(model::to_double(bf16(), from[i]));
  return to;
}

}  // namespace

std::string ModelShape::name() const { return fmt::format("m{}n{}k{}", m, n, k); }

ModelOperands::ModelOperands(model::Gpu& gpu, const ModelShape& shape, std::uint64_t seed)
    : shape_(shape) {
  // splitmix64, numbers from -2 to 2.
  const auto next = [&seed] {
    std::uint64_t z = seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  };
  const auto fill = [&](std::size_t elements) {
    std::vector<std::uint16_t> values(elements);
    for (auto& value : values)
      value = static_cast<std::uint16_t>(
          model::from_double(bf16(), std::ldexp(static_cast<double>(next() >> 40), -22) - 2));
    return values;
  };
  host_a_ = fill(count(shape.m, shape.k));
  host_b_ = fill(count(shape.n, shape.k));
  a_ = gpu.allocate("A", host_a_.size() * 2);
  b_ = gpu.allocate("B", host_b_.size() * 2);
  d_ = gpu.allocate("D", count(shape.m, shape.n) * 2);
  gpu.write(a_, host_a_);
  gpu.write(b_, host_b_);
}

model::TensorMapBytes ModelOperands::map_a(int box_rows, int box_columns) const {
  return matrix(a_, shape_.m, shape_.k, box_rows, box_columns);
}
model::TensorMapBytes ModelOperands::map_b(int box_rows, int box_columns) const {
  return matrix(b_, shape_.n, shape_.k, box_rows, box_columns);
}
model::TensorMapBytes ModelOperands::map_d(int box_rows, int box_columns) const {
  return matrix(d_, shape_.m, shape_.n, box_rows, box_columns);
}

GemmOperands ModelOperands::operands() const {
  return {
      .d = std::bit_cast<void*>(d_), .a = std::bit_cast<void*>(a_), .b = std::bit_cast<void*>(b_)};
}

void ModelOperands::compare(model::Gpu& gpu, ModelResult& result) const {
  const auto found_d = gpu.read<std::uint16_t>(d_, count(shape_.m, shape_.n));
  result.hash = model::crc32(
      std::span(reinterpret_cast<const std::uint8_t*>(found_d.data()), found_d.size() * 2));
  const std::vector<float> a = to_floats(host_a_), b = to_floats(host_b_);
  const auto k = static_cast<std::size_t>(shape_.k), n = static_cast<std::size_t>(shape_.n);
  // The sum's error is that of the instruction's truncated additions, one for 16 products, and of
  // rounding to bf16.
  const int additions = (shape_.k + 15) / 16 + 1;
  for (std::size_t i = 0; i < found_d.size() && result.wrong.empty(); ++i) {
    double sum = 0, magnitude = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const double product = static_cast<double>(a[i / n * k + j]) * b[i % n * k + j];
      sum += product;
      magnitude += std::fabs(product);
    }
    const double found = model::to_double(bf16(), found_d[i]);
    const double bound = magnitude * additions * std::ldexp(1.0, -22) + std::fabs(sum) / 256;
    if (!(std::fabs(found - sum) <= bound))
      result.wrong = "D[" + std::to_string(i / n) + "][" + std::to_string(i % n) + "] is " +
                     std::to_string(found) + ", not " + std::to_string(sum);
  }
}

const std::vector<ModelShape>& awkward_shapes() {
  static const std::vector<ModelShape> all = {{256, 512, 256}, {1, 8, 8},      {65, 72, 136},
                                              {257, 264, 72},  {127, 520, 64}, {300, 248, 320}};
  return all;
}

}  // namespace assay::kernels
