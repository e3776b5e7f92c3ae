// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variant_sm90.hpp"

#include <fmt/format.h>

#include <string>

namespace assay::kernels {

std::vector<GemmVariantSm90> describe_forms_sm90(std::span<const FormSm90> forms) {
  std::vector<GemmVariantSm90> all;
  all.reserve(forms.size());
  for (const FormSm90& form : forms) {
    GemmVariantSm90& variant = all.emplace_back(GemmVariantSm90{form});
    const std::string deep = form.depth > 1 ? fmt::format("x{}", form.tile_k) : "";
    variant.name = fmt::format("{}{}{}x{}{}_c{}x{}_s{}", form.swapped ? "swapped_" : "",
                               form.pingpong ? "pingpong_" : "", form.tile_m, form.tile_n, deep,
                               form.cluster_m, form.cluster_n, form.stages);
    variant.kernel_name = name_in_source(form.instance);
    variant.linker_name = name_in_linker(form.instance);
    variant.kernel = form.instance.kernel;
    const TemplatedKernel& reduce = form.reduce_instance;
    if (reduce.name)
      variant.reduce = {name_in_source(reduce), name_in_linker(reduce), reduce.kernel};
  }
  return all;
}

std::vector<GemmVariantSm90> describe_b16_forms_sm90(std::span<const FormSm90> forms) {
  std::vector<FormSm90> all(forms.begin(), forms.end());
  for (FormSm90 form : forms) {
    form.type_p = form.type_q = "f16";
    all.push_back(form);
  }
  return describe_forms_sm90(all);
}

}  // namespace assay::kernels
