// SPDX-License-Identifier: Apache-2.0
// Operands of a grouped product in the host model, and what its result must be.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/grouped/grouped.hpp"

namespace assay::kernels {

struct GroupedModelCase {
  GroupedProblem problem;
  std::vector<int> sizes;    // what the kernel is given
  std::string name() const;  // "bf16_contiguous/g4rows200n264k136"
};

const std::vector<GroupedModelCase>& grouped_model_cases();

class GroupedModelOperands {
 public:
  GroupedModelOperands(model::Gpu& gpu, const GroupedModelCase& c, std::uint64_t seed);

  // As the host would give them.
  GroupedOperands operands() const;

  // Reads D: its hash, and what is wrong with it, also where nothing was to be written.
  void compare(model::Gpu& gpu, ModelResult& result) const;

 private:
  int group_of(int row) const;  // -1: nobody's
  int owner_of_row(int row) const;
  std::string compare_element(int row, int column, int group, double found) const;

  GroupedModelCase case_;
  bool scaled_;
  int rows_;    // of A, all groups together
  int rows_d_;  // of D
  std::vector<double> host_a_, host_b_;
  std::vector<float> host_scale_a_, host_scale_b_;
  model::Address a_, b_, sizes_, scale_a_, scale_b_, d_;
};

}  // namespace assay::kernels
