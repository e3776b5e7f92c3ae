// SPDX-License-Identifier: Apache-2.0
// Kernels that are right (kernels/clean.cu): no complaint, and the right result, in every order of
// asynchronous work. ASSAY_MODEL_SEEDS sets how many orders each is run in.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "harness/model/semantics/number.hpp"
#include "harness/model/tests/kernel_runs.hpp"

namespace assay::model {
namespace {

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

struct Clean {
  KernelRun run;
  std::function<void(Arrays&)> check;
};

std::function<void(Arrays&)> doubled(std::size_t count, std::size_t out = 1) {
  return [=](Arrays& a) {
    const auto x = a.f32(0, count), y = a.f32(out, count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], 2 * x[i]) << "element " << i;
  };
}

// out[t] is the sum of in[t + 128 * j]; the order of the additions is the kernel's business.
std::function<void(Arrays&)> summed(std::size_t parts, std::size_t out) {
  return [=](Arrays& a) {
    const auto x = a.f32(0, parts * 128), y = a.f32(out, 128);
    for (std::size_t t = 0; t < 128; ++t) {
      double sum = 0;
      for (std::size_t j = 0; j < parts; ++j) sum += x[t + 128 * j];
      ASSERT_NEAR(y[t], sum, 1e-5) << "thread " << t;
    }
  };
}

std::function<void(Arrays&)> product(std::size_t m, std::size_t n, std::size_t k) {
  return [=](Arrays& arrays) {
    const auto a = arrays.bf16(0, m * k), b = arrays.bf16(1, n * k);
    const auto d = arrays.f32(2, m * n);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t e = 0; e < k; ++e) sum += a[i * k + e] * b[j * k + e];
        ASSERT_NEAR(d[i * n + j], sum, 1e-4) << i << ", " << j;
      }
  };
}

const std::vector<Clean>& clean() {
  const auto threads = [](int ctas, int count) {
    return Shape{.grid = {ctas, 1, 1}, .block = {count, 1, 1}};
  };
  static const std::vector<Clean> all = {
      {{"ring", threads(1, 160), {"f32[896]", "f32[896]=none", "s32:7", "map(0, box=128)"}},
       doubled(896)},
      {{"multicast_ring", threads(2, 128), {"f32[640]", "f32[640]=none", "s32:5"}}, doubled(640)},
      {{"ping_pong", threads(1, 256), {"f32[896]", "f32[896]=none", "s32:7"}}, doubled(896)},
      {{"cluster_reduction", threads(4, 128), {"f32[512]", "f32[128]=none"}}, summed(4, 1)},
      {{"split_k", threads(3, 128), {"f32[384]", "f32[384]=none", "u32[1]=zero", "f32[128]=none"}},
       summed(3, 3)},
      {{"chained", threads(3, 128), {"f32[384]", "f32[384]=none", "u32[3]=zero"}},
       [](Arrays& a) {
         const auto x = a.f32(0, 384), y = a.f32(1, 384);
         for (std::size_t i = 128; i < 384; ++i) ASSERT_EQ(y[i], x[i] + y[i - 128]);
       }},
      {{"persistent", threads(2, 128), {"f32[896]", "f32[896]=none", "s32:7", "s32[1]=zero"}},
       doubled(896)},
      {{"warp_reduction", threads(1, 128), {"f32[128]", "f32[1]=none"}},
       [](Arrays& a) {
         double sum = 0;
         for (const float v : a.f32(0, 128)) sum += v;
         ASSERT_NEAR(a.f32(1, 1)[0], sum, 1e-4);
       }},
      {{"cp_async_mma", threads(1, 128), {"bf16[64x80]", "bf16[8x80]", "f32[512]=none", "s32:80"}},
       product(64, 8, 80)},
      {{"wgmma_ring",
        threads(1, 160),
        {"bf16[64x192]", "bf16[64x192]", "f32[4096]=none", "s32:3", "map(0, box=64x64, swizzle=128)",
         "map(1, box=64x64, swizzle=128)"}},
       product(64, 64, 192)},
  };
  return all;
}

class CleanTest : public testing::TestWithParam<Clean> {};

TEST_P(CleanTest, RaisesNoComplaint) {
  const Clean& c = GetParam();
  const char* wanted = std::getenv("ASSAY_MODEL_SEEDS");
  const std::uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 200;
  Gpu gpu(ptx_of_file("clean"));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Arguments arguments = parse_arguments(gpu, c.run.arguments, seed);
    const Outcome outcome = gpu.launch(gpu.kernel(c.run.kernel), c.run.shape, arguments,
                                       {.seed = seed, .most_steps = 2'000'000});
    ASSERT_EQ(all_of(outcome), "") << "seed " << seed;
    Arrays arrays(gpu, arguments);
    c.check(arrays);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CleanTest, testing::ValuesIn(clean()),
                         [](const auto& p) { return std::string(p.param.run.kernel); });

}  // namespace
}  // namespace assay::model
