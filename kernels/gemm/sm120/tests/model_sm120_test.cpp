// SPDX-License-Identifier: Apache-2.0
// The block-scaled product in the host model: right and clean. It has not run on silicon; what its
// machine code holds is checked here, as it is no case of the suite.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/code/cubin.hpp"
#include "harness/code/sass_check.hpp"
#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/sm120/variant_sm120.hpp"

namespace assay::kernels {
namespace {

TEST(GemmModelSm120, IsRightAndClean) {
  int shapes = 0;
  for (const ModelCase& c : model_cases()) {
    if (!c.name.starts_with("kernels/gemm/mxf8/")) continue;
    ++shapes;
    model::Gpu gpu(ptx_of(c.kernels));
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const ModelResult result = c.run(gpu, {.seed = seed});
      EXPECT_TRUE(result.outcome.finished) << c.name << " seed " << seed;
      EXPECT_EQ(result.wrong, "") << c.name << " seed " << seed;
      for (const model::Finding& f : result.outcome.findings)
        ADD_FAILURE() << c.name << " seed " << seed << ": " << model::to_text(f);
    }
  }
  EXPECT_EQ(shapes, 6);
}

TEST(GemmModelSm120, MultipliesByBlockScaledInstructions) {
  const GemmVariantSm120& v = gemm_mxf8_nt_variant_sm120();
  EXPECT_LE(v.shared_bytes, 99 * 1024);
  int checked = 0;
  visit_device_code("/proc/self/exe", [&](DeviceCode code) {
    const auto symbol = std::ranges::find_if(
        code.kernels, [&](const std::string& name) { return is_kernel(name, v.kernel_name); });
    if (symbol == code.kernels.end()) return;
    ++checked;
    const SassFindings findings =
        check_sass({.elf = code.elf,
                    .symbol = *symbol,
                    .use = {.kernel = v.kernel_name,
                            .sass = {{"QMMA.SF.16832.F32.E4M3.E4M3.E8", v.mma, v.mma},
                                     {"LDSM.16.M88.4", v.mma * 3 / 8, v.mma * 3 / 8},
                                     {"UTMALDG.2D", 2, 2, SassWhere::kernel},
                                     {"UBLKCP", 2, 2, SassWhere::kernel}}}});
    for (const std::string& problem : findings.problems) ADD_FAILURE() << problem;
  });
  EXPECT_GE(checked, 1);
}

}  // namespace
}  // namespace assay::kernels
