// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/clean.cu with their launches and what they must compute.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "harness/model/semantics/number.hpp"
#include "harness/model/tests/kernel_runs.hpp"

namespace assay::model {

// Arrays of the launch, by argument.
class Arrays {
 public:
  Arrays(Gpu& gpu, const Arguments& arguments) : gpu_(gpu), bytes_(arguments.bytes()) {}
  std::vector<float> f32(std::size_t argument, std::size_t count) {
    return gpu_.read<float>(at(argument), count);
  }
  std::vector<double> bf16(std::size_t argument, std::size_t count) {
    Number type;
    parse_number("bf16", type);
    std::vector<double> values;
    for (const std::uint16_t v : gpu_.read<std::uint16_t>(at(argument), count))
      values.push_back(to_double(type, v));
    return values;
  }

 private:
  Address at(std::size_t argument) const {
    Address a = 0;
    std::memcpy(&a, bytes_.data() + argument * 8, 8);
    return a;
  }
  Gpu& gpu_;
  std::span<const std::uint8_t> bytes_;
};

// Says what is wrong with the result; nothing if it is right.
using Check = std::function<std::string(Arrays&)>;

struct Clean {
  KernelRun run;
  Check check;
  std::uint64_t seeds = 200;
};

// In ctest's names of them.
inline void PrintTo(const Clean& clean, std::ostream* out) { *out << clean.run.kernel; }

inline std::string compare(std::size_t at, double found, double wanted, double tolerance) {
  if (std::fabs(found - wanted) <= tolerance) return {};
  return "element " + std::to_string(at) + " is " + std::to_string(found) + ", not " +
         std::to_string(wanted);
}

inline Check doubled(std::size_t count, std::size_t out = 1) {
  return [=](Arrays& a) {
    const auto x = a.f32(0, count), y = a.f32(out, count);
    std::string wrong;
    for (std::size_t i = 0; i < count && wrong.empty(); ++i) wrong = compare(i, y[i], 2 * x[i], 0);
    return wrong;
  };
}

// out[t] is the sum of in[t + 128 * j]; the order of the additions is the kernel's business.
inline Check summed(std::size_t parts, std::size_t out) {
  return [=](Arrays& a) {
    const auto x = a.f32(0, parts * 128), y = a.f32(out, 128);
    std::string wrong;
    for (std::size_t t = 0; t < 128 && wrong.empty(); ++t) {
      double sum = 0;
      for (std::size_t j = 0; j < parts; ++j) sum += x[t + 128 * j];
      wrong = compare(t, y[t], sum, 1e-5);
    }
    return wrong;
  };
}

inline Check product(std::size_t m, std::size_t n, std::size_t k) {
  return [=](Arrays& arrays) {
    const auto a = arrays.bf16(0, m * k), b = arrays.bf16(1, n * k);
    const auto d = arrays.f32(2, m * n);
    std::string wrong;
    for (std::size_t i = 0; i < m * n && wrong.empty(); ++i) {
      double sum = 0;
      for (std::size_t e = 0; e < k; ++e) sum += a[i / n * k + e] * b[i % n * k + e];
      wrong = compare(i, d[i], sum, 1e-4);
    }
    return wrong;
  };
}

// All of kernels/clean.cu.
inline const std::vector<Clean>& clean_kernels() {
  const auto threads = [](int ctas, int count) {
    return Shape{.grid = {ctas, 1, 1}, .block = {count, 1, 1}};
  };
  static const std::vector<Clean> all = {
      {{"ring", threads(1, 160), {"f32[896]", "f32[896]=none", "s32:7", "map(0, box=128)"}},
       doubled(896)},
      {{"multicast_ring", threads(2, 128), {"f32[640]", "f32[640]=none", "s32:5"}}, doubled(640)},
      {{"ping_pong", threads(1, 256), {"f32[896]", "f32[896]=none", "s32:7"}}, doubled(896)},
      {{"cluster_reduction", threads(4, 128), {"f32[512]", "f32[128]=none"}}, summed(4, 1)},
      {{"neighbours", threads(2, 128), {"f32[768]", "f32[768]=none", "s32:3"}}, doubled(768)},
      {{"whole_grid", threads(20, 128), {"f32[2560]", "f32[2560]=none"}}, doubled(2560), 8},
      {{"split_k", threads(3, 128), {"f32[384]", "f32[384]=none", "u32[1]=zero", "f32[128]=none"}},
       summed(3, 3)},
      {{"chained", threads(3, 128), {"f32[384]", "f32[384]=none", "u32[3]=zero"}},
       [](Arrays& a) {
         const auto x = a.f32(0, 384), y = a.f32(1, 384);
         std::string wrong;
         for (std::size_t i = 128; i < 384 && wrong.empty(); ++i)
           wrong = compare(i, y[i], x[i] + y[i - 128], 0);
         return wrong;
       }},
      {{"persistent", threads(2, 128), {"f32[896]", "f32[896]=none", "s32:7", "s32[1]=zero"}},
       doubled(896)},
      {{"warp_reduction", threads(1, 128), {"f32[128]", "f32[1]=none"}},
       [](Arrays& a) {
         double sum = 0;
         for (const float v : a.f32(0, 128)) sum += v;
         return compare(0, a.f32(1, 1)[0], sum, 1e-4);
       }},
      {{"cp_async_mma", threads(1, 128), {"bf16[64x80]", "bf16[8x80]", "f32[512]=none", "s32:80"}},
       product(64, 8, 80)},
      {{"wgmma_ring",
        threads(1, 160),
        {"bf16[64x192]", "bf16[64x192]", "f32[4096]=none", "s32:3",
         "map(0, box=64x64, swizzle=128)", "map(1, box=64x64, swizzle=128)"}},
       product(64, 64, 192)},
  };
  return all;
}

// Launches it once; what is wrong with the result goes to `wrong`.
inline Outcome run_clean(Gpu& gpu, const Clean& c, std::uint64_t seed, std::string& wrong) {
  const Arguments arguments = parse_arguments(gpu, c.run.arguments, seed);
  const Outcome outcome = gpu.launch(gpu.kernel(c.run.kernel), c.run.shape, arguments,
                                     {.seed = seed, .most_steps = 2'000'000});
  Arrays arrays(gpu, arguments);
  if (outcome.finished) wrong = c.check(arrays);
  return outcome;
}

}  // namespace assay::model
