// SPDX-License-Identifier: Apache-2.0
// How a skinny product is laid out over the CTAs, warps and shared memory of a GPU.
#pragma once
#include "kernels/skinny/product/launch.hpp"

namespace assay::kernels {

// What there is to lay it out on.
struct SkinnyRoom {
  int ctas;          // that run at once, one on each SM
  int shared_bytes;  // of one
  int cluster = 0;   // CTAs that share k; 0: chosen here
  int most_cluster = 1;
  int k_groups = 0;  // of warps; 0: chosen here
};

struct SkinnyLayout {
  SkinnyArguments arguments = {};  // but for the pointers
  int tokens = 1;                  // that the kernel is made for
  int grid = 0, threads = 0, shared_bytes = 0;
};

// How many tokens the kernel for m is made for: 1, 4, 8, 16, 32 or 64.
int skinny_tokens(int m);

SkinnyLayout arrange(SkinnyWeights weights, int m, int n, int k, const SkinnyRoom& room);

}  // namespace assay::kernels
