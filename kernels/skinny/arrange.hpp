// SPDX-License-Identifier: Apache-2.0
// How a skinny product is laid out over the CTAs, warps and shared memory of a GPU.
#pragma once
#include "kernels/skinny/launch.hpp"

namespace assay::kernels {

// What there is to lay it out on.
struct SkinnyRoom {
  int ctas;          // that run at once, one on each SM
  int shared_bytes;  // of one
  bool hopper;       // by the kernel for it
  int cluster = 0;   // CTAs that share k; 0: chosen here
  int most_cluster = 1;
  int k_groups = 0;  // of warps; 0: chosen here
};

struct SkinnyLayout {
  SkinnyArguments arguments = {};  // but for the pointers
  int token_tiles = 1;             // of 8: the kernel's
  int grid = 0, threads = 0, shared_bytes = 0;
};

// 1, 2, 4 or 8 times 8 tokens.
int skinny_token_tiles(int m);

SkinnyLayout arrange(SkinnyWeights weights, int m, int n, int k, const SkinnyRoom& room);

}  // namespace assay::kernels
