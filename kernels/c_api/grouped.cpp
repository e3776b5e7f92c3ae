// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/grouped.hpp"

#include <string>

#include "kernels/c_api/arguments.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/c_api/boundary.hpp"

namespace assay::kernels {
namespace {

Grouping grouping(int masked) { return masked != 0 ? Grouping::masked : Grouping::contiguous; }

void run_grouped(const std::string& name, const GroupedProblem& p, const GroupedOperands& o,
                 void* stream) {
  require_valid(p, o);
  require_here(name,
               {{"d", o.d},
                {"a", o.a},
                {"b", o.b},
                {"scale_a", o.scale_a},
                {"scale_b", o.scale_b},
                {"sizes", o.sizes}},
               stream);
  plan_grouped(p, o).run(static_cast<cudaStream_t>(stream));
}

}  // namespace
}  // namespace assay::kernels

int assay_grouped_bf16_nt(void* d, const void* a, const void* b, const int* sizes, int masked,
                          int groups, int rows, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    run_grouped("assay_grouped_bf16_nt", {grouping(masked), "bf16", groups, rows, n, k},
                {d, a, b, sizes}, stream);
  });
}

int assay_grouped_e4m3_block128_nt(void* d, const void* a, const void* b, const float* scale_a,
                                   const float* scale_b, const int* sizes, int masked, int groups,
                                   int rows, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    run_grouped("assay_grouped_e4m3_block128_nt",
                {grouping(masked), "e4m3_block128", groups, rows, n, k},
                {d, a, b, sizes, scale_a, scale_b}, stream);
  });
}

int assay_grouped_gradient_bf16(void* d, const void* a, const void* b, const int* sizes, int groups,
                                int rows, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    run_grouped("assay_grouped_gradient_bf16", {Grouping::gradient, "bf16", groups, rows, n, k},
                {d, a, b, sizes}, stream);
  });
}
