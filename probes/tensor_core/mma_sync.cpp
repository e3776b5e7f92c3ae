// SPDX-License-Identifier: Apache-2.0
// mma.sync: the warp-level matrix multiply-accumulate of every target.
//
// A and B are the same in all chains of a warp, the accumulators are not, so no two instructions
// compute the same thing.
#include "probes/tensor_core/mma_sync.hpp"

#include "harness/instruction_registry.hpp"

namespace {

using namespace assay;

const mma_sync::Table& table() {
  static const mma_sync::Table all = [] {
    mma_sync::Table t;
    mma_sync::add_dense(t);
    mma_sync::add_sparse(t);
    mma_sync::add_scaled(t);
    return t;
  }();
  return all;
}

const Registration registration{instruction_probe(
    {.name = "tensor_core/mma_sync",
     .question = "What does warp-level mma.sync deliver per data type, and after how many cycles "
                 "is its result there?",
     .run = {}},
    table().timed)};

const InstructionForms listed{"tensor_core/mma_sync", table().listed};

}  // namespace
