// SPDX-License-Identifier: Apache-2.0
// mma.sync: the warp-level matrix multiply-accumulate of every target, and the only one of sm_89
// and sm_120.
//
// A and B are the same in all chains of a warp, the accumulators are not, so no two instructions
// compute the same thing.
#include "probes/tensor_core/mma_sync.hpp"

namespace {

using namespace assay;

const Registration registration{[] {
  std::vector<InstructionRow> rows;
  mma_sync::add_dense(rows);
  mma_sync::add_sparse(rows);
  mma_sync::add_scaled(rows);
  return instruction_probe(
      {.name = "tensor_core/mma_sync",
       .question = "What does warp-level mma.sync deliver per data type, and after how many cycles "
                   "is its result there?",
       .run = {}},
      rows);
}()};

}  // namespace
