// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/mma_sync/variant.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <vector>

#include "kernels/gemm/mma_sync/arguments.hpp"
#include "kernels/gemm/mma_sync/forms.hpp"

namespace assay::kernels {
namespace {

// Types of A and B, whether their rows go along k, and the tile.
using Key = std::tuple<int, int, int, int, int>;

GemmVariantMmaSync describe(const FormMmaSync& form) {
  return {.name = fmt::format("{0}x{0}x{1}_s{2}", form.tile, form.depth, form.stages),
          .kernel_name = name_in_source(form.kernel),
          .kernel_part = name_in_linker(form.kernel),
          .tile = form.tile,
          .depth = form.depth,
          .mma = form.mma,
          .threads = form.threads,
          .shared_bytes = form.shared_bytes,
          .kernel = form.kernel.kernel,
          .sum_name = name_in_source(form.sum),
          .sum_part = name_in_linker(form.sum),
          .sum_kernel = form.sum.kernel};
}

std::map<Key, GemmVariantMmaSync> describe_all() {
  std::vector<FormMmaSync> forms;
  add_mma_sync_bf16(forms);
  add_mma_sync_f16(forms);
  add_mma_sync_fp8(forms);
  std::map<Key, GemmVariantMmaSync> all;
  for (const FormMmaSync& form : forms)
    all[{form.type_a, form.type_b, form.along_a, form.along_b, form.tile}] = describe(form);
  return all;
}

}  // namespace

const GemmVariantMmaSync& gemm_mma_sync_variant(const std::string& type_a,
                                                const std::string& type_b,
                                                const std::string& layout, bool small) {
  static const std::map<Key, GemmVariantMmaSync> all = describe_all();
  static const std::map<std::string, int> numbers = {
      {"bf16", kMmaBf16}, {"f16", kMmaF16}, {"e4m3", kMmaE4m3}, {"e5m2", kMmaE5m2}};
  return all.at({numbers.at(type_a), numbers.at(type_b), layout.at(0) == 'n', layout.at(1) == 't',
                 small ? 64 : 128});
}

}  // namespace assay::kernels
