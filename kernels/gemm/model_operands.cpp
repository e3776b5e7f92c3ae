// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/model_operands.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "harness/model/semantics/number.hpp"

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

model::TensorMapBytes matrix(model::Address at, int rows, int columns, int box_rows,
                             int box_columns) {
  const auto u64 = [](int value) { return static_cast<std::uint64_t>(value); };
  const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
  return model_map({.base = reinterpret_cast<void*>(at),
                    .extents = {u64(columns), u64(rows)},
                    .strides = {u64(columns) * 2},
                    .box = {u32(box_columns), u32(box_rows)}});
}

std::vector<float> to_floats(const std::vector<std::uint16_t>& from, const std::string& type) {
  std::vector<float> to(from.size());
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<float>(model::to_double(number(type), from[i]));
  return to;
}

bool is_fp8(const std::string& type) { return type == "e4m3" || type == "e5m2"; }

// Copies the elements' bits to the model.
model::Address upload(model::Gpu& gpu, const char* name, const std::vector<std::uint16_t>& bits,
                      bool fp8) {
  const model::Address at = gpu.allocate(name, bits.size() * (fp8 ? 1 : 2));
  if (fp8) {
    gpu.write(at, std::vector<std::uint8_t>(bits.begin(), bits.end()));
  } else {
    gpu.write(at, bits);
  }
  return at;
}

}  // namespace

std::string ModelShape::name() const {
  return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
}

model::TensorMapBytes model_map(const ptx::TensorMapShape& shape) {
  const auto element = [&] {
    switch (shape.type) {
      case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        return model::MapElement::bf16;
      case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        return model::MapElement::f16;
      default:
        return model::MapElement::u8;
    }
  }();
  model::TensorMap map{.type = element,
                       .rank = static_cast<int>(shape.extents.size()),
                       .address = reinterpret_cast<model::Address>(shape.base),
                       .swizzle = static_cast<model::MapSwizzle>(shape.swizzle)};
  std::ranges::copy(shape.extents, map.extents.begin());
  std::ranges::copy(shape.strides, map.strides.begin());
  std::ranges::copy(shape.box, map.box.begin());
  return model::encode(map);
}

ModelOperands::ModelOperands(model::Gpu& gpu, const ModelShape& shape, std::uint64_t seed)
    : ModelOperands(gpu, GemmProblem{.m = shape.m, .n = shape.n, .k = shape.k}, seed) {}

ModelOperands::ModelOperands(model::Gpu& gpu, const GemmProblem& problem, std::uint64_t seed)
    : problem_(problem) {
  // splitmix64, as scripts/record_golden.py draws them for the device: numbers from -2 to 2.
  const auto next = [&seed] {
    std::uint64_t z = seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  };
  const auto fill = [&](std::size_t elements, const std::string& type) {
    std::vector<std::uint16_t> values(elements);
    for (auto& value : values)
      value = static_cast<std::uint16_t>(model::from_double(
          number(type), std::ldexp(static_cast<double>(next() >> 40), -22) - 2));
    return values;
  };
  host_a_ = fill(count(problem.m, problem.k), problem.type);
  host_b_ = fill(count(problem.n, problem.k), problem.b_type());
  a_ = upload(gpu, "A", host_a_, is_fp8(problem.type));
  b_ = upload(gpu, "B", host_b_, is_fp8(problem.b_type()));
  d_ = gpu.allocate("D", count(problem.m, problem.n) * 2);
}

GemmOperands ModelOperands::operands() const {
  return {.d = reinterpret_cast<void*>(d_),
          .a = reinterpret_cast<void*>(a_),
          .b = reinterpret_cast<void*>(b_)};
}

model::TensorMapBytes ModelOperands::map_a(int box_rows, int box_columns) const {
  return matrix(a_, problem_.m, problem_.k, box_rows, box_columns);
}
model::TensorMapBytes ModelOperands::map_b(int box_rows, int box_columns) const {
  return matrix(b_, problem_.n, problem_.k, box_rows, box_columns);
}
model::TensorMapBytes ModelOperands::map_d(int box_rows, int box_columns) const {
  return matrix(d_, problem_.m, problem_.n, box_rows, box_columns);
}

void ModelOperands::compare(model::Gpu& gpu, ModelResult& result) const {
  const auto m = static_cast<std::size_t>(problem_.m), n = static_cast<std::size_t>(problem_.n),
             k = static_cast<std::size_t>(problem_.k);
  const auto found_d = gpu.read<std::uint16_t>(d_, m * n);
  result.hash = model::crc32(
      std::span(reinterpret_cast<const std::uint8_t*>(found_d.data()), found_d.size() * 2));
  const std::vector<float> a = to_floats(host_a_, problem_.type),
                           b = to_floats(host_b_, problem_.b_type());
  const bool fp8 = is_fp8(problem_.type);
  const model::Number type_d = number(problem_.d_type());
  // The sum's error is that of the instruction's truncated additions, one for 16 products, and of
  // rounding to D's type. Sums of fp8 products keep fewer bits: 2^-13 of the largest term.
  const int additions = (problem_.k + 15) / 16 + 1;
  const double unit = std::ldexp(1.0, fp8 ? -12 : -22);
  const bool a_by_rows = problem_.layout[0] == 'n', b_by_rows = problem_.layout[1] == 'n';
  for (std::size_t i = 0; i < found_d.size() && result.wrong.empty(); ++i) {
    const std::size_t row = i / n, column = i % n;
    double sum = 0, magnitude = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const double product = static_cast<double>(a[a_by_rows ? row * k + j : j * m + row]) *
                             b[b_by_rows ? j * n + column : column * k + j];
      sum += product;
      magnitude += std::fabs(product);
    }
    const double found = model::to_double(type_d, found_d[i]);
    const double bound = magnitude * additions * unit + std::fabs(sum) / 256;
    if (!(std::fabs(found - sum) <= bound))
      result.wrong = "D[" + std::to_string(row) + "][" + std::to_string(column) + "] is " +
                     std::to_string(found) + ", not " + std::to_string(sum);
  }
}

const std::vector<ModelShape>& awkward_shapes() {
  static const std::vector<ModelShape> all = {{256, 512, 256}, {1, 8, 8},      {65, 72, 136},
                                              {257, 264, 72},  {127, 520, 64}, {300, 248, 320}};
  return all;
}

}  // namespace assay::kernels
