// SPDX-License-Identifier: Apache-2.0
// The forms of the plain kernel as its template knows them: numbers and addresses alone. Each list
// is compiled in a file of its own, and variant.cpp describes them all.
#pragma once
#include <vector>

#include "kernels/frame/templated_kernel.hpp"

namespace assay::kernels {

struct FormMmaSync {
  int type_a, type_b;    // kMmaBf16 and so on
  int along_a, along_b;  // whether rows in memory go along k
  int tile, depth, stages;
  int mma;
  int threads;
  int shared_bytes;
  TemplatedKernel kernel, sum;
};

void add_mma_sync_bf16(std::vector<FormMmaSync>& forms);
void add_mma_sync_f16(std::vector<FormMmaSync>& forms);
void add_mma_sync_fp8(std::vector<FormMmaSync>& forms);

}  // namespace assay::kernels
