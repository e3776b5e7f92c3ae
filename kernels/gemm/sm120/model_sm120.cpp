// SPDX-License-Identifier: Apache-2.0
// The block-scaled matrix product of sm_120a in the host model, on shapes that are no multiple of
// its tiles. Built, disassembled and run in the model, not on silicon.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model/semantics/number.hpp"
#include "harness/model_case/model_case.hpp"
#include "harness/ptx/descriptor/scale_layout.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm/sm120/variant_sm120.hpp"

namespace assay::kernels {
namespace {

struct Shape {
  int m, n, k;
};

// A matrix with its scales, as bytes and as numbers.
struct Operand {
  std::vector<std::uint8_t> elements, scales;
  std::vector<double> scaled;  // [row][k]: element times scale
};

// e4m3 of all magnitudes, scales from 2^-6 to 2^6; what pads the scales is 2^-127.
template <class Next>
Operand drawn(int rows, int k, const Next& next) {
  model::Number e4m3;
  model::parse_number("e4m3", e4m3);
  const auto blocks = static_cast<std::uint32_t>(divide_up(k, 32));
  const std::size_t columns = static_cast<std::size_t>(k);
  Operand o;
  o.elements.resize(static_cast<std::size_t>(rows) * columns);
  o.scaled.resize(o.elements.size());
  o.scales.resize(ptx::scale_bytes(static_cast<std::uint32_t>(rows), blocks));
  const auto place = [&](std::uint32_t row, std::uint32_t block) {
    return static_cast<std::size_t>(ptx::scale_offset(row, block, blocks));
  };
  for (std::uint32_t row = 0; row < static_cast<std::uint32_t>(rows); ++row)
    for (std::uint32_t block = 0; block < blocks; ++block)
      o.scales[place(row, block)] = static_cast<std::uint8_t>(121 + (next() >> 40) % 13);
  for (std::size_t i = 0; i < o.elements.size(); ++i) {
    auto byte = static_cast<std::uint8_t>(next() >> 40);
    if ((byte & 0x7f) == 0x7f) byte ^= 1;  // NaN becomes the greatest number
    o.elements[i] = byte;
    const auto row = static_cast<std::uint32_t>(i / columns),
               block = static_cast<std::uint32_t>(i % columns / 32);
    o.scaled[i] = std::ldexp(model::to_double(e4m3, byte), o.scales[place(row, block)] - 127);
  }
  return o;
}

// Bytes in boxes of one tile, a swizzled row of 128 bytes deep.
model::TensorMapBytes byte_matrix(model::Address at, int rows, int columns, int tile, int depth) {
  const auto u64 = [](int value) { return static_cast<std::uint64_t>(value); };
  const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
  return model::encode({.type = model::MapElement::u8,
                        .rank = 2,
                        .address = at,
                        .extents = {u64(columns), u64(rows), 1, 1, 1},
                        .strides = {u64(columns)},
                        .swizzle = model::MapSwizzle::bytes128,
                        .box = {u32(depth), u32(tile), 1, 1, 1}});
}

// The first element that is farther from the sum in float64 than the arithmetic explains: an
// instruction adds 32 exact products to the accumulator and rounds once, to f32, so that each of
// them errs by 2^-24 of a partial sum at most, and that is no more than the sum of magnitudes and
// of the errors before it. (The sum of magnitudes is 2^-127 at least if it is not 0: no f32 here is
// subnormal.)
std::string first_wrong(const Shape& s, const Operand& a, const Operand& b,
                        const std::vector<float>& d) {
  const auto k = static_cast<std::size_t>(s.k), n = static_cast<std::size_t>(s.n);
  const double roundings = divide_up(s.k, 32);
  for (std::size_t i = 0; i < d.size(); ++i) {
    double sum = 0, magnitude = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const double product = a.scaled[i / n * k + j] * b.scaled[i % n * k + j];
      sum += product;
      magnitude += std::fabs(product);
    }
    const double bound = magnitude * roundings * std::ldexp(1.0, -24) * (1 + std::ldexp(1.0, -16));
    if (!(std::fabs(d[i] - sum) <= bound))
      return "D[" + std::to_string(i / n) + "][" + std::to_string(i % n) + "] is " +
             std::to_string(d[i]) + ", not " + std::to_string(sum);
  }
  return {};
}

ModelResult run(const Shape& s, model::Gpu& gpu, const model::Options& options) {
  const GemmVariantSm120& v = gemm_mxf8_nt_variant_sm120();
  std::uint64_t state = options.seed;
  const auto next = [&] {  // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  };
  const Operand host_a = drawn(s.m, s.k, next), host_b = drawn(s.n, s.k, next);
  const std::size_t count = static_cast<std::size_t>(s.m) * static_cast<std::size_t>(s.n);
  const auto upload = [&](const char* name, const std::vector<std::uint8_t>& bytes) {
    const model::Address at = gpu.allocate(name, bytes.size());
    gpu.write(at, bytes);
    return at;
  };
  const model::Address a = upload("A", host_a.elements), b = upload("B", host_b.elements),
                       scales_a = upload("scales of A", host_a.scales),
                       scales_b = upload("scales of B", host_b.scales),
                       d = gpu.allocate("D", count * sizeof(float));
  const Raster raster{.rows = divide_up(s.m, v.tile), .columns = divide_up(s.n, v.tile), .band = 8};
  const auto map_a = byte_matrix(a, s.m, s.k, v.tile, v.tile_k),
             map_b = byte_matrix(b, s.n, s.k, v.tile, v.tile_k);
  model::Arguments arguments;
  arguments.push(&map_a, 128, 128).push(&map_b, 128, 128);
  arguments.push(scales_a).push(scales_b).push(d);
  arguments.push(s.m).push(s.n).push(divide_up(s.k, v.tile_k)).push(raster);
  ModelResult result;
  // Fewer CTAs than tiles, so that the ring goes on from one tile to the next.
  result.outcome = gpu.launch(gpu.kernel("gemm_mxf8_nt_sm120"),
                              {.grid = {std::min(raster.count(), 2), 1, 1},
                               .block = {v.threads, 1, 1},
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes)},
                              arguments, options);
  if (!result.outcome.finished) return result;
  const auto found = gpu.read<float>(d, count);
  result.hash = model::crc32(
      std::span(reinterpret_cast<const std::uint8_t*>(found.data()), found.size() * sizeof(float)));
  result.wrong = first_wrong(s, host_a, host_b, found);
  return result;
}

// K is a multiple of 16, as TMA wants rows that begin on 16 bytes, and N is even.
const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const Shape s : {Shape{128, 128, 256}, Shape{1, 2, 16}, Shape{65, 72, 144},
                        Shape{257, 130, 304}, Shape{127, 264, 48}, Shape{200, 136, 656}})
    cases.push_back({.name = "kernels/gemm/mxf8/m" + std::to_string(s.m) + "n" +
                             std::to_string(s.n) + "k" + std::to_string(s.k) + "/nt",
                     .kernels = {"gemm_mxf8_nt_sm120"},
                     .run = [s](model::Gpu& gpu, const model::Options& options) {
                       return run(s, gpu, options);
                     }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels
