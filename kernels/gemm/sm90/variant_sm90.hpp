// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the Hopper matrix product, as far as a launch needs to know them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "kernels/frame/templated_kernel.hpp"

namespace assay::kernels {

// The kernel that adds what a form leaves of tiles in parts (reduce_sm90.cuh).
struct ReduceKernelSm90 {
  std::string name, linker_name;  // as GemmVariantSm90's
  const void* kernel = nullptr;   // none: the form does whole tiles alone
};

// A compiled form as its template knows it: numbers and addresses alone. The template is
// instantiated a hundred times and more, so that what it does on the CPU is done elsewhere, once.
struct FormSm90 {
  const char* type_p;  // "bf16", "e4m3"
  const char* type_q;
  int major_p, major_q;  // 0: k runs fastest in memory; 1: rows (columns) do
  int tile_m, tile_n, tile_k;
  int depth;     // boxes of an operand along k: GemmTileSm90::kDepth
  int loaded_n;  // columns of Q that a step brings: GemmTileSm90::kLoadedN
  int stages;
  int cluster_m, cluster_n;  // CTAs
  int share_p, share_q;      // rows that a CTA of a cluster loads at once
  int share_k_p, share_k_q;  // and along k, of a box
  bool swapped;              // computes the transpose of D
  bool pingpong;             // GemmTileSm90::kPingpong
  // Does little to sums, and can do nothing else to them: of 16-bit types it rounds them as they
  // are (GemmProblem::plain()), of 8-bit types it applies factors first (scaled()).
  bool plain;
  bool adds_wide_c = false;  // not plain: its ring holds a C of f32
  int threads;
  int shared_bytes;
  int store_columns;
  TemplatedKernel instance;
  TemplatedKernel reduce_instance;  // none: without a name

  int cluster_size() const { return cluster_m * cluster_n; }
  // Elements of the boxes that TMA moves: along k (or the row), along the row (or k).
  int box_p(int dimension) const { return box(major_p, share_p, share_k_p, dimension); }
  int box_q(int dimension) const { return box(major_q, share_q, share_k_q, dimension); }

 private:
  static int box(int major, int share, int share_k, int dimension) {
    if (major == 1) return dimension == 0 ? 64 : share_k;
    return dimension == 0 ? share_k : share;
  }
};

// What a launch needs to know beside it.
struct GemmVariantSm90 : FormSm90 {
  // "128x256_c2x1_s4", "swapped_64x16x128_c1x1_s10": tile, with its depth along k where a stage has
  // two boxes of it, cluster, stages
  std::string name;
  std::string kernel_name;  // as the source spells it
  std::string linker_name;  // part of what the linker and PTX call it
  const void* kernel = nullptr;
  ReduceKernelSm90 reduce = {};
};

std::vector<GemmVariantSm90> describe_forms_sm90(std::span<const FormSm90> forms);

// Forms of bf16, and the same for f16: their kernels have a main loop for each, and a launch says
// which (GemmArgumentsSm90::half_operands).
std::vector<GemmVariantSm90> describe_b16_forms_sm90(std::span<const FormSm90> forms);

// A file for each, so that they compile beside each other.
std::vector<GemmVariantSm90> gemm_variants_b16_sm90();                // nt
std::vector<GemmVariantSm90> gemm_variants_b16_plain_sm90();          // nt
std::vector<GemmVariantSm90> gemm_variants_b16_layouts_sm90();        // nn, tn, tt
std::vector<GemmVariantSm90> gemm_variants_b16_plain_layouts_sm90();  // nn, tn, tt
std::vector<GemmVariantSm90> gemm_variants_fp8_sm90();                // nt
std::vector<GemmVariantSm90> gemm_variants_fp8_plain_sm90();          // nt

// All of them.
std::span<const GemmVariantSm90> gemm_variants_sm90();

}  // namespace assay::kernels
