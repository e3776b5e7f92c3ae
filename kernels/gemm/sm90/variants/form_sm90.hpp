// SPDX-License-Identifier: Apache-2.0
// A compiled form as its template knows it: numbers and addresses alone. The template is
// instantiated a hundred times and more, so that what it does on the CPU is done elsewhere, once:
// describe_forms_sm90() makes GemmVariantSm90s of them.
#pragma once
#include <span>
#include <vector>

#include "kernels/frame/templated_kernel.hpp"
#include "kernels/gemm/sm90/variant_sm90.hpp"

namespace assay::kernels {

// Fields are as GemmVariantSm90's and GemmTileSm90's.
struct FormSm90 {
  const char* type_p;
  const char* type_q;
  int major_p, major_q;
  int tile_m, tile_n, tile_k;
  int loaded_n;
  int stages;
  int cluster_m, cluster_n;
  int share_p, share_q;
  bool swapped, pingpong, plain;
  int threads;
  int shared_bytes;
  int store_columns;
  TemplatedKernel kernel;
  TemplatedKernel reduce;  // none: without a name
};

// What a launch needs to know of each.
std::vector<GemmVariantSm90> describe_forms_sm90(std::span<const FormSm90> forms);

}  // namespace assay::kernels
