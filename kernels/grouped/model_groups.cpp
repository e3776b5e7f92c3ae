// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/model_groups.hpp"

#include <algorithm>
#include <bit>
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

constexpr std::uint16_t kPoison = 0xffff;

}  // namespace

std::string GroupedModelCase::name() const {
  const auto text = [](int value) { return std::to_string(value); };
  return problem.type + "_" + kernels::name(problem.grouping) + "/g" + text(problem.groups) +
         "rows" + text(problem.rows) + "n" + text(problem.n) + "k" + text(problem.k);
}

const std::vector<GroupedModelCase>& grouped_model_cases() {
  // Groups that are empty, of one row, of a tile and one more, that begin on no multiple of 16 or
  // 4; rows behind the last group; ends that decrease and counts beyond the room.
  static const std::vector<GroupedModelCase> all = [] {
    std::vector<GroupedModelCase> cases;
    const auto add = [&](Grouping grouping, int rows, int n, int k, const std::vector<int>& sizes) {
      for (const char* type : {"bf16", "e4m3_block128"}) {
        if (grouping == Grouping::gradient && type != std::string("bf16")) continue;
        GroupedModelCase& c = cases.emplace_back();
        c.problem = {grouping, type, static_cast<int>(sizes.size()), rows, n, k};
        c.sizes = sizes;
      }
    };
    add(Grouping::contiguous, 211, 264, 144, {1, 1, 130, 205});
    add(Grouping::contiguous, 64, 72, 400, {64, 64, 64});
    add(Grouping::contiguous, 300, 520, 64, {0, 7, 3, 262, 400});
    add(Grouping::masked, 136, 264, 144, {0, 136, 1, 129});
    add(Grouping::masked, 24, 520, 272, {5, -1, 30});
    add(Grouping::contiguous, 300, 136, 80, {0, 0, 127, 127, 256, 257, 257});
    add(Grouping::contiguous, 130, 72, 848, {0, 129, 129});
    add(Grouping::masked, 129, 72, 80, {127, 0, 0, 128, 1, 129});
    add(Grouping::gradient, 211, 264, 144, {1, 1, 66, 205});
    add(Grouping::gradient, 300, 72, 264, {0, 128, 191, 150, 400});
    add(Grouping::gradient, 1100, 136, 72, {0, 0, 1027, 1027});
    add(Grouping::gradient, 40, 72, 72, {0, 0, 0});
    return cases;
  }();
  return all;
}

GroupedModelOperands::GroupedModelOperands(model::Gpu& gpu, const GroupedModelCase& c,
                                           std::uint64_t seed)
    : case_(c),
      scaled_(c.problem.type != "bf16"),
      rows_(c.problem.rows * (c.problem.grouping == Grouping::masked ? c.problem.groups : 1)),
      rows_d_(c.problem.grouping == Grouping::gradient ? c.problem.groups * c.problem.k : rows_) {
  const auto next = [&seed] {  // splitmix64
    std::uint64_t z = seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  };
  const model::Number type = number(scaled_ ? "e4m3" : "bf16");
  const auto fill = [&](const char* name, std::size_t elements, std::vector<double>& values) {
    std::vector<std::uint8_t> bytes;
    values.resize(elements);
    for (double& value : values) {  // from -32 to 32
      const std::uint64_t bits =
          model::from_double(type, std::ldexp(static_cast<double>(next() >> 40), -18) - 32);
      value = model::to_double(type, bits);
      bytes.push_back(static_cast<std::uint8_t>(bits));
      if (!scaled_) bytes.push_back(static_cast<std::uint8_t>(bits >> 8));
    }
    const model::Address at = gpu.allocate(name, bytes.size());
    gpu.write(at, bytes);
    return at;
  };
  const auto scales = [&](const char* name, std::size_t elements, std::vector<float>& values) {
    values.resize(elements);
    for (float& value : values)  // from 1/64 to 1/32
      value = static_cast<float>(std::ldexp(static_cast<double>(next() >> 40), -30) + 1. / 64);
    const model::Address at = gpu.allocate(name, elements * 4);
    gpu.write(at, values);
    return at;
  };
  const GroupedProblem& p = case_.problem;
  a_ = fill("A", count(rows_, p.k), host_a_);
  const bool gradient = p.grouping == Grouping::gradient;
  b_ = fill("B", gradient ? count(rows_, p.n) : count(p.groups * p.n, p.k), host_b_);
  const int scale_rows = blocks_of_scales(p.k) * (p.grouping == Grouping::masked ? p.groups : 1);
  scale_a_ = scales("scales of A", count(scale_rows, scale_a_stride(p.rows)), host_scale_a_);
  scale_b_ = scales("scales of B", count(p.groups * blocks_of_scales(p.n), scale_b_stride(p.k)),
                    host_scale_b_);
  // Rows of no group hold whatever was there.
  const auto poison = [&](model::Address at, int columns) {
    const std::size_t row_bytes = count(1, columns) * (scaled_ ? 1 : 2);
    for (int row = 0; row < rows_; ++row)
      if (owner_of_row(row) < 0)
        gpu.write(at + static_cast<model::Address>(count(row, 1) * row_bytes),
                  std::vector<std::uint8_t>(row_bytes, 0xff));  // NaN
  };
  poison(a_, p.k);
  if (gradient) poison(b_, p.n);
  sizes_ = gpu.allocate("sizes", case_.sizes.size() * 4);
  gpu.write(sizes_, case_.sizes);
  d_ = gpu.allocate("D", count(rows_d_, p.n) * 2);
  gpu.write(d_, std::vector<std::uint16_t>(count(rows_d_, p.n), kPoison));
}

GroupedOperands GroupedModelOperands::operands() const {
  return {std::bit_cast<void*>(d_),
          std::bit_cast<const void*>(a_),
          std::bit_cast<const void*>(b_),
          std::bit_cast<const int*>(sizes_),
          std::bit_cast<const float*>(scale_a_),
          std::bit_cast<const float*>(scale_b_)};
}

int GroupedModelOperands::group_of(int row) const {
  const GroupedProblem& p = case_.problem;
  if (p.grouping == Grouping::gradient) return row / p.k;  // a row of D
  return owner_of_row(row);
}

int GroupedModelOperands::owner_of_row(int row) const {
  const GroupedProblem& p = case_.problem;
  if (p.grouping == Grouping::masked)
    return row % p.rows < case_.sizes[static_cast<std::size_t>(row / p.rows)] ? row / p.rows : -1;
  int end = 0;
  for (int g = 0; g < p.groups; ++g) {
    end = std::max(end, case_.sizes[static_cast<std::size_t>(g)]);
    if (row < end) return g;
  }
  return -1;
}

std::string GroupedModelOperands::compare_element(int row, int column, int group,
                                                  double found) const {
  const GroupedProblem& p = case_.problem;
  const bool masked = p.grouping == Grouping::masked;
  double value = 0, bound = 0;
  // Of bf16: the instruction's truncated additions, one for 16 products, and rounding to bf16.
  double magnitude = 0;
  const auto add = [&](double product) {
    value += product;
    magnitude += std::fabs(product);
  };
  const auto finish = [&](int products) {
    const int additions = (products + 15) / 16 + 2;
    bound = magnitude * additions * 0x1p-22 + std::fabs(value) / 256;
  };
  if (p.grouping == Grouping::gradient) {
    int begin = 0, end = 0;
    for (int g = 0; g <= group; ++g) {
      begin = end;
      end = std::min(std::max(end, case_.sizes[static_cast<std::size_t>(g)]), p.rows);
    }
    for (int x = begin; x < end; ++x)
      add(host_a_[count(x, p.k) + static_cast<std::size_t>(row % p.k)] *
          host_b_[count(x, p.n) + static_cast<std::size_t>(column)]);
    finish(end - begin);
  } else if (const double* a = &host_a_[count(row, p.k)],
             *b = &host_b_[count(group * p.n + column, p.k)];
             scaled_) {
    BlockScaledSum sum;
    for (int kb = 0; kb < blocks_of_scales(p.k); ++kb) {
      const int scale_row = (masked ? group * blocks_of_scales(p.k) : 0) + kb;
      const int scale_row_b = group * blocks_of_scales(p.n) + column / kScaleBlock;
      const double scale =
          static_cast<double>(
              host_scale_a_[count(scale_row, scale_a_stride(p.rows)) +
                            static_cast<std::size_t>(masked ? row % p.rows : row)]) *
          host_scale_b_[count(scale_row_b, scale_b_stride(p.k)) + static_cast<std::size_t>(kb)];
      BlockSum block;
      const int end = std::min(p.k, (kb + 1) * kScaleBlock);
      for (int j = kb * kScaleBlock; j < end; j += 32) {
        MmaStep step;
        for (int x = j; x < std::min(end, j + 32); ++x) step.add(a[x] * b[x]);
        block.add(step);
      }
      sum.add(block, scale);
    }
    value = sum.value;
    bound = sum.bound();
  } else {
    for (int x = 0; x < p.k; ++x) add(a[x] * b[x]);
    finish(p.k);
  }
  if (std::fabs(found - value) <= bound) return "";
  return "D[" + std::to_string(row) + "][" + std::to_string(column) + "] of group " +
         std::to_string(group) + " is " + std::to_string(found) + ", not " + std::to_string(value);
}

void GroupedModelOperands::compare(model::Gpu& gpu, ModelResult& result) const {
  const int n = case_.problem.n;
  const auto found = gpu.read<std::uint16_t>(d_, count(rows_d_, n));
  result.hash = model::crc32(
      std::span(reinterpret_cast<const std::uint8_t*>(found.data()), found.size() * 2));
  const model::Number bf16 = number("bf16");
  for (int row = 0; row < rows_d_; ++row) {
    const int group = group_of(row);
    for (int column = 0; column < n && result.wrong.empty(); ++column) {
      const std::uint16_t bits = found[count(row, n) + static_cast<std::size_t>(column)];
      if (group >= 0)
        result.wrong = compare_element(row, column, group, model::to_double(bf16, bits));
      else if (bits != kPoison)
        result.wrong = "D[" + std::to_string(row) + "][" + std::to_string(column) +
                       "] is of no group, and was written";
    }
  }
}

}  // namespace assay::kernels
