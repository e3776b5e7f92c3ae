// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/model_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "harness/model/semantics/number.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/error_bound.hpp"

namespace assay::kernels {
namespace {

std::size_t count(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

model::Number number(const std::string& name) {
  model::Number type;
  model::parse_number(name, type);
  return type;
}

}  // namespace

std::string BlockScaledModelShape::name() const { return fmt::format("m{}n{}k{}", m, n, k); }

BlockScaledModelOperands::BlockScaledModelOperands(model::Gpu& gpu,
                                                   const BlockScaledModelShape& shape,
                                                   std::uint64_t seed)
    : shape_(shape) {
  const auto next = [&seed] {  // splitmix64
    std::uint64_t z = seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  };
  const auto fill = [&](std::size_t elements) {  // from -32 to 32
    const model::Number e4m3 = number("e4m3");
    std::vector<std::uint8_t> values(elements);
    for (auto& value : values)
      value = static_cast<std::uint8_t>(
          model::from_double(e4m3, std::ldexp(static_cast<double>(next() >> 40), -18) - 32));
    return values;
  };
  const auto scales = [&](std::size_t elements) {  // from 1/64 to 1/32
    std::vector<float> values(elements);
    for (auto& value : values)
      value = static_cast<float>(std::ldexp(static_cast<double>(next() >> 40), -30) + 1. / 64);
    return values;
  };
  host_a_ = fill(count(shape.m, shape.k));
  host_b_ = fill(count(shape.n, shape.k));
  host_scale_a_ = scales(count(blocks_of_scales(shape.k), scale_a_stride(shape.m)));
  host_scale_b_ = scales(count(blocks_of_scales(shape.n), scale_b_stride(shape.k)));
  a_ = gpu.allocate("A", host_a_.size());
  b_ = gpu.allocate("B", host_b_.size());
  scale_a_ = gpu.allocate("scales of A", host_scale_a_.size() * 4);
  scale_b_ = gpu.allocate("scales of B", host_scale_b_.size() * 4);
  d_ = gpu.allocate("D", count(shape.m, shape.n) * 2);
  gpu.write(a_, host_a_);
  gpu.write(b_, host_b_);
  gpu.write(scale_a_, host_scale_a_);
  gpu.write(scale_b_, host_scale_b_);
}

void BlockScaledModelOperands::compare(model::Gpu& gpu, ModelResult& result) const {
  const auto found_d = gpu.read<std::uint16_t>(d_, count(shape_.m, shape_.n));
  result.hash = model::crc32(
      std::span(reinterpret_cast<const std::uint8_t*>(found_d.data()), found_d.size() * 2));
  const model::Number e4m3 = number("e4m3"), bf16 = number("bf16");
  double values[256];
  for (int i = 0; i < 256; ++i) values[i] = model::to_double(e4m3, static_cast<std::uint64_t>(i));
  const auto k = static_cast<std::size_t>(shape_.k), n = static_cast<std::size_t>(shape_.n);
  for (std::size_t i = 0; i < found_d.size() && result.wrong.empty(); ++i) {
    const std::size_t row = i / n, column = i % n;
    BlockScaledSum sum;
    for (std::size_t kb = 0; kb * kScaleBlock < k; ++kb) {
      const double scale =
          static_cast<double>(
              host_scale_a_[kb * static_cast<std::size_t>(scale_a_stride(shape_.m)) + row]) *
          host_scale_b_[column / kScaleBlock * static_cast<std::size_t>(scale_b_stride(shape_.k)) +
                        kb];
      BlockSum block;
      for (std::size_t j = kb * kScaleBlock; j < std::min(k, (kb + 1) * kScaleBlock); j += 32) {
        MmaStep step;
        for (std::size_t x = j; x < std::min(k, j + 32); ++x)
          step.add(values[host_a_[row * k + x]] * values[host_b_[column * k + x]]);
        block.add(step);
      }
      sum.add(block, scale);
    }
    const double found = model::to_double(bf16, found_d[i]);
    if (!(std::fabs(found - sum.value) <= sum.bound()))
      result.wrong = "D[" + std::to_string(row) + "][" + std::to_string(column) + "] is " +
                     std::to_string(found) + ", not " + std::to_string(sum.value);
  }
}

const std::vector<BlockScaledModelShape>& awkward_block_scaled_shapes() {
  static const std::vector<BlockScaledModelShape> all = {
      {256, 512, 256}, {1, 8, 16}, {65, 72, 144}, {257, 264, 400}, {127, 520, 64}, {300, 248, 640}};
  return all;
}

}  // namespace assay::kernels
