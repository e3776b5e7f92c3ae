// SPDX-License-Identifier: Apache-2.0
// A grouped product as a loop of cuBLASLt over the groups. The host must know their sizes for that,
// which ours need not.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "kernels/baselines/cublaslt.hpp"
#include "kernels/grouped/grouped.hpp"

namespace assay::kernels {

class CublasLtLoop : public Baseline {
 public:
  // rows: of each group; gradients of a group without any are not written. Of every group
  // cuBLASLt's first choice is taken. Scales of A are laid out anew for each group before anything
  // is timed, for cuBLASLt knows no stride of theirs.
  CublasLtLoop(const GroupedProblem& problem, const std::vector<int>& rows,
               const std::vector<GroupedOperands>& sets, cudaStream_t stream);

  std::string name() const override { return "cublaslt_loop"; }
  int asked() const override { return 1; }
  int candidates() const override { return 1; }
  void run(int, int set, cudaStream_t stream) const override {
    for (const auto& group : groups_) group->run(0, set, stream);
  }

 private:
  std::vector<std::unique_ptr<CublasLtGemm>> groups_;
  std::vector<Buffer> scales_;
};

}  // namespace assay::kernels
