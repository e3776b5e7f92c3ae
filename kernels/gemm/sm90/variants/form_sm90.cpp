// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variants/form_sm90.hpp"

#include <fmt/format.h>

namespace assay::kernels {
namespace {

GemmVariantSm90 describe(const FormSm90& form) {
  GemmVariantSm90 variant{
      .name = fmt::format("{}{}{}x{}_c{}x{}_s{}", form.swapped ? "swapped_" : "",
                          form.pingpong ? "pingpong_" : "", form.tile_m, form.tile_n,
                          form.cluster_m, form.cluster_n, form.stages),
      .kernel_name = name_in_source(form.kernel),
      .linker_name = name_in_linker(form.kernel),
      .type_p = form.type_p,
      .type_q = form.type_q,
      .major_p = form.major_p,
      .major_q = form.major_q,
      .tile_m = form.tile_m,
      .tile_n = form.tile_n,
      .tile_k = form.tile_k,
      .loaded_n = form.loaded_n,
      .stages = form.stages,
      .cluster_m = form.cluster_m,
      .cluster_n = form.cluster_n,
      .share_p = form.share_p,
      .share_q = form.share_q,
      .swapped = form.swapped,
      .pingpong = form.pingpong,
      .plain = form.plain,
      .threads = form.threads,
      .shared_bytes = form.shared_bytes,
      .store_columns = form.store_columns,
      .kernel = form.kernel.kernel};
  if (form.reduce.name)
    variant.reduce = {name_in_source(form.reduce), name_in_linker(form.reduce), form.reduce.kernel};
  return variant;
}

}  // namespace

std::vector<GemmVariantSm90> describe_forms_sm90(std::span<const FormSm90> forms) {
  std::vector<GemmVariantSm90> all;
  all.reserve(forms.size());
  for (const FormSm90& form : forms) all.push_back(describe(form));
  return all;
}

}  // namespace assay::kernels
