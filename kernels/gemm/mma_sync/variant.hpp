// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the plain kernel, as far as a launch needs to know them.
#pragma once
#include <string>

namespace assay::kernels {

struct GemmVariantMmaSync {
  std::string name;         // "128x128x32_s3": tile, stages
  std::string kernel_name;  // as the source spells it
  std::string kernel_part;  // what only its mangled name holds
  int tile;
  int depth;  // elements along k of a stage
  int mma;    // mma.sync of a stage, of one warp
  int threads;
  int shared_bytes;
  const void* kernel;
  std::string sum_name, sum_part;  // likewise of the kernel that adds the parts of a sum
  const void* sum_kernel;
};

// By types and layout of a GemmProblem; `small`: the small tile. One that is not there is a defect
// of the caller's, which asks for what is there alone.
const GemmVariantMmaSync& gemm_mma_sync_variant(const std::string& type_a,
                                                const std::string& type_b,
                                                const std::string& layout, bool small);

}  // namespace assay::kernels
