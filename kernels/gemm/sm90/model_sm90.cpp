// SPDX-License-Identifier: Apache-2.0
// The bf16 matrix product on Hopper in the host model, on shapes that are no multiple of its tiles.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model/semantics/number.hpp"
#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

struct Shape {
  int m, n, k;
};

int divide_up(int a, int b) { return (a + b - 1) / b; }

// What encode_bf16_matrix() asks the driver for.
model::TensorMapBytes bf16_matrix(model::Address at, int rows, int columns, int box_rows,
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

ModelResult run(const Shape& s, model::Gpu& gpu, const model::Options& options) {
  const GemmVariantSm90& v = gemm_bf16_nt_variant_sm90();
  const auto count = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  model::Number bf16;
  model::parse_number("bf16", bf16);
  // splitmix64, as scripts/record_golden.py draws them for the device: numbers from -2 to 2.
  std::uint64_t state = options.seed;
  const auto next = [&] {
    std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  };
  const auto fill = [&](std::size_t elements) {
    std::vector<std::uint16_t> values(elements);
    for (auto& value : values)
      value = static_cast<std::uint16_t>(
          model::from_double(bf16, std::ldexp(static_cast<double>(next() >> 40), -22) - 2));
    return values;
  };
  const auto host_a = fill(count(s.m, s.k)), host_b = fill(count(s.n, s.k));
  const model::Address a = gpu.allocate("A", host_a.size() * 2),
                       b = gpu.allocate("B", host_b.size() * 2),
                       d = gpu.allocate("D", count(s.m, s.n) * 2);
  gpu.write(a, host_a);
  gpu.write(b, host_b);
  const auto map_a = bf16_matrix(a, s.m, s.k, v.tile_m / v.cluster_n, v.tile_k);
  const auto map_b = bf16_matrix(b, s.n, s.k, v.tile_n / v.cluster_m, v.tile_k);
  const auto map_d = bf16_matrix(d, s.m, s.n, 16, 64);
  const Raster raster{.rows = divide_up(s.m, v.tile_m * v.cluster_m),
                      .columns = divide_up(s.n, v.tile_n * v.cluster_n),
                      .band = 8};
  model::Arguments arguments;
  arguments.push(&map_a, 128, 128).push(&map_b, 128, 128).push(&map_d, 128, 128);
  arguments.push(raster).push(divide_up(s.k, v.tile_k));
  // Fewer clusters than tiles, so that the ring goes on from one tile to the next.
  const int clusters = std::min(raster.count(), 2);
  ModelResult result;
  result.outcome = gpu.launch(gpu.kernel("gemm_bf16_nt_sm90"),
                              {.grid = {clusters * v.cluster_size(), 1, 1},
                               .block = {v.threads, 1, 1},
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes)},
                              arguments, options);
  if (!result.outcome.finished) return result;
  // The sum's error is that of the instruction's truncated additions, one for 16 products, and of
  // rounding to bf16.
  const auto found_d = gpu.read<std::uint16_t>(d, count(s.m, s.n));
  result.hash = model::crc32(
      std::span(reinterpret_cast<const std::uint8_t*>(found_d.data()), found_d.size() * 2));
  std::vector<float> fa(host_a.size()), fb(host_b.size());
  for (std::size_t i = 0; i < fa.size(); ++i)
    fa[i] = static_cast<float>(model::to_double(bf16, host_a[i]));
  for (std::size_t i = 0; i < fb.size(); ++i)
    fb[i] = static_cast<float>(model::to_double(bf16, host_b[i]));
  const auto k = static_cast<std::size_t>(s.k), n = static_cast<std::size_t>(s.n);
  for (std::size_t i = 0; i < found_d.size() && result.wrong.empty(); ++i) {
    double sum = 0, magnitude = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const double product = static_cast<double>(fa[i / n * k + j]) * fb[i % n * k + j];
      sum += product;
      magnitude += std::fabs(product);
    }
    const double found = model::to_double(bf16, found_d[i]);
    const double bound =
        magnitude * (divide_up(s.k, 16) + 1) * std::ldexp(1.0, -22) + std::fabs(sum) / 256;
    if (!(std::fabs(found - sum) <= bound))
      result.wrong = "D[" + std::to_string(i / n) + "][" + std::to_string(i % n) + "] is " +
                     std::to_string(found) + ", not " + std::to_string(sum);
  }
  return result;
}

// K and N are multiples of 8: TMA wants rows that begin on 16 bytes.
const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const Shape s : {Shape{256, 512, 256}, Shape{1, 8, 8}, Shape{65, 72, 136},
                        Shape{257, 264, 72}, Shape{127, 520, 64}, Shape{300, 248, 320}})
    cases.push_back({.name = "kernels/gemm/bf16/m" + std::to_string(s.m) + "n" +
                             std::to_string(s.n) + "k" + std::to_string(s.k) + "/nt",
                     .kernel = "gemm_bf16_nt_sm90",
                     .run = [s](model::Gpu& gpu, const model::Options& options) {
                       return run(s, gpu, options);
                     }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels
